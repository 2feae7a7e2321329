package anthropic_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/testing/modelread"
	"github.com/spoolhq/spool/model/anthropic"
)

// streams are answers with every kind of block and of end. The first ones end well.
var streams = []string{
	sse(began, `{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
		delta0+`{"type":"thinking_delta","thinking":"Hm."}}`, delta0+`{"type":"signature_delta","signature":"EqoB+/8="}}`,
		stop0,
		`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}`, `{"type":"ping"}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"It is \n \ud83c\udf1e."}}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_1","name":"coin","input":{}}}`, `{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":""}}`,
		`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"n\": 1"}}`,
		`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"}"}}`,
		`{"type":"content_block_stop","index":2}`,
		`{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":20}}`,
		stopped),
	sse(began, text0, delta0+`{"type":"citations_delta","citation":{"type":"char_location","cited_text":"a"}}}`,
		delta0+`{"type":"text_delta","text":"So"}}`, stop0,
		`{"type":"content_block_start","index":1,"content_block":{"type":"compaction","content":null}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"compaction_delta","content":"They met."}}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"content_block_start","index":2,"content_block":{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}}`, `{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{}"}}`, `{"type":"content_block_stop","index":2}`,
		`{"type":"message_delta","delta":{"stop_reason":"compaction"},"usage":{"iterations":[{"type":"compaction","input_tokens":5},{"type":"message","input_tokens":3}]}}`, stopped),
	sse(began, text0, delta0+`{"type":"text_delta","text":"Hi \ud83d"}}`, delta0+`{"type":"text_delta","text":"\ude00."}}`,
		stop0, ended, stopped),
	sse(began, text0, began, text0, delta0+`{"type":"text_delta","text":"Hi"}}`, began, ended, stopped),
	sse(`{"type":"message_start","message":"m"}`,
		`{"type":"content_block_start","content_block":{"type":"tool_use","name":"coin","input":[1]}}`,
		`{"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":{"n":1}}}`, ended, "[DONE]"),
	sse(text0, delta0+`{"type":"text_delta","text":"Hi"}}`,
		`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`),
	`{"type":"message","content":[{"type":"text","text":"Hi"},{"type":"tool_use","id":"c1","name":"coin","input":{"n":1}}],"stop_reason":"odd"}`,
}

// secondReader returns what a stream says, if it follows the interface.
func secondReader(body string) (said modelread.Said, ok bool) {
	events, ok := modelread.Events(body, "type", "index", "message", "content_block", "delta", "error", "text", "thinking",
		"partial_json", "name", "input", "stop_reason")
	type block struct{ kind, name, args string }
	open := make(map[int]*block)
	end := func(index int) {
		if b := open[index]; b != nil && b.kind == "tool_use" {
			said.Calls = append(said.Calls, modelread.Call(b.name, b.args))
		}
		delete(open, index)
	}
	starts := 0
	for _, event := range events {
		switch modelread.Text(event, "type", &ok) {
		case "message_start":
			starts++
			ok = ok && starts == 1
		case "content_block_start":
			index, started := modelread.Number(event, "index", &ok), modelread.Object(event, "content_block", &ok)
			b := &block{kind: modelread.Text(started, "type", &ok)}
			ok = ok && open[index] == nil
			open[index] = b
			switch b.kind {
			case "text":
				said.Text += modelread.Text(started, "text", &ok)
			case "tool_use":
				b.name = modelread.Text(started, "name", &ok)
				ok = ok && len(modelread.Object(started, "input", &ok)) == 0 && !strings.ContainsAny(b.name, ".:<\" =")
			}
		case "content_block_delta":
			delta, b := modelread.Object(event, "delta", &ok), open[modelread.Number(event, "index", &ok)]
			switch kind := modelread.Text(delta, "type", &ok); {
			case b == nil:
				ok = false
			case kind == "text_delta":
				said.Text += modelread.Text(delta, "text", &ok)
			case kind == "input_json_delta":
				b.args += modelread.Text(delta, "partial_json", &ok)
			}
		case "content_block_stop":
			end(modelread.Number(event, "index", &ok))
		case "message_stop":
			for _, index := range slices.Sorted(maps.Keys(open)) {
				end(index)
			}
			return said, ok
		}
	}
	for _, index := range slices.Sorted(maps.Keys(open)) {
		end(index)
	}
	return said, ok
}

// checkStream reads an answer, checks that its events keep the contract, and that nothing is lost. It reports whether
// the second reader has read the answer, too.
func checkStream(t *testing.T, body string, output bool) bool {
	t.Helper()

	m, err := anthropic.New(anthropic.Config{
		Model: modelName, BaseURL: "http://anthropic.test", Output: anthropic.OutputTool,
		Transport: modelread.Body{Text: body},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := asks("Hi?")
	r.Tools = []spool.ToolSpec{{Name: "coin"}}
	if output {
		r.Output = &spool.OutputSchema{Name: "report", Schema: []byte(`{"type":"object"}`)}
	}
	got := modelread.Answer(t, m, r)
	want, ok := secondReader(body)
	if !ok || !got.Finished || output {
		return false
	}
	want.Finished = true
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%q (-want +got):\n%s", body, diff)
	}
	return true
}

// Each streams stream that ends well is compared. A stream that ends anywhere, or lacks a byte anywhere, is an answer
// or an error.
func TestRecorded(t *testing.T) {
	t.Parallel()

	for i, stream := range streams {
		if compared := checkStream(t, stream, false); compared != (i < 2) {
			t.Errorf("the stream %d is compared: %t", i, compared)
		}
		for at := 0; at < len(stream); at += 7 { // a prime, so that all places of the different streams are tried
			_ = checkStream(t, stream[:at], at%2 == 0)
			_ = checkStream(t, stream[:at]+stream[at+1:], at%2 == 0)
		}
	}
}

func FuzzStream(f *testing.F) {
	for i, stream := range streams {
		f.Add(stream, i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, body string, output bool) {
		_ = checkStream(t, body, output)
	})
}
