package anthropic_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	fake "github.com/spoolhq/spool/internal/testing/fake/anthropic"
	"github.com/spoolhq/spool/model/anthropic"
)

// An unknown word ends an answer without calls as itself. Calls are whole under any word but that of a limit.
func TestStopReasons(t *testing.T) {
	t.Parallel()

	for word, want := range map[string]struct{ text, calls spool.FinishReason }{
		"end_turn": {spool.FinishStop, spool.FinishToolCalls}, "stop_sequence": {spool.FinishStop, spool.FinishToolCalls},
		"stop": {spool.FinishStop, spool.FinishToolCalls}, "tool_use": {spool.FinishStop, spool.FinishToolCalls},
		"tool_calls": {spool.FinishStop, spool.FinishToolCalls}, "odd_word": {"odd_word", spool.FinishToolCalls},
		"max_tokens":                    {spool.FinishLength, spool.FinishLength},
		"model_context_window_exceeded": {spool.FinishLength, spool.FinishLength},
		"length":                        {spool.FinishLength, spool.FinishLength},
		"pause_turn":                    {spool.FinishPause, spool.FinishPause},
		"compaction":                    {spool.FinishPause, spool.FinishPause},
		"refusal":                       {spool.FinishFilter, spool.FinishFilter},
		"content_filter":                {spool.FinishFilter, spool.FinishFilter}, "error": {}, "network_error": {},
	} {
		for a, want := range map[*fake.Answer]spool.FinishReason{
			{Blocks: []fake.Block{fake.Text("So.")}, Stop: word}:        want.text,
			{Blocks: []fake.Block{fake.Call("coin", "{}")}, Stop: word}: want.calls,
		} {
			_, url := newPeer(t, say(*a))
			r := asks("Hi?")
			r.Tools = []spool.ToolSpec{{Name: "coin"}}
			events, err := stream(t, newModel(t, url, anthropic.Config{}), r)
			if want == "" {
				if got := modelError(t, err); got.Permanent() || !strings.Contains(got.Message, word) {
					t.Errorf("%s: %+v", word, got)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := finishOf(t, events).Reason; got != want {
				t.Errorf("%s: %s, want %s", word, got, want)
			}
		}
	}
}

// The usage is known from the first event on, and its counts are sums.
func TestUsage(t *testing.T) {
	t.Parallel()

	n := func(v int64) *int64 { return &v }
	a := blocks(fake.Text("Hi."))
	a.Model = "claude-test-4-20260101"
	a.Start = map[string]any{
		"input_tokens": 3, "cache_read_input_tokens": 60, "cache_creation_input_tokens": 10, "output_tokens": 1,
	}
	a.End = map[string]any{
		"output_tokens": 20, "input_tokens": 4, "output_tokens_details": map[string]any{"thinking_tokens": 8},
	}
	_, url := newPeer(t, say(a))
	events, err := stream(t, newModel(t, url, anthropic.Config{}), asks("Hi?"))
	if err != nil {
		t.Fatal(err)
	}
	first := spool.Usage{Input: n(73), CacheRead: n(60), CacheWrite: n(10), Output: n(1)}
	last := spool.Usage{Input: n(74), CacheRead: n(60), CacheWrite: n(10), Output: n(20), Reasoning: n(8)}
	if diff := cmp.Diff([]spool.UsageSeen{{Usage: first}, {Usage: last}}, only[spool.UsageSeen](events)); diff != "" {
		t.Errorf("seen (-want +got):\n%s", diff)
	}
	want := spool.Finish{Reason: spool.FinishStop, Usage: last, ModelID: "claude-test-4-20260101"}
	if diff := cmp.Diff(want, finishOf(t, events)); diff != "" {
		t.Errorf("the end (-want +got):\n%s", diff)
	}
}

// Servers that leave something out are understood as far as it goes.
func TestLooseServers(t *testing.T) {
	t.Parallel()

	const (
		begin = `{"type":"message_start","message":{"model":"m"}}`
		start = `{"type":"content_block_start","index":0,"content_block":`
		delta = `{"type":"content_block_delta","index":0,"delta":`
		stop  = `{"type":"content_block_stop","index":0}`
		end   = `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`
	)
	call := start + `{"type":"tool_use","id":"c1","name":"coin","input":{"n":1}}}`
	for name, c := range map[string]struct {
		events []string
		text   string
		calls  []spool.ToolCallEnd
		fails  string
	}{
		"no end of the message": {events: []string{begin, start + `{"type":"text","text":"Hi"}}`, stop, end}, text: "Hi"},
		"no end of a block": {
			events: []string{call, end},
			calls: []spool.ToolCallEnd{
				{ID: "c1", Name: "coin", Args: `{"n":1}`, Provider: []byte(`{"anthropic":{"model":"claude-test-4","id":"c1"}}`)},
			},
		},
		"whole call": {
			events: []string{begin, call, stop, end},
			calls: []spool.ToolCallEnd{
				{ID: "c1", Name: "coin", Args: `{"n":1}`, Provider: []byte(`{"anthropic":{"model":"claude-test-4","id":"c1"}}`)},
			},
		},
		"unknown delta": {
			events: []string{start + `{"type":"text","text":"Hi"}}`, delta + `{"type":"new_delta","text":"x"}}`, end},
			text:   "Hi",
		},
		"no block": {events: []string{delta + `{"type":"text_delta","text":"x"}}`, stop, end}, text: "x"},
		"no end before another": {
			events: []string{call, start + `{"type":"text","text":"Hi"}}`, end},
			text:   "Hi",
			calls: []spool.ToolCallEnd{
				{ID: "c1", Name: "coin", Args: `{"n":1}`, Provider: []byte(`{"anthropic":{"model":"claude-test-4","id":"c1"}}`)},
			},
		},
		"no arguments at all": {events: []string{delta + `{"type":"input_json_delta","partial_json":"{}"}}`, stop, end}},
		"no name":             {events: []string{start + `{"type":"tool_use","id":"c1"}}`, end}, fails: "without a name"},
		"no type":             {events: []string{`{"error":{"type":"overloaded_error","message":"full"}}`}, fails: "full"},
		"bare error":          {events: []string{`{"type":"error"}`}, fails: "reported an error"},
		"no reason":           {events: []string{begin, `{"type":"message_stop"}`}, fails: "without a stop reason"},
		"empty":               {fails: "without a stop reason"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			web := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				for _, e := range c.events {
					_, _ = fmt.Fprintf(w, "data: %s\n\n", e)
				}
			}))
			events, err := stream(t, newModel(t, web.URL, anthropic.Config{}), asks("Hi?"))
			if c.fails != "" {
				if got := modelError(t, err); got.Permanent() || !strings.Contains(got.Message, c.fails) {
					t.Errorf("got %+v", got)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := texts(events); got != c.text {
				t.Errorf("text %q", got)
			}
			if diff := cmp.Diff(c.calls, only[spool.ToolCallEnd](events)); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

// A server that does not stream gives the whole answer.
func TestWholeAnswer(t *testing.T) {
	t.Parallel()

	web := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w,
			`{"type":"message","model":"m","content":[{"type":"thinking","thinking":"Hm.","signature":"s"},{"type":"text","text":"Hi."},
			{"type":"tool_use","id":"c1","name":"coin","input":{}}],"stop_reason":"tool_use","usage":{"input_tokens":3}}`)
	}))
	events, err := stream(t, newModel(t, web.URL, anthropic.Config{}), asks("Hi?"))
	if err != nil {
		t.Fatal(err)
	}
	want := spool.Content{
		{Type: spool.PartReasoning, Text: "Hm.", Provider: []byte(`{"anthropic":{"model":"claude-test-4","signature":"s"}}`)},
		{Type: spool.PartText, Text: "Hi."},
		{
			Type: spool.PartToolCall, ToolCallID: "c1", ToolName: "coin", Args: []byte("{}"),
			Provider: []byte(`{"anthropic":{"model":"claude-test-4","id":"c1"}}`),
		},
	}
	if diff := cmp.Diff(want, fold(events)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if end := finishOf(t, events); end.Reason != spool.FinishToolCalls || *end.Usage.Input != 3 {
		t.Errorf("the end %+v", end)
	}
}

// What is buffered of an answer is bounded.
func TestEndlessBuffers(t *testing.T) {
	t.Parallel()

	long := strings.Repeat("x", 200<<10)
	for name, garbage := range map[string]string{
		"signature": `{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"` + long + `"}}`,
		"citations": `{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":"` + long + `"}}`,
		"blocks":    `{"type":"content_block_start","index":0,"content_block":{"type":"redacted_thinking","data":"x"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			a := blocks(fake.Text("Half"))
			a.Fault, a.After, a.Garbage = fake.FaultFlood, 4, "data: "+garbage+"\n\n"
			server, url := newPeer(t, say(a))
			events, err := stream(t, newModel(t, url, anthropic.Config{}), asks("Hi?"))
			if err != nil {
				t.Fatal(err)
			}
			if got := finishOf(t, events).Reason; got != spool.FinishLength {
				t.Errorf("the answer ends with %s", got)
			}
			<-server.Gone()
		})
	}
}

// roundTripper answers without a network, so that time can be played.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestTimeouts(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		pauses []time.Duration
		slow   time.Duration // how long the caller takes over each text
		want   string
	}{
		"headers":    {[]time.Duration{121 * time.Second}, 0, "within 2m0s"},
		"first byte": {[]time.Duration{0, 121 * time.Second}, 0, "silent for 2m0s"},
		"later byte": {[]time.Duration{0, 100 * time.Second, 61 * time.Second}, 0, "silent for 1m0s"},
		"slow, within bound": {
			[]time.Duration{119 * time.Second, 119 * time.Second, 59 * time.Second, 59 * time.Second}, 0, "",
		},
		"slow caller":          {[]time.Duration{0, 0, 0, 0}, time.Hour, ""},
		"body of an error":     {[]time.Duration{-1, 61 * time.Second}, 0, "within 1m0s"},
		"body of an error, ok": {[]time.Duration{-1, 59 * time.Second}, 0, "teapot"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			synctest.Test(t, func(t *testing.T) {
				m, err := anthropic.New(anthropic.Config{Model: "m", Transport: paced(c.pauses)})
				if err != nil {
					t.Fatal(err)
				}
				var last error
				for event, err := range m.Stream(t.Context(), asks("Hi?")) {
					last = err
					if _, ok := event.(spool.TextDelta); ok && c.slow > 0 {
						<-time.After(c.slow)
					}
				}
				switch c.want {
				case "":
					if last != nil {
						t.Errorf("got %v", last)
					}
				case "teapot":
					if got := modelError(t, last); got.Status != http.StatusTeapot {
						t.Errorf("got %+v", got)
					}
				default:
					if got := modelError(t, last); got.Permanent() || !strings.Contains(got.Message, c.want) ||
						!errors.Is(last, context.DeadlineExceeded) {
						t.Errorf("got %+v", got)
					}
				}
			})
		})
	}
}

// paced returns a transport that takes the first pause before its headers and one of the others before each piece of
// the body, and then finishes. A negative first pause makes it an error.
func paced(pauses []time.Duration) roundTripper {
	return func(r *http.Request) (*http.Response, error) {
		wait := func(d time.Duration) error {
			select {
			case <-time.After(d):
				return nil
			case <-r.Context().Done():
				return r.Context().Err()
			}
		}
		if err := wait(pauses[0]); err != nil {
			return nil, err
		}
		body, writer := io.Pipe()
		go func() {
			for _, d := range pauses[1:] {
				if err := wait(d); err != nil {
					_ = writer.CloseWithError(err)
					return
				}
				_, _ = io.WriteString(writer,
					`data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a"}}`+"\n\n")
			}
			_, _ = io.WriteString(writer, `data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}`+"\n\n"+
				`data: {"type":"message_stop"}`+"\n\n")
			_ = writer.Close()
		}()
		response := &http.Response{StatusCode: http.StatusOK, Header: make(http.Header), Body: body, Request: r}
		if pauses[0] < 0 {
			response.StatusCode = http.StatusTeapot
		}
		return response, nil
	}
}
