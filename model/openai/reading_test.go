package openai_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/model/openai"
)

// heard is what a model makes of an answer, as one line.
func heard(events []spool.ModelEvent) string {
	var b strings.Builder
	for _, event := range events {
		switch e := event.(type) {
		case spool.TextDelta:
			b.WriteString(e.Text)
		case spool.ReasoningDelta:
			b.WriteString("(" + e.Text + ")")
		case spool.ToolCallEnd:
			b.WriteString(" " + e.Name + " " + e.Args)
		case spool.Finish:
			b.WriteString(" " + string(e.Reason))
		default:
		}
	}
	return strings.ReplaceAll(b.String(), ")(", "")
}

const (
	callChunk  = `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}]}}]}`
	wholeReply = `{"choices":[{"index":0,"message":{"content":"Hi."},"finish_reason":"stop"}]}`
)

func TestReading(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		chunks []string
		want   string
	}{
		"[DONE] without a finish word":      {[]string{textChunk("Hi."), "[DONE]"}, "Hi. stop"},
		"a call and [DONE]":                 {[]string{callChunk, "[DONE]"}, " x {} tool-calls"},
		"a call and an unknown word":        {[]string{callChunk, finishChunk("odd")}, " x {} tool-calls"},
		"a call and the end of the window":  {[]string{callChunk, finishChunk("MAX_TOKENS")}, " x {} length"},
		"a call and another word for calls": {[]string{callChunk, finishChunk("tool_use")}, " x {} tool-calls"},
		"a word in a number": {
			[]string{textChunk("Hi."), `{"choices":[{"delta":{},"finish_reason":7}]}`, "[DONE]"}, "Hi. stop",
		},
		"an index that grows": {
			[]string{
				`{"choices":[{"index":0,"delta":{"content":"H"}}]}`, `{"choices":[{"index":1,"delta":{"content":"i."}}]}`,
				`{"choices":[{"index":2,"delta":{},"finish_reason":"stop"}]}`,
			},
			"Hi. stop",
		},
		"a second choice": {
			[]string{
				`{"choices":[{"index":0,"delta":{"content":"Hi."}},{"index":1,"delta":{"content":"Bye."}}]}`, finishChunk("stop"),
			},
			"Hi. stop",
		},
		"a message beside the delta": {
			[]string{
				`{"choices":[{"delta":{"content":"Hi."},"message":{"content":"Hi."}}]}`,
				`{"choices":[{"delta":{},"message":{"content":"Hi."},"finish_reason":"stop"}]}`,
			},
			"Hi. stop",
		},
		"a message beside an empty delta": {
			[]string{`{"choices":[{"delta":{"content":""},"message":{"content":"Hi."},"finish_reason":"stop"}]}`}, "Hi. stop",
		},
		"a message alone": {[]string{wholeReply}, "Hi. stop"},
		"thinking in the content": {
			[]string{
				deltaChunk(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"H"}]}]}`),
				deltaChunk(`{"content":[{"type":"thinking","thinking":"m."},{"type":"text","text":"Hi."}]}`), finishChunk("stop"),
			},
			"(Hm.)Hi. stop",
		},
		"reasoning in the content": {
			[]string{
				deltaChunk(`{"content":[{"type":"reasoning","summary":[{"type":"summary_text","text":"Hm."}]},{"type":"text","text":"Hi."},{"type":"other","text":"no"}]}`),
				finishChunk("stop"),
			},
			"(Hm.)Hi. stop",
		},
		"an error that is none": {
			[]string{
				`{"error":{},"choices":[{"delta":{"content":"H"}}]}`, `{"error":"","choices":[{"delta":{"content":"i."}}]}`,
				`{"error":false,"choices":[{"delta":{},"finish_reason":"stop"}]}`,
			},
			"Hi. stop",
		},
		"content as a list of texts": {
			[]string{deltaChunk(`{"content":["H",{"type":"text","text":"i."}]}`), finishChunk("stop")}, "Hi. stop",
		},
		"reasoning as a list": {
			[]string{deltaChunk(`{"reasoning":[{"type":"text","text":"H"},"m."]}`), textChunk("Hi."), finishChunk("stop")},
			"(Hm.)Hi. stop",
		},
		"reasoning as an object": {
			[]string{deltaChunk(`{"reasoning_content":{"content":"Hm."}}`), textChunk("Hi."), finishChunk("stop")},
			"(Hm.)Hi. stop",
		},
		"tags": {
			[]string{textChunk("<think>Hm.</think>Hi."), finishChunk("stop")}, "(Hm.)Hi. stop",
		},
		"tags that were cut": {
			[]string{
				textChunk(` \n<th`), textChunk("ink>H"), textChunk("m.</"), textChunk(`think>\n\n`), textChunk(" Hi."),
				finishChunk("stop"),
			},
			"(Hm.)Hi. stop",
		},
		"tags and a call": {
			[]string{textChunk(`<think>Hm.</think>\n`), callChunk, finishChunk("stop")}, "(Hm.) x {} tool-calls",
		},
		"tags that do not end": {
			[]string{textChunk("<think>Hm.</thi"), finishChunk("length")}, "(Hm.</thi) length",
		},
		"tags in the middle": {
			[]string{textChunk("Use <think>Hm.</think>"), finishChunk("stop")}, "Use <think>Hm.</think> stop",
		},
		"what only begins like a tag": {
			[]string{textChunk(" <thi"), textChunk("s> Hi."), finishChunk("stop")}, " <this> Hi. stop",
		},
		"an answer that is the beginning of one": {[]string{textChunk(" <thi"), finishChunk("stop")}, " <thi stop"},
		"the halves of an emoji": {
			[]string{textChunk(`a\ud83d`), textChunk(`\ude00b`), finishChunk("stop")}, "a😀b stop",
		},
		"half an emoji": {
			[]string{textChunk(`a\ud83d`), textChunk("b"), textChunk(`\ud83d`), finishChunk("stop")}, "a\ufffdb\ufffd stop",
		},
		"the halves of an emoji in reasoning": {
			[]string{
				deltaChunk(`{"reasoning":"\ud83d"}`), deltaChunk(`{"reasoning":"\ude00"}`), textChunk("Hi."), finishChunk("stop"),
			},
			"(😀)Hi. stop",
		},
		"the halves of an emoji in tags": {
			[]string{textChunk(`<think>\ud83d`), textChunk(`\ude00</think>Hi.`), finishChunk("stop")}, "(😀)Hi. stop",
		},
		"the halves of an emoji in arguments": {[]string{
			deltaChunk(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{\"t\":\"\ud83d"}}]}`),
			deltaChunk(`{"tool_calls":[{"index":0,"function":{"arguments":"\ude00\"}"}}]}`), finishChunk("stop"),
		}, ` x {"t":"😀"} tool-calls`},
		"the halves in a list": {
			[]string{
				deltaChunk(`{"content":[{"type":"text","text":"\ud83d"}]}`),
				deltaChunk(`{"content":[{"type":"text","text":"\ude00"}]}`), finishChunk("stop"),
			},
			"😀 stop",
		},
		"wrong types everywhere": {[]string{
			`{"id":[],"created":"now","model":{},"object":7,"system_fingerprint":[1],"usage":"none","message":{"a":1},"code":[],"x_groq":9,` +
				`"choices":[{"index":"0","logprobs":3,"finish_reason":false,"delta":{"role":5,"content":"H","refusal":[],"reasoning":7,"reasoning_details":{},"tool_calls":{}}}]}`,
			`{"choices":[{"index":null,"delta":{"content":"i.","reasoning_content":true,"tool_calls":[{"index":"0","id":5,"type":1,"function":{"name":"x","arguments":{"n":1}}}]}}],"usage":[]}`,
			deltaChunk(`{"content":"","tool_calls":""}`), deltaChunk(`{"content":"","tool_calls":false}`),
			finishChunk("stop"),
		}, `Hi. x {"n":1} tool-calls`},
		"one call without its list": {
			[]string{deltaChunk(`{"tool_calls":{"id":"a","function":{"name":"x","arguments":"{}"}}}`), finishChunk("stop")},
			" x {} tool-calls",
		},
	} {
		events, err := say(t, c.chunks...)
		if got := heard(events); err != nil || got != c.want {
			t.Errorf("%s: got %q, want %q, %v", name, got, c.want, err)
		}
	}
}

// A wrong type where the text and the calls are would lose a part of the answer. The server sends it each time.
func TestWrongShapes(t *testing.T) {
	t.Parallel()

	for _, chunk := range []string{
		`{"choices":42}`, `{"choices":[7]}`, `{"choices":[{"delta":"Hi."}]}`, `{"choices":[{"delta":{"tool_calls":"x"}}]}`,
		`{"choices":[{"delta":{"tool_calls":[7]}}]}`, `{"choices":[{"delta":{"tool_calls":[{"function":"x"}]}}]}`, `[]`,
		`"Hi."`,
	} {
		_, err := say(t, textChunk("Half"), chunk, finishChunk("stop"), "[DONE]")
		if got := modelError(t, err); !got.Permanent() || !strings.Contains(got.Message, "malformed chunk") {
			t.Errorf("%s: got %+v", chunk, *got)
		}
	}
}

func TestBrokenOff(t *testing.T) {
	t.Parallel()

	for _, word := range []string{"insufficient_system_resource", "network_error", "error", "abort"} {
		events, err := say(t, textChunk("Half"), callChunk, finishChunk(word), usageChunk(`{"prompt_tokens":1}`), "[DONE]")
		if got := modelError(t, err); got.Permanent() || !strings.Contains(got.Message, word) ||
			len(only[spool.Finish](events)) > 0 {
			t.Errorf("%s: got %+v, %v", word, *got, events)
		}
		if len(only[spool.UsageSeen](events)) != 1 {
			t.Errorf("%s: the usage is lost", word)
		}
	}
}

// The first byte tells what an answer is, and not its Content-Type.
func TestContentTypes(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ kind, body string }{
		"a stream as JSON": {
			"application/json", "data: " + textChunk("Hi.") + "\n\ndata: " + finishChunk("stop") + "\n\n",
		},
		"a comment as JSON": {
			"application/json", "\n: waiting\n\ndata: " + textChunk("Hi.") + "\n\ndata: " + finishChunk("stop") + "\n\n",
		},
		"JSON as a stream":     {"text/event-stream", wholeReply},
		"JSON behind a space":  {"text/event-stream", "\r\n " + wholeReply},
		"JSON without a type":  {"", wholeReply},
		"JSON, no finish word": {"application/json", `{"choices":[{"message":{"content":"Hi."}}]}`},
	} {
		p := newPeer(t, func(w http.ResponseWriter, _ *http.Request, _ string) {
			w.Header()["Content-Type"] = []string{c.kind}
			_, _ = io.WriteString(w, c.body)
		})
		events, err := stream(t, p.model(t, openai.Config{}), spool.ModelRequest{})
		if got := heard(events); err != nil || got != "Hi. stop" {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
	for name, body := range map[string]string{
		"nothing": "", "white space": strings.Repeat(" ", 5000), "other JSON": `{"status":"ok"}`,
	} {
		p := newPeer(t, func(w http.ResponseWriter, _ *http.Request, _ string) { _, _ = io.WriteString(w, body) })
		if _, err := stream(t, p.model(t, openai.Config{}), spool.ModelRequest{}); modelError(t, err).Permanent() {
			t.Errorf("%s: %v is permanent", name, err)
		}
	}
}

// A content with tags means the same wherever it is cut.
func TestTagsAreCutAnywhere(t *testing.T) {
	t.Parallel()

	const content, want = "\n<think>a < b</thin></think>\n\nSo <think>.", "(a < b</thin>)So <think>. stop"
	chunk := func(text string) string { return textChunk(strings.ReplaceAll(text, "\n", `\n`)) }
	for size := 1; size <= len(content); size++ {
		var chunks []string
		for rest := content; rest != ""; {
			n := min(size, len(rest))
			chunks = append(chunks, chunk(rest[:n]))
			rest = rest[n:]
		}
		events, err := say(t, append(chunks, finishChunk("stop"))...)
		if got := heard(events); err != nil || got != want {
			t.Errorf("in pieces of %d: got %q, %v", size, got, err)
		}
	}
}

// A server's template leaves its parts in the names of calls. The tool is meant that is left without them.
func TestTemplateNames(t *testing.T) {
	t.Parallel()

	for name, want := range map[string]string{
		"echo": "echo", "echo<|channel|>commentary": "echo", "functions.echo": "echo", "functions.other": "functions.other",
	} {
		p := newPeer(t, func(w http.ResponseWriter, _ *http.Request, _ string) {
			send(w, deltaChunk(fmt.Sprintf(`{"tool_calls":[{"index":0,"id":"a","function":{"name":%q,"arguments":"{}"}}]}`,
				name)), finishChunk("tool_calls"))
		})
		events, err := stream(t, p.model(t, openai.Config{}), spool.ModelRequest{Tools: echoTool})
		if err != nil {
			t.Fatal(err)
		}
		start, end := only[spool.ToolCallStart](events)[0].Name, only[spool.ToolCallEnd](events)[0].Name
		if start != want || end != want {
			t.Errorf("%s: the call begins as %q and ends as %q", name, start, end)
		}
	}
}
