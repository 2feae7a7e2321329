package responses_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/testing/modelread"
	"github.com/spoolhq/spool/model/responses"
)

// body returns the body of a stream with events.
func body(events ...string) string { return "data: " + strings.Join(events, "\n\ndata: ") + "\n\n" }

// recorded are streams with every kind of item and of end. The first ones end well.
var recorded = []string{
	body(append(items, completed)...),
	body(`{"type":"response.output_item.done","output_index":0,"item":{"id":"m","type":"message","content":[{"type":"output_text","text":"Hi"},{"type":"refusal","refusal":" no"}]}}`,
		`{"type":"response.output_item.done","output_index":1,"item":{"id":"i","type":"image_generation_call","result":"iVBO"}}`,
		`{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[]}}`),
	body(`{"type":"response.output_text.delta","item_id":"m","output_index":0,"delta":"Hi \ud83d"}`,
		`{"type":"response.output_text.delta","item_id":"m","output_index":0,"delta":"\ude00"}`, completed),
	body(`{"type":"response.output_text.delta","item_id":"m","output_index":0,"delta":"Hm."}`,
		`{"type":"response.output_item.done","output_index":0,"item":{"id":"m","type":"message","content":[{"type":"output_text","text":"H€m."}]}}`, completed),
	body(`{"type":"response.output_item.added","item":{"type":"function_call","name":"coin"}}`,
		`{"type":"response.function_call_arguments.delta","delta":{"n":1}}`,
		`{"type":"response.completed","response":{"status":"odd","output":[{"type":"message","content":"Hi"}]}}`),
	body(`{"type":"response.queued","response":{"id":"resp_1","status":"queued"}}`,
		`{"type":"error","error":{"code":"server_error","message":"down"}}`),
	body(`{"type":"response.failed","response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"Please try again in 1.5s."}}}`),
	`{"id":"resp_1","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Hello"}]}]}`,
}

// secondReader returns what a stream says, if it follows the interface.
func secondReader(text string) (said modelread.Said, ok bool) {
	events, ok := modelread.Events(text, "type", "item", "item_id", "output_index", "delta", "id", "name", "arguments",
		"content", "text", "refusal", "response", "status", "output", "error", "summary", "sequence_number")
	type item struct{ kind, name, said, id string }
	byIndex := make(map[int]*item)
	find := func(event map[string]any, id string) *item {
		index := modelread.Number(event, "output_index", &ok)
		it := byIndex[index]
		if it == nil {
			it = &item{id: id}
			for _, other := range byIndex {
				ok = ok && other.id != id
			}
			byIndex[index] = it
		}
		ok = ok && it.id == id && id != ""
		return it
	}
	for _, event := range events {
		switch modelread.Text(event, "type", &ok) {
		case "response.output_item.added":
			wire := modelread.Object(event, "item", &ok)
			it := find(event, modelread.Text(wire, "id", &ok))
			ok = ok && it.kind == "" && it.said == ""
			if it.kind = modelread.Text(wire, "type", &ok); it.kind == "function_call" {
				it.name = modelread.Text(wire, "name", &ok)
			}
		case "response.output_text.delta", "response.refusal.delta":
			it, piece := find(event, modelread.Text(event, "item_id", &ok)), modelread.Text(event, "delta", &ok)
			ok = ok && (it.kind == "" || it.kind == "message")
			it.kind = "message"
			it.said += piece
			said.Text += piece
		case "response.function_call_arguments.delta":
			it := find(event, modelread.Text(event, "item_id", &ok))
			ok = ok && it.kind == "function_call"
			it.said += modelread.Text(event, "delta", &ok)
		case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
			it := find(event, modelread.Text(event, "item_id", &ok))
			ok = ok && (it.kind == "" || it.kind == "reasoning")
			it.kind = "reasoning"
		case "response.output_item.done":
			wire := modelread.Object(event, "item", &ok)
			it, kind := find(event, modelread.Text(wire, "id", &ok)), modelread.Text(wire, "type", &ok)
			ok = ok && (it.kind == "" || it.kind == kind)
			var whole string
			switch kind {
			case "message":
				content, is := wire["content"].([]any)
				ok = ok && is
				var texts []string
				for _, each := range content {
					piece, is := each.(map[string]any)
					ok = ok && is
					for _, name := range []string{"text", "refusal"} {
						if piece[name] != nil {
							texts = append(texts, modelread.Text(piece, name, &ok))
						}
					}
				}
				whole = strings.Join(texts, "")
				rest, is := strings.CutPrefix(whole, it.said)
				ok = ok && is
				said.Text += rest
			case "function_call":
				whole = modelread.Text(wire, "arguments", &ok)
				name := modelread.Text(wire, "name", &ok)
				ok = ok && strings.HasPrefix(whole, it.said) && name != "" && (it.name == "" || it.name == name) &&
					!strings.ContainsAny(name, ".:<\" =")
				said.Calls = append(said.Calls, modelread.Call(name, whole))
			}
			it.kind = "done"
		case "response.completed", "response.incomplete":
			response := modelread.Object(event, "response", &ok)
			output, is := response["output"].([]any)
			for _, it := range byIndex {
				ok = ok && (it.kind != "function_call")
			}
			return said, ok && is && len(output) == 0
		}
	}
	return said, false
}

// checkStream reads an answer, checks that its events keep the contract, and that nothing is lost. It reports whether
// the second reader has read the answer, too.
func checkStream(t *testing.T, text string) bool {
	t.Helper()

	m, err := responses.New(responses.Config{
		Model: "test-model", BaseURL: "http://responses.test", Transport: modelread.Body{Text: text},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := hello()
	r.Tools = []spool.ToolSpec{{Name: "coin"}}
	var got modelread.Said
	synctest.Test(t, func(t *testing.T) { got = modelread.Answer(t, m, r) }) // a queued response is waited for
	want, ok := secondReader(text)
	if !ok || !got.Finished {
		return false
	}
	want.Finished = true
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%q (-want +got):\n%s", text, diff)
	}
	return true
}

// Each recorded stream that ends well is compared. A stream that ends anywhere, or lacks a byte anywhere, is an answer
// or an error.
func TestRecorded(t *testing.T) {
	t.Parallel()

	for i, stream := range recorded {
		if compared := checkStream(t, stream); compared != (i < 2) {
			t.Errorf("the stream %d is compared: %t", i, compared)
		}
		for at := 0; at < len(stream); at += 7 { // a prime, so that all places of the different streams are tried
			_ = checkStream(t, stream[:at])
			_ = checkStream(t, stream[:at]+stream[at+1:])
		}
	}
}

func FuzzStream(f *testing.F) {
	for _, stream := range recorded {
		f.Add(stream)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_ = checkStream(t, text)
	})
}
