package anthropic_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/model/anthropic"
)

// The beginnings and ends of events.
const (
	began   = `{"type":"message_start","message":{"model":"m","usage":{"input_tokens":3}}}`
	ended   = `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`
	stopped = `{"type":"message_stop"}`
	delta0  = `{"type":"content_block_delta","index":0,"delta":`
	stop0   = `{"type":"content_block_stop","index":0}`
	text0   = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	call0   = `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c1","name":"coin","input":{}}}`
)

// sse returns the body of a stream with events.
func sse(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		b.WriteString("data: " + e + "\n\n")
	}
	return b.String()
}

// read returns the events of an answer with a body.
func read(t *testing.T, kind, body string, r spool.ModelRequest) ([]spool.ModelEvent, error) {
	t.Helper()

	web := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, body)
	}))
	return stream(t, newModel(t, web.URL, anthropic.Config{}), r)
}

// The first bytes tell a stream from a whole answer, whatever the type says.
func TestMixedUpTypes(t *testing.T) {
	t.Parallel()

	whole := `{"type":"message","model":"m","content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn"}`
	for name, c := range map[string]struct{ kind, body string }{
		"events as JSON": {
			"application/json", sse(began, text0, delta0+`{"type":"text_delta","text":"Hi"}}`, stop0, ended, stopped),
		},
		"JSON as events":  {"text/event-stream", whole},
		"JSON as nothing": {"", "\n " + whole},
		"text as content": {"application/json", `{"type":"message","content":"Hi","stop_reason":"end_turn"}`},
		"another end":     {"text/event-stream", sse(text0, delta0+`{"type":"text_delta","text":"Hi"}}`, ended, "[DONE]")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			events, err := read(t, c.kind, c.body, asks("Hi?"))
			if err != nil {
				t.Fatal(err)
			}
			if end := finishOf(t, events); texts(events) != "Hi" || end.Reason != spool.FinishStop {
				t.Errorf("%q, %+v", texts(events), end)
			}
		})
	}
}

// A wrong type of a field costs nothing, unless texts or calls are in the field.
func TestOddTypes(t *testing.T) {
	t.Parallel()

	odd := sse(
		`{"type":"message_start","message":{"model":7,"id":[],"content":{},"usage":{"input_tokens":"3","cache_read_input_tokens":4.0,"iterations":"x","output_tokens_details":[]}}}`,
		`{"type":"content_block_start","index":"0","content_block":{"type":"thinking","thinking":null,"signature":5}}`,
		`{"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"Hm.","extra":1},"usage":"none"}`,
		`{"type":"content_block_stop"}`,
		`{"type":"content_block_start","content_block":{"type":"text","text":12,"citations":"none"}}`,
		`{"type":"content_block_delta","index":null,"delta":{"type":"text_delta","text":"a","citation":3}}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"content_block_start","content_block":{"type":"tool_use","id":5,"name":"coin","input":[],"caller":"me"}}`,
		`{"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":{"n":1}}}`,
		`{"type":"content_block_stop"}`,
		`{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":4},"usage":{"output_tokens":"8"}}`,
		stopped,
	)
	events, err := read(t, "text/event-stream", odd, asks("Hi?"))
	if err != nil {
		t.Fatal(err)
	}
	call := only[spool.ToolCallEnd](events)
	if texts(events) != "12a" || len(call) != 1 || call[0].Name != "coin" || call[0].Args != `{"n":1}` ||
		only[spool.ReasoningDelta](events)[0].Text != "Hm." {
		t.Errorf("got %+v", events)
	}
	n := func(v int64) *int64 { return &v }
	if diff := cmp.Diff(spool.Usage{Input: n(7), CacheRead: n(4), Output: n(8)}, finishOf(t, events).Usage); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}

	for name, body := range map[string]string{
		"delta":      sse(text0, delta0+`"Hi"}`, ended, stopped),
		"block":      sse(`{"type":"content_block_start","index":0,"content_block":"Hi"}`, ended, stopped),
		"whole":      `{"content":{"text":"Hi"},"stop_reason":"end_turn"}`,
		"whole part": `{"content":["Hi"],"stop_reason":"end_turn"}`,
		"no object":  sse(`["Hi"]`, ended, stopped),
	} {
		_, err := read(t, "text/event-stream", body, asks("Hi?"))
		if got := modelError(t, err); !got.Permanent() { // the same request brings the same form
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// The halves of a character are joined wherever a server cuts them.
func TestHalves(t *testing.T) {
	t.Parallel()

	body := sse(
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"Hm \ud83d"}}`,
		delta0+`{"type":"thinking_delta","thinking":"\ude00."}}`, stop0,
		text0, delta0+`{"type":"text_delta","text":"Hi \ud83d"}}`, delta0+`{"type":"text_delta","text":"\ude00."}}`, stop0,
		call0, delta0+`{"type":"input_json_delta","partial_json":"{\"a\":\"\ud83d"}}`,
		delta0+`{"type":"input_json_delta","partial_json":"\ude00\"}"}}`, stop0,
		`{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}}`,
		delta0+`{"type":"input_json_delta","partial_json":"{\"q\":\"\ud83d"}}`,
		delta0+`{"type":"input_json_delta","partial_json":"\ude00\"}"}}`, stop0,
		ended, stopped,
	)
	events, err := read(t, "text/event-stream", body, asks("Hi?"))
	if err != nil {
		t.Fatal(err)
	}
	want := spool.Content{
		{Type: spool.PartReasoning, Text: "Hm 😀."},
		{Type: spool.PartText, Text: "Hi 😀."},
		{
			Type: spool.PartToolCall, ToolCallID: "c1", ToolName: "coin", Args: []byte(`{"a":"😀"}`),
			Provider: []byte(`{"anthropic":{"model":"claude-test-4","id":"c1"}}`),
		},
		{
			Type:     spool.PartProvider,
			Provider: []byte(`{"anthropic":{"model":"claude-test-4","block":{"id":"s1","input":{"q":"😀"},"name":"web_search","type":"server_tool_use"}}}`),
		},
	}
	if diff := cmp.Diff(want, fold(events)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var args strings.Builder
	for _, d := range only[spool.ToolCallDelta](events) {
		args.WriteString(d.Args)
	}
	if args.String() != `{"a":"😀"}` {
		t.Errorf("streamed %q", args.String())
	}
}

// A gateway that begins an answer again has lost the first one. What the engine has of it cannot be taken back.
func TestSecondStart(t *testing.T) {
	t.Parallel()

	hi := delta0 + `{"type":"text_delta","text":"Hi"}}`
	events, err := read(t, "text/event-stream", sse(began, text0, call0+"", began, text0, hi, stop0, ended, stopped),
		asks("Hi?"))
	if got := modelError(t, err); got.Permanent() || len(only[spool.Finish](events)) > 0 {
		t.Errorf("after the start of a call: %+v", got)
	}
	if events, err = read(
		t, "text/event-stream", sse(began, text0, hi, began, text0, hi, stop0, ended, stopped), asks("Hi?"),
	); err == nil {
		t.Errorf("after a text: %+v", events)
	}
	if events, err = read(
		t, "text/event-stream", sse(began, text0, began, text0, hi, stop0, ended, stopped), asks("Hi?"),
	); err != nil || texts(events) != "Hi" {
		t.Errorf("after nothing: %q, %v", texts(events), err)
	}
}

// A compaction comes in pieces, goes back as a whole, and is paid for beside the message.
func TestCompaction(t *testing.T) {
	t.Parallel()

	start := func(rest string) string {
		return `{"type":"content_block_start","index":0,"content_block":{"type":"compaction",` + rest + `}}`
	}
	piece := func(rest string) string { return delta0 + `{"type":"compaction_delta",` + rest + `}}` }
	for name, c := range map[string]struct {
		events []string
		want   string
	}{
		"pieces": {
			[]string{
				start(`"content":null,"encrypted_content":null`), piece(`"content":"They met \ud83d"`),
				piece(`"content":"\ude00 in <Oslo>.","encrypted_content":"sealed+/"`),
			},
			`{"type":"compaction","content":"They met 😀 in <Oslo>.","encrypted_content":"sealed+/"}`,
		},
		"one piece": {
			[]string{start(`"content":""`), piece(`"content":"They met."`)}, `{"type":"compaction","content":"They met."}`,
		},
		"whole": {[]string{start(`"content":"They met.","more":1`)}, `{"type":"compaction","content":"They met.","more":1}`},
		"begun": {
			[]string{start(`"content":"They "`), piece(`"content":"met."`)}, `{"type":"compaction","content":"They met."}`,
		},
		"failed": {[]string{start(`"content":null`), piece(`"content":null`)}, `{"type":"compaction","content":null}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			body := sse(began) + sse(c.events...) +
				sse(stop0, text0, delta0+`{"type":"text_delta","text":"Go on."}}`, stop0, ended, stopped)
			r := asks("Hi?")
			events, err := read(t, "text/event-stream", body, r)
			if err != nil {
				t.Fatal(err)
			}
			r.Messages = append(r.Messages, answerOf(events), user("And?"))
			var back struct {
				Messages []struct {
					Content []json.RawMessage `json:"content"`
				} `json:"messages"`
			}
			web := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if err := json.NewDecoder(r.Body).Decode(&back); err != nil {
					t.Error(err)
				}
				_, _ = io.WriteString(w, sse(ended))
			}))
			if _, err := stream(t, newModel(t, web.URL, anthropic.Config{}), r); err != nil {
				t.Fatal(err)
			}
			var got, want any
			if json.Unmarshal(back.Messages[1].Content[0], &got) != nil || json.Unmarshal([]byte(c.want), &want) != nil {
				t.Fatal("no JSON")
			}
			if diff := cmp.Diff(want, got); diff != "" || len(back.Messages[1].Content) != 2 {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The usage has the iterations that the provider's counts leave out, and none twice.
func TestIterations(t *testing.T) {
	t.Parallel()

	n := func(v int64) *int64 { return &v }
	for name, c := range map[string]struct {
		usage string
		want  spool.Usage
	}{
		"compaction": {
			`"input_tokens":20,"cache_read_input_tokens":5,"output_tokens":10,"iterations":[{"type":"compaction","input_tokens":180,"cache_read_input_tokens":7,"output_tokens":35},{"type":"message","input_tokens":20,"cache_read_input_tokens":5,"output_tokens":10}]`,
			spool.Usage{Input: n(212), CacheRead: n(12), Output: n(45)},
		},
		"several messages": {
			`"input_tokens":50,"output_tokens":10,"iterations":[{"type":"message","input_tokens":20,"output_tokens":4},{"type":"message","input_tokens":30,"output_tokens":6}]`,
			spool.Usage{Input: n(50), Output: n(10)},
		},
		"already in the counts": {
			`"input_tokens":200,"output_tokens":45,"iterations":[{"type":"compaction","input_tokens":180,"output_tokens":35},{"type":"message","input_tokens":20,"output_tokens":10}]`,
			spool.Usage{Input: n(200), Output: n(45)},
		},
		"only what is left out": {
			`"input_tokens":20,"output_tokens":10,"iterations":[{"type":"compaction","input_tokens":180,"output_tokens":35}]`,
			spool.Usage{Input: n(200), Output: n(45)},
		},
		"null": {`"input_tokens":20,"output_tokens":10,"iterations":null`, spool.Usage{Input: n(20), Output: n(10)}},
	} {
		body := sse(`{"type":"message_start","message":{"model":"m"}}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{`+c.usage+`}}`, stopped)
		events, err := read(t, "text/event-stream", body, asks("Hi?"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, finishOf(t, events).Usage); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Names that the provider refuses are changed in the request only, and what a server adds to a name is removed if the
// rest is a tool.
func TestOddNames(t *testing.T) {
	t.Parallel()

	r := asks("Hi?")
	r.Tools = []spool.ToolSpec{{Name: "coin"}}
	body := sse(
		`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c1","name":"functions.coin","input":{}}}`, stop0,
		`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c2","name":"what.is<|this|>","input":{}}}`, stop0, ended, stopped,
	)
	events, err := read(t, "text/event-stream", body, r)
	if err != nil {
		t.Fatal(err)
	}
	calls := only[spool.ToolCallEnd](events)
	if len(calls) != 2 || calls[0].Name != "coin" || calls[1].Name != "what.is<|this|>" {
		t.Fatalf("calls %+v", calls)
	}
	answer := answerOf(events)
	r.Messages = append(r.Messages, answer, results(answer))
	got := send(t, anthropic.Config{}, r)
	if names := []string{got.Messages[1].Content[0].Name, got.Messages[1].Content[1].Name}; names[0] != "coin" ||
		strings.ContainsAny(names[1], ".<|>") || names[1] == "" {
		t.Errorf("sent %q", names)
	}
}
