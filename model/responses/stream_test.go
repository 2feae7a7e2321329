package responses_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/model/responses"
)

const completed = `{"type":"response.completed","response":{"id":"resp_1","model":"m-1","status":"completed","output":[]}}`

// streamServer is a server that sends the same events to each request.
type streamServer struct {
	*httptest.Server

	mu     sync.Mutex
	bodies []string
}

func newStream(t *testing.T, events ...string) *streamServer {
	t.Helper()

	s := new(streamServer)
	s.Server = listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		s.mu.Lock()
		s.bodies = append(s.bodies, string(body))
		s.mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		for _, event := range events {
			_, _ = fmt.Fprintf(w, "data: %s\n\n", event)
		}
	}))
	return s
}

func (s *streamServer) second() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bodies[1]
}

// Servers that imitate the interface leave events out.
func TestSparseStreams(t *testing.T) {
	t.Parallel()

	const message = `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hello"}]}`
	const call = `{"type":"function_call","call_id":"a","name":"coin","arguments":"{\"n\":1}"}`
	for name, c := range map[string]struct {
		events []string
		text   string
		calls  string
	}{
		"only the end": {
			[]string{`{"type":"response.completed","response":{"status":"completed","output":[` + message + `,` + call + `]}}`},
			"Hello", `{"n":1}`,
		},
		"only whole items": {
			[]string{`{"type":"response.output_item.done","output_index":0,"item":` + message + `}`, completed}, "Hello", "",
		},
		"no whole items": {
			[]string{
				`{"type":"response.output_text.delta","delta":"Hel"}`, `{"type":"response.output_text.delta","delta":"lo"}`,
				completed,
			},
			"Hello", "",
		},
		"a part was sent": {
			[]string{
				`{"type":"response.output_text.delta","delta":"Hel"}`,
				`{"type":"response.output_item.done","output_index":0,"item":` + message + `}`, completed,
			},
			"Hello", "",
		},
		"a call not closed": {
			[]string{
				`{"type":"response.output_item.added","output_index":2,"item":{"type":"function_call","call_id":"a","name":"coin"}}`,
				`{"type":"response.function_call_arguments.delta","output_index":2,"delta":"{}"}`, completed,
			},
			"", "{}",
		},
		"unknown events": {
			[]string{
				`{"type":"response.output_text.delta","delta":"Hello","logprobs":[{"x":1}]}`,
				`{"type":"response.web_search_call.searching","delta":{"a":1}}`, completed,
			},
			"Hello", "",
		},
	} {
		events := mustAsk(t, open(t, newStream(t, c.events...).Server, responses.Config{}), hello())
		var calls strings.Builder
		for _, end := range only[spool.ToolCallEnd](events) {
			calls.WriteString(end.Args)
		}
		if textOf(events) != c.text || calls.String() != c.calls {
			t.Errorf("%s: %v", name, events)
		}
		want := spool.FinishStop
		if c.calls != "" {
			want = spool.FinishToolCalls
		}
		if got := finishOf(t, events); got.Reason != want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A server that does not stream answers with the response itself.
func TestWholeAnswer(t *testing.T) {
	t.Parallel()

	server := listen(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = io.WriteString(w, `{"id":"resp_1","model":"m-1","status":"completed","usage":{"input_tokens":1},`+
			`"output":[{"type":"message","content":[{"type":"output_text","text":"Hello"}]}]}`)
	}))
	events := mustAsk(t, open(t, server, responses.Config{}), hello())
	if got := finishOf(t, events); textOf(events) != "Hello" || got.ModelID != "m-1" || got.Usage.Input == nil ||
		*got.Usage.Input != 1 {
		t.Errorf("got %v", events)
	}
}

func TestErrorsInTheStream(t *testing.T) {
	t.Parallel()

	failed := func(code, message string) string {
		return `{"type":"response.failed","response":{"status":"failed","error":{"code":"` + code +
			`","message":"` + message + `"}}}`
	}
	for event, want := range map[string]spool.ModelError{
		failed("server_error", "down"): {Status: 500, Type: "server_error", Message: "down"},
		failed("rate_limit_exceeded", "Please try again in 1.5s."): {
			Status: 429, Type: "rate_limit_exceeded", Message: "Please try again in 1.5s.", After: 1500 * time.Millisecond,
		},
		failed("insufficient_quota", "no money"): {
			Status: 429, Type: "insufficient_quota", Message: "no money", NoRetry: true,
		},
		failed("context_length_exceeded", "long"): {
			Status: 400, Type: "context_length_exceeded", Message: "long", ContextOverflow: true,
		},
		failed("invalid_prompt", "no"): {
			Status: 400, Type: "invalid_prompt", Message: "no",
		},
		failed("new_word", "what"): {Type: "new_word", Message: "what"},
		`{"type":"response.failed","response":{"status":"failed"}}`: {
			Type: "failed", Message: "the response was failed",
		},
		`{"type":"error","code":"server_error","message":"down"}`: {
			Status: 500, Type: "server_error", Message: "down",
		},
		`{"type":"error","error":{"type":"x","code":null,"message":"down"}}`: {Type: "x", Message: "down"},
		`{"type":"error","message":"key sk-0123456789"}`:                     {Message: "key [redacted]"},
	} {
		server := newStream(t, `{"type":"response.output_text.delta","delta":"Half"}`, event)
		events, err := ask(t.Context(), open(t, server.Server, responses.Config{APIKey: "sk-0123456789"}), hello())
		if got := modelError(t, err); *got != want || textOf(events) != "Half" {
			t.Errorf("%s: got %+v", event, *got)
		}
	}
}

// TestEndlessItems has answers that grow without end in what is buffered. The model cuts them.
func TestEndlessItems(t *testing.T) {
	t.Parallel()

	piece := strings.Repeat("x", 256<<10)
	for name, event := range map[string]func(n int) string{
		"calls": func(n int) string {
			return fmt.Sprintf(
				`{"type":"response.output_item.added","output_index":%d,"item":{"type":"function_call","name":"x"}}`, n,
			)
		},
		"nothing": func(n int) string {
			return fmt.Sprintf(`{"type":"response.output_text.delta","output_index":%d,"delta":""}`, n)
		},
		"reasoning": func(n int) string {
			return fmt.Sprintf(
				`{"type":"response.output_item.done","output_index":%d,"item":{"type":"reasoning","encrypted_content":"%s"}}`, n,
				piece,
			)
		},
		"others": func(n int) string {
			return fmt.Sprintf(`{"type":"response.output_item.done","output_index":%d,"item":{"type":"x","data":"%s"}}`, n,
				piece)
		},
	} {
		gone := make(chan struct{})
		server := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for n := 0; r.Context().Err() == nil; n++ {
				_, _ = fmt.Fprintf(w, "data: %s\n\n", event(n))
			}
			close(gone)
		}))
		events := mustAsk(t, open(t, server, responses.Config{}), hello())
		if got := finishOf(t, events); got.Reason != spool.FinishLength || len(only[spool.ToolCallEnd](events)) > 0 {
			t.Errorf("%s: %d events, %+v", name, len(events), got)
		}
		<-gone
	}
}

// Nothing of the fake's own kind hides a mistake of the wire: this is what OpenAI sends.
func TestRecordedStream(t *testing.T) {
	t.Parallel()

	server := newStream(t,
		`{"type":"response.created","sequence_number":0,"response":{"id":"resp_67c9","object":"response","created_at":1741290958,"status":"in_progress","error":null,"incomplete_details":null,"instructions":"You are helpful.","max_output_tokens":null,"model":"gpt-4.1-2025-04-14","output":[],"parallel_tool_calls":true,"previous_response_id":null,"reasoning":{"effort":null,"summary":null},"store":false,"temperature":1.0,"text":{"format":{"type":"text"}},"tool_choice":"auto","tools":[],"top_p":1.0,"truncation":"disabled","usage":null,"user":null,"metadata":{}}}`,
		`{"type":"response.output_item.added","sequence_number":2,"output_index":0,"item":{"id":"msg_67c9","type":"message","status":"in_progress","role":"assistant","content":[]}}`,
		`{"type":"response.content_part.added","sequence_number":3,"item_id":"msg_67c9","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}}`,
		`{"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_67c9","output_index":0,"content_index":0,"delta":"Hi","logprobs":[],"obfuscation":"KqB8s"}`,
		`{"type":"response.output_text.done","sequence_number":5,"item_id":"msg_67c9","output_index":0,"content_index":0,"text":"Hi","logprobs":[]}`,
		`{"type":"response.content_part.done","sequence_number":6,"item_id":"msg_67c9","output_index":0,"content_index":0,"part":{"type":"output_text","text":"Hi","annotations":[]}}`,
		`{"type":"response.output_item.done","sequence_number":7,"output_index":0,"item":{"id":"msg_67c9","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Hi","annotations":[]}]}}`,
		`{"type":"response.completed","sequence_number":8,"response":{"id":"resp_67c9","object":"response","status":"completed","error":null,"incomplete_details":null,"model":"gpt-4.1-2025-04-14","output":[{"id":"msg_67c9","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Hi","annotations":[]}]}],"usage":{"input_tokens":37,"input_tokens_details":{"cached_tokens":5},"output_tokens":11,"output_tokens_details":{"reasoning_tokens":3},"total_tokens":48}}}`)
	events := mustAsk(t, open(t, server.Server, responses.Config{}), hello())
	got := finishOf(t, events)
	u := got.Usage
	if textOf(events) != "Hi" || got.ModelID != "gpt-4.1-2025-04-14" || *u.Input != 37 || *u.CacheRead != 5 ||
		*u.Output != 11 || *u.Reasoning != 3 || u.CacheWrite != nil {
		t.Errorf("got %+v", events)
	}
	if len(only[spool.ResumePoint](events)) > 0 {
		t.Error("an answer that is not in the background has a resume point")
	}
}
