package responses_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/model/responses"
)

// items are the events of an answer with a reasoning, two texts and two calls. The second of each is as the first, so
// that only an id or an index tells them apart.
var items = []string{
	`{"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}`,
	`{"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":0,"delta":"Hm."}`,
	`{"type":"response.output_item.done","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"Hm."}]}}`,
	`{"type":"response.output_item.added","output_index":1,"item":{"id":"msg_1","type":"message","content":[]}}`,
	`{"type":"response.output_text.delta","item_id":"msg_1","output_index":1,"content_index":0,"delta":"Look"}`,
	`{"type":"response.output_text.annotation.added","item_id":"msg_1","output_index":1,"annotation_index":0,"annotation":{"type":"url_citation","url":"https://example.com/","title":"x","start_index":0,"end_index":4}}`,
	`{"type":"response.output_item.done","output_index":1,"item":{"id":"msg_1","type":"message","content":[{"type":"output_text","text":"Looking.","annotations":[{"type":"url_citation","url":"https://example.com/","title":"x"}]}]}}`,
	`{"type":"response.output_item.added","output_index":2,"item":{"id":"msg_2","type":"message","content":[]}}`,
	`{"type":"response.output_text.delta","item_id":"msg_2","output_index":2,"content_index":0,"delta":"Looking."}`,
	`{"type":"response.output_item.done","output_index":2,"item":{"id":"msg_2","type":"message","content":[{"type":"output_text","text":"Looking."}]}}`,
	`{"type":"response.output_item.added","output_index":3,"item":{"id":"fc_1","type":"function_call","call_id":"c1","name":"coin","arguments":""}}`,
	`{"type":"response.output_item.added","output_index":4,"item":{"id":"fc_2","type":"function_call","call_id":"c2","name":"coin","arguments":""}}`,
	`{"type":"response.function_call_arguments.delta","item_id":"fc_2","output_index":4,"delta":"{\"n\":2}"}`,
	`{"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":3,"delta":"{\"n\":1}"}`,
	`{"type":"response.output_item.done","output_index":4,"item":{"id":"fc_2","type":"function_call","call_id":"c2","name":"coin","arguments":"{\"n\":2}"}}`,
	`{"type":"response.output_item.done","output_index":3,"item":{"id":"fc_1","type":"function_call","call_id":"c1","name":"coin","arguments":"{\"n\":1}"}}`,
}

// change returns an event with other fields.
func change(t *testing.T, event string, f func(event, item map[string]any)) string {
	t.Helper()

	var fields map[string]any
	if err := json.Unmarshal([]byte(event), &fields); err != nil {
		t.Fatal(err)
	}
	item, _ := fields["item"].(map[string]any)
	f(fields, item)
	raw, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// The events of an item belong together, whatever a server does to the indexes or to the ids.
func TestItemsByID(t *testing.T) {
	t.Parallel()

	at, n := 0, 0
	for name, f := range map[string]func(event, item map[string]any){
		"as they are": func(map[string]any, map[string]any) {},
		"no index":    func(e, _ map[string]any) { delete(e, "output_index") },
		"one index":   func(e, _ map[string]any) { e["output_index"] = 0 },
		"odd index":   func(e, _ map[string]any) { e["output_index"] = "first" },
		"other index": func(e, _ map[string]any) { at++; e["output_index"] = at },
		"turned": func(e, _ map[string]any) {
			if index, ok := e["output_index"].(float64); ok {
				e["output_index"] = 4 - index
			}
		},
		"no id": func(e, item map[string]any) {
			delete(e, "item_id")
			delete(item, "id")
		},
		"other id": func(e, item map[string]any) {
			n++
			e["item_id"] = fmt.Sprint("x_", n)
			if item != nil {
				delete(e, "item_id")
				item["id"] = fmt.Sprint("x_", n)
			}
		},
	} {
		var events, whole []string
		for _, e := range items {
			events = append(events, change(t, e, f))
		}
		for _, e := range events {
			var done struct {
				Type string          `json:"type"`
				Item json.RawMessage `json:"item"`
			}
			if json.Unmarshal([]byte(e), &done) == nil && done.Type == "response.output_item.done" {
				whole = append(whole, string(done.Item))
			}
		}
		if name != "no id" && name != "other id" { // the output is in another order than the events, too
			slices.Reverse(whole)
		} else {
			whole[3], whole[4] = whole[4], whole[3]
		}
		events = append(events, `{"type":"response.completed","response":{"status":"completed","output":[`+
			strings.Join(whole, ",")+`]}}`)
		got := mustAsk(t, open(t, newStream(t, events...).Server, responses.Config{}), hello())
		var parts []string
		for _, p := range content(got) {
			parts = append(parts, p.Text+string(p.Args))
		}
		if diff := cmp.Diff([]string{"Hm.", "Looking.", "Looking.", `{"n":2}`, `{"n":1}`}, parts); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// The first byte tells a stream from a whole answer, whatever the type says.
func TestMixedUpTypes(t *testing.T) {
	t.Parallel()

	whole := `{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Hi"}]}]}`
	for kind, body := range map[string]string{
		"application/json":  `data: {"type":"response.completed","response":` + whole + "}\n\n",
		"text/event-stream": whole,
	} {
		server := listen(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, body)
		}))
		if events := mustAsk(t, open(t, server, responses.Config{}), hello()); textOf(events) != "Hi" {
			t.Errorf("%s: %v", kind, events)
		}
	}
}

// A wrong type of a field costs nothing, unless texts or calls are in the field.
func TestOddTypes(t *testing.T) {
	t.Parallel()

	server := newStream(t,
		`{"type":"response.created","sequence_number":"1","response":{"id":7,"model":[],"status":{},"output":{}}}`,
		`{"type":"response.output_item.added","output_index":[],"item":{"id":1,"type":"message","content":"","phase":3}}`,
		`{"type":"response.output_text.delta","item_id":5,"content_index":"x","summary_index":"y","logprobs":"none","delta":"Hi "}`,
		`{"type":"response.output_item.done","item":{"type":"message","content":"Hi there.","summary":"x"}}`,
		`{"type":"response.output_item.done","item":{"type":"function_call","name":"coin","call_id":4,"arguments":{"n":1},"status":[]}}`,
		`{"type":"response.completed","response":{"status":"completed","output":null,"incomplete_details":"x","error":null,"usage":{"input_tokens":"3","output_tokens":4.0,"input_tokens_details":[],"output_tokens_details":{"reasoning_tokens":"2"}}}}`,
	)
	events := mustAsk(t, open(t, server.Server, responses.Config{}), hello())
	calls := only[spool.ToolCallEnd](events)
	if textOf(events) != "Hi there." || len(calls) != 1 || calls[0].Args != `{"n":1}` {
		t.Errorf("got %v", events)
	}
	n := func(v int64) *int64 { return &v }
	if diff := cmp.Diff(spool.Usage{Input: n(3), Output: n(4), Reasoning: n(2)}, finishOf(t, events).Usage); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}

	for name, event := range map[string]string{
		"item":     `{"type":"response.output_item.done","item":"Hi"}`,
		"response": `{"type":"response.completed","response":"Hi"}`,
		"output":   `{"type":"response.completed","response":{"status":"completed","output":"Hi"}}`,
		"in it":    `{"type":"response.completed","response":{"status":"completed","output":["Hi"]}}`,
		"event":    `["Hi"]`,
	} {
		_, err := ask(t.Context(), open(t, newStream(t, event, completed).Server, responses.Config{}), hello())
		if got := modelError(t, err); !got.Permanent() { // the same request brings the same form
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// The halves of a character are joined wherever a server cuts them.
func TestHalves(t *testing.T) {
	t.Parallel()

	server := newStream(t,
		`{"type":"response.reasoning_summary_text.delta","item_id":"r","output_index":0,"delta":"Hm \ud83d"}`,
		`{"type":"response.reasoning_summary_text.delta","item_id":"r","output_index":0,"delta":"\ude00"}`,
		`{"type":"response.output_item.done","output_index":0,"item":{"id":"r","type":"reasoning","summary":[{"text":"Hm \ud83d\ude00."}]}}`,
		`{"type":"response.output_text.delta","item_id":"m","output_index":1,"delta":"Hi \ud83d"}`,
		`{"type":"response.output_text.delta","item_id":"m","output_index":1,"delta":"\ude00"}`,
		`{"type":"response.output_item.done","output_index":1,"item":{"id":"m","type":"message","content":[{"type":"output_text","text":"Hi 😀."}]}}`,
		`{"type":"response.output_item.added","output_index":2,"item":{"id":"f","type":"function_call","call_id":"c1","name":"coin"}}`,
		`{"type":"response.function_call_arguments.delta","item_id":"f","output_index":2,"delta":"{\"a\":\"\ud83d"}`,
		`{"type":"response.function_call_arguments.delta","item_id":"f","output_index":2,"delta":"\ude00\""}`,
		`{"type":"response.output_item.done","output_index":2,"item":{"id":"f","type":"function_call","call_id":"c1","name":"coin","arguments":"{\"a\":\"\ud83d\ude00\"}"}}`,
		completed,
	)
	events := mustAsk(t, open(t, server.Server, responses.Config{}), hello())
	var args strings.Builder
	for _, d := range only[spool.ToolCallDelta](events) {
		args.WriteString(d.Args)
	}
	want := `{"a":"😀"}`
	if got := only[spool.ToolCallEnd](events); len(got) != 1 || got[0].Args != want || args.String() != want {
		t.Errorf("calls %v, streamed %s", got, args.String())
	}
	if reasoningOf(events) != "Hm 😀." || textOf(events) != "Hi 😀." {
		t.Errorf("%q, %q", reasoningOf(events), textOf(events))
	}
}

// An unknown word ends an answer without calls as itself. Whole calls run under it.
func TestEnds(t *testing.T) {
	t.Parallel()

	const (
		message = `{"type":"message","content":[{"type":"output_text","text":"So."}]}`
		call    = `{"type":"function_call","call_id":"a","name":"coin","arguments":"{}","status":"completed"}`
		cut     = `{"type":"function_call","call_id":"a","name":"coin","arguments":"{\"a","status":"incomplete"}`
	)
	incomplete := func(reason string) string {
		return `"status":"incomplete","incomplete_details":{"reason":"` + reason + `"}`
	}
	for _, c := range []struct {
		state, item string
		want        spool.FinishReason
	}{
		{`"status":"completed"`, message, spool.FinishStop},
		{`"status":"completed"`, call, spool.FinishToolCalls},
		{`"status":"in_progress"`, message, spool.FinishStop}, // the event says that it is complete
		{`"x":1`, call, spool.FinishToolCalls},
		{`"status":"odd"`, message, "odd"},
		{`"status":"odd"`, call, spool.FinishToolCalls},
		{`"status":"incomplete"`, message, spool.FinishLength},
		{incomplete("max_output_tokens"), message, spool.FinishLength},
		{incomplete("max_output_tokens"), call, spool.FinishLength},
		{incomplete("max_tokens"), message, spool.FinishLength},
		{incomplete("content_filter"), call, spool.FinishFilter},
		{incomplete("odd"), message, "odd"},
		{incomplete("odd"), call, spool.FinishToolCalls},
		{incomplete("odd"), cut, "odd"},
	} {
		server := newStream(t, `{"type":"response.completed","response":{`+c.state+`,"output":[`+c.item+`]}}`)
		events := mustAsk(t, open(t, server.Server, responses.Config{}), hello())
		if got := finishOf(t, events).Reason; got != c.want {
			t.Errorf("%s with %s: %s, want %s", c.state, c.item, got, c.want)
		}
	}

	// A call without an end was not whole.
	server := newStream(t,
		`{"type":"response.output_item.added","item":{"type":"function_call","call_id":"a","name":"coin"}}`,
		`{"type":"response.function_call_arguments.delta","delta":"{\"a"}`,
		`{"type":"response.incomplete","response":{`+incomplete("odd")+`}}`)
	if got := finishOf(t, mustAsk(t, open(t, server.Server, responses.Config{}), hello())).Reason; got != "odd" {
		t.Errorf("with an open call: %s", got)
	}
}

// A response that waits in a queue is waited for, also if the request did not ask for one in the background.
func TestQueued(t *testing.T) {
	t.Parallel()

	whole := func(status, output string) string {
		return `{"id":"resp_1","model":"m-1","status":"` + status + `","output":[` + output + `]}`
	}
	queued := `data: {"type":"response.queued","sequence_number":0,"response":` + whole("queued", "") + "}\n\n"
	for name, first := range map[string]struct{ kind, body string }{
		"whole":  {"application/json", whole("queued", "")},
		"begun":  {"application/json", whole("in_progress", "")},
		"stream": {"text/event-stream", queued},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var posts, looks atomic.Int64
			server := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.Method == http.MethodPost:
					posts.Add(1)
					w.Header().Set("Content-Type", first.kind)
					_, _ = io.WriteString(w, first.body)
				case r.URL.Query().Has("stream"):
					http.Error(w, "{}", http.StatusBadRequest)
				default:
					w.Header().Set("Content-Type", "application/json")
					body := whole([]string{"queued", "in_progress", "completed"}[looks.Add(1)-1],
						`{"type":"message","content":[{"type":"output_text","text":"Hi"}]}`)
					_, _ = io.WriteString(w, body)
				}
			}))
			events := mustAsk(t, open(t, server, responses.Config{}), hello())
			if end := finishOf(t, events); textOf(events) != "Hi" || end.Reason != spool.FinishStop || posts.Load() != 1 ||
				len(only[spool.ResumePoint](events)) != 1 {
				t.Errorf("%d posts, %v", posts.Load(), events)
			}
		})
	}
}

// Names that the server refuses are changed in the request only, and what a server adds to a name is removed if the
// rest is a tool. An image does not come back as the item that it was: it follows the results.
func TestOddNames(t *testing.T) {
	t.Parallel()

	server := newStream(t,
		`{"type":"response.completed","response":{"status":"completed","output":[{"id":"ig_1","type":"image_generation_call","status":"completed","result":"iVBORw0KGgo="},`+
			`{"type":"function_call","call_id":"a","name":"coin<|channel|>commentary","arguments":"{}"},`+
			`{"type":"function_call","call_id":"b","name":"what.is<|this|>","arguments":"{}","namespace":"x"}]}}`)
	m := open(t, server.Server, responses.Config{})
	r := hello()
	r.Tools = []spool.ToolSpec{{Name: "coin"}}
	answer := content(mustAsk(t, m, r))
	if len(answer) != 3 || answer[0].Image != "data:image/png;base64,iVBORw0KGgo=" || answer[1].ToolName != "coin" ||
		answer[2].ToolName != "what.is<|this|>" {
		t.Fatalf("got %+v", answer)
	}
	mustAsk(t, m, next(r, answer))
	var sent struct {
		Input []struct {
			Type, Name, Namespace string
			Output                any
		} `json:"input"`
	}
	if err := json.Unmarshal([]byte(server.second()), &sent); err != nil {
		t.Fatal(err)
	}
	got := sent.Input
	if len(got) != 6 || got[2].Name != "coin" || got[3].Namespace != "x" || got[3].Name == "" ||
		strings.ContainsAny(got[3].Name, ".<|>") {
		t.Errorf("the request is %s", server.second())
	}
	if output, _ := got[5].Output.([]any); len(output) != 2 || strings.Contains(server.second(), "image_generation_call") {
		t.Errorf("the request is %s", server.second())
	}
}
