package openai_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/testing/modelread"
	"github.com/spoolhq/spool/model/openai"
)

// streamOf returns the body of a stream with chunks.
func streamOf(chunks ...string) string { return "data: " + strings.Join(chunks, "\n\ndata: ") + "\n\n" }

// recorded are answers in the dialects of servers. The first ones follow the interface and end well.
var recorded = []string{
	streamOf(`{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`,
		textChunk(`It is \n `), textChunk(`\ud83c\udf1e.`),
		deltaChunk(`{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"echo","arguments":""}}]}`),
		deltaChunk(`{"tool_calls":[{"index":1,"id":"call_2","type":"function","function":{"name":"coin","arguments":"{}"}},{"index":0,"function":{"arguments":"{\"n\":"}}]}`),
		deltaChunk(`{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}`),
		finishChunk("tool_calls"), `{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}`, "[DONE]"),
	streamOf(deltaChunk(`{"reasoning_content":"Hm."}`), deltaChunk(`{"refusal":"No."}`), finishChunk("stop"), "[DONE]"),
	streamOf(textChunk(`Hi \ud83d`), textChunk(`\ude00.`), "[DONE]"),
	streamOf(textChunk(` <th`), textChunk(`ink>Hm.</think>\n\nHi.`), finishChunk("eos_token")),
	streamOf(
		deltaChunk(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm."}]},{"type":"text","text":"Hi."}]}`),
		finishChunk("model_length"), "[DONE]",
	),
	streamOf(`{"choices":[{"index":0,"delta":{"content":"H"},"message":{"content":"H"}}]}`,
		`{"choices":[{"index":1,"delta":{"content":"i"},"message":{"content":"i"}}],"usage":{"prompt_tokens":"3","completion_tokens":4.0}}`, finishChunk("stop")),
	streamOf(
		deltaChunk(`{"tool_calls":[{"function":{"name":"functions.echo","arguments":{"n":1}}},{"function":{"name":"echo<|channel|>json","arguments":"{}"}}]}`),
		finishChunk("tool_call"), "[DONE]",
	),
	streamOf(
		deltaChunk(`{"reasoning":[{"text":"Hm."}],"reasoning_details":[{"type":"reasoning.text","text":"Hm.","signature":"s"}]}`),
		finishChunk("error"), `{"error":{"message":"down","code":503}}`,
	),
	`{"choices":[{"index":0,"message":{"content":"Hi.","tool_calls":[{"id":"a","function":{"name":"echo","arguments":"{}"}}]},"finish_reason":"odd"}],"usage":{"cost":0.1}}`,
}

// secondReader returns what a stream says, if it follows the interface.
func secondReader(body string) (said modelread.Said, ok bool) {
	events, ok := modelread.Events(body, "choices", "index", "delta", "message", "finish_reason", "content", "refusal",
		"tool_calls", "id", "function", "name", "arguments", "error", "object", "type", "code")
	type call struct{ id, name, args string }
	var calls []*call
	byIndex := make(map[int]*call)
	ids := make(map[string]bool)
	fragment := func(wire map[string]any) {
		function := modelread.Object(wire, "function", &ok)
		index := modelread.Number(wire, "index", &ok)
		c := byIndex[index]
		if c == nil {
			c = &call{id: modelread.Text(wire, "id", &ok), name: modelread.Text(function, "name", &ok)}
			ok = ok && c.id != "" && !ids[c.id] && c.name != "" && !strings.ContainsAny(c.name, ".:<\" =")
			ids[c.id] = true
			byIndex[index], calls = c, append(calls, c)
		} else {
			ok = ok && wire["id"] == nil && function["name"] == nil
		}
		c.args += modelread.Text(function, "arguments", &ok)
	}
	for _, event := range events {
		choices, _ := event["choices"].([]any)
		ok = ok && len(choices) < 2
		for _, each := range choices {
			choice, _ := each.(map[string]any)
			delta := modelread.Object(choice, "delta", &ok)
			ok = ok && (choice["index"] == nil || choice["index"] == 0.0) && choice["message"] == nil
			for _, name := range []string{"content", "refusal"} {
				if delta[name] != nil {
					said.Text += modelread.Text(delta, name, &ok)
				}
			}
			list, isList := delta["tool_calls"].([]any)
			ok = ok && (isList || delta["tool_calls"] == nil)
			for _, each := range list {
				wire, is := each.(map[string]any)
				ok = ok && is
				fragment(wire)
			}
		}
	}
	for _, c := range calls {
		said.Calls = append(said.Calls, modelread.Call(c.name, c.args))
	}
	return said, ok && !strings.HasPrefix(strings.TrimLeft(said.Text, " \t\r\n"), "<")
}

// checkStream reads an answer, checks that its events keep the contract, and that nothing is lost. It reports whether
// the second reader has read the answer, too.
func checkStream(t *testing.T, body string, structured bool) bool {
	t.Helper()

	m, err := openai.New(openai.Config{
		Model: "m", BaseURL: "http://openai.test/v1", Structured: openai.StructuredTool,
		Transport: modelread.Body{Text: body},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := spool.ModelRequest{Messages: []spool.Message{userSays("Hi?")}, Tools: echoTool}
	if structured {
		r.Output = &spool.OutputSchema{Name: "coin", Schema: []byte(`{"type":"object"}`)}
	}
	got := modelread.Answer(t, m, r)
	want, ok := secondReader(body)
	if !ok || !got.Finished || structured {
		return false
	}
	want.Finished = true
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%q (-want +got):\n%s", body, diff)
	}
	return true
}

// Each recorded stream that follows the interface is compared. A stream that ends anywhere, or lacks a byte anywhere,
// is an answer or an error.
func TestRecorded(t *testing.T) {
	t.Parallel()

	for i, stream := range recorded {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()

			if compared := checkStream(t, stream, false); compared != (i < 2) {
				t.Errorf("compared: %t", compared)
			}
			for at := 0; at < len(stream); at += 7 { // a prime, so that all places of the different streams are tried
				_ = checkStream(t, stream[:at], at%2 == 0)
				_ = checkStream(t, stream[:at]+stream[at+1:], at%2 == 0)
			}
		})
	}
}

func FuzzStream(f *testing.F) {
	for i, stream := range recorded {
		f.Add(stream, i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, body string, structured bool) {
		_ = checkStream(t, body, structured)
	})
}
