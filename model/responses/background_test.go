package responses_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	fake "github.com/spoolhq/spool/internal/testing/fake/responses"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/model/responses"
)

// rich is an answer with all kinds of items.
func rich() []fake.Item {
	return []fake.Item{
		fake.ReasonParts([]string{"One ", "two."}, []string{"Three."}), fake.Text("Hello", ", ", "world."),
		fake.Own(`{"type":"web_search_call","status":"completed"}`), fake.Reason("Four."),
		fake.Call("call_a", "weather", `{"city":`, `"Oslo"}`), fake.Call("call_b", "coin"),
	}
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()

	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	ctx := testwait.Context(t, what)
	for !holds() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("waited for %s: %v", what, context.Cause(ctx))
		}
	}
}

// count returns how many requests of a method had a word in their query or path.
func count(server *fake.Server, method, word string) int {
	n := 0
	for _, r := range server.Requests() {
		if r.Method == method && strings.Contains(r.Path+"?"+r.Query, word) {
			n++
		}
	}
	return n
}

// wantWhole checks that an answer has every piece exactly once, and is accepted when it comes back.
func wantWhole(t *testing.T, m spool.Model, events []spool.ModelEvent) {
	t.Helper()

	if got := finishOf(t, events); got.Reason != spool.FinishToolCalls {
		t.Errorf("got %+v", got)
	}
	if got := reasoningOf(events) + "|" + textOf(events); got != "One two.\n\nThree.Four.|Hello, world." {
		t.Errorf("got %q", got)
	}
	calls := only[spool.ToolCallEnd](events)
	if len(calls) != 2 || calls[0].Args != `{"city":"Oslo"}` || calls[1].Args != "{}" ||
		len(only[spool.ToolCallStart](events)) != 2 {
		t.Errorf("calls %+v", calls)
	}
	if len(only[spool.ProviderPart](events)) != 1 || len(only[spool.ReasoningEnd](events)) != 2 {
		t.Errorf("events %v", events)
	}
	if _, err := ask(t.Context(), m, next(hello(), content(events))); err != nil {
		t.Error(err)
	}
}

// TestCutEverywhere breaks the connection to a background answer after each of its events.
func TestCutEverywhere(t *testing.T) {
	t.Parallel()

	for cut := 1; cut < 40; cut++ {
		server, http := serve(t, func(r *fake.Request) fake.Answer {
			if len(r.Input) > 1 {
				return fake.Answer{Items: []fake.Item{fake.Text("Fine.")}}
			}
			return fake.Answer{Items: rich(), CutAfter: cut}
		})
		m := open(t, http, responses.Config{Background: true})
		events := mustAsk(t, m, hello())
		points := only[spool.ResumePoint](events)
		if len(points) != 1 || !isPoint(events[0]) {
			t.Fatalf("after %d events: resume points %v", cut, points)
		}
		wantWhole(t, m, events)
		if server.Posts() != 2 { // the second is that of wantWhole
			t.Errorf("after %d events: %d answers were paid for", cut, server.Posts())
		}
	}
}

func isPoint(e spool.ModelEvent) bool {
	_, ok := e.(spool.ResumePoint)
	return ok
}

// TestCutAgain breaks each stream that comes back, and ends by polling.
func TestCutAgain(t *testing.T) {
	t.Parallel()

	for name, answer := range map[string]fake.Answer{
		"each after one event":      {Items: rich(), CutAfter: 3, Cuts: slices.Repeat([]int{1}, 8)},
		"the window has passed":     {Items: rich(), CutAfter: 12, StreamOver: true},
		"the server is unwell":      {Items: rich(), CutAfter: 12, FailGets: 2},
		"the stream ends too early": {Items: rich(), EndAfter: 9},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			server, http := serve(t, func(r *fake.Request) fake.Answer {
				if len(r.Input) > 1 {
					return fake.Answer{Items: []fake.Item{fake.Text("Fine.")}}
				}
				return answer
			})
			m := open(t, http, responses.Config{Background: true})
			wantWhole(t, m, mustAsk(t, m, hello()))
			if server.Posts() != 2 {
				t.Errorf("%d answers were paid for", server.Posts())
			}
		})
	}
}

// pointOf begins an answer, and leaves it at its resume point as a process does that dies.
func pointOf(t *testing.T, m spool.Model) json.RawMessage {
	t.Helper()

	for event, err := range m.Stream(t.Context(), hello()) {
		if err != nil {
			t.Fatal(err)
		}
		if point, ok := event.(spool.ResumePoint); ok {
			return point.Data
		}
		t.Fatalf("%T came before the resume point", event)
	}
	t.Fatal("no resume point")
	return nil
}

func resumeAt(point json.RawMessage) spool.ModelRequest {
	r := hello()
	r.Resume = point
	return r
}

func TestResume(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		answer  fake.Answer
		streams int
	}{
		"stream":        {fake.Answer{Items: rich()}, 1},
		"poll":          {fake.Answer{Items: rich(), StreamOver: true}, 1},
		"cut again":     {fake.Answer{Items: rich(), Cuts: []int{7}}, 2},
		"server unwell": {fake.Answer{Items: rich(), FailGets: 3}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			server, http := serve(t, func(r *fake.Request) fake.Answer {
				if len(r.Input) > 1 {
					return fake.Answer{Items: []fake.Item{fake.Text("Fine.")}}
				}
				return c.answer
			})
			config := responses.Config{Background: true}
			point := pointOf(t, open(t, http, config))
			m := open(t, http, config) // another process
			events := mustAsk(t, m, resumeAt(point))
			if server.Posts() != 1 || count(server, "GET", "starting_after=0") < 1 ||
				count(server, "GET", "stream=true") != c.streams {
				t.Errorf("%d posts, requests %+v", server.Posts(), server.Requests())
			}
			if points := only[spool.ResumePoint](events); len(points) > 0 {
				t.Errorf("a known answer has resume points %v", points)
			}
			wantWhole(t, m, events)
		})
	}
}

// TestResumeWhileItGoesOn comes back to an answer that is not complete, by a stream and by polling.
func TestResumeWhileItGoesOn(t *testing.T) {
	t.Parallel()

	for _, over := range []bool{false, true} {
		release := make(chan struct{})
		server, http := serve(t, func(*fake.Request) fake.Answer {
			return fake.Answer{Items: rich(), StreamOver: over, Hold: func(n int) {
				if n == 9 {
					<-release
				}
			}}
		})
		m := open(t, http, responses.Config{Background: true})
		point := pointOf(t, m)
		done := make(chan struct{})
		go func() {
			defer close(done)
			events, err := ask(t.Context(), m, resumeAt(point))
			if err != nil || textOf(events) != "Hello, world." {
				t.Errorf("got %v, %v", events, err)
			}
		}()
		eventually(t, "the model to come back",
			func() bool { return count(server, "GET", "resp_") >= 2 || !over && count(server, "GET", "resp_") == 1 })
		close(release)
		<-done
		if server.Posts() != 1 {
			t.Errorf("%d answers were paid for", server.Posts())
		}
	}
}

// TestGone comes back to answers that the provider no longer has, or has given up.
func TestGone(t *testing.T) {
	t.Parallel()

	server, listener := serve(t, always(rich()...))
	m := open(t, listener, responses.Config{Background: true})
	point := pointOf(t, m)
	for name, c := range map[string]json.RawMessage{
		"another model":  json.RawMessage(`{"responses":{"id":"resp_1","model":"other","host":"x"}}`),
		"another format": json.RawMessage(`{"other":{}}`),
	} {
		if _, err := ask(t.Context(), m, resumeAt(c)); !modelError(t, err).Gone {
			t.Errorf("%s: %v", name, err)
		}
	}
	server.Delete(server.Stored()[0])
	_, err := ask(t.Context(), m, resumeAt(point))
	if got := modelError(t, err); !got.Gone || got.Permanent() || got.Status != 404 {
		t.Errorf("got %+v", got)
	}

	// A failure of the provider that has ended the response is not there to be waited for.
	failing, listener := serve(t, func(*fake.Request) fake.Answer {
		return fake.Answer{Failed: &fake.Failure{Code: "server_error", Message: "down"}}
	})
	m = open(t, listener, responses.Config{Background: true})
	_, err = ask(t.Context(), m, hello())
	if got := modelError(t, err); !got.Gone || got.Permanent() || got.Status != 500 {
		t.Errorf("got %+v", got)
	}
	if n := len(failing.Requests()); n != 1 {
		t.Errorf("%d requests", n)
	}
}

// TestUnwell polls a server that does not answer any more. The answer may still be there.
func TestUnwell(t *testing.T) {
	t.Parallel()

	server, listener := serve(t, func(*fake.Request) fake.Answer {
		return fake.Answer{Items: rich(), CutAfter: 2, FailGets: 1000}
	})
	_, err := ask(t.Context(), open(t, listener, responses.Config{Background: true}), hello())
	if got := modelError(t, err); got.Gone || got.Permanent() || got.Status != http.StatusServiceUnavailable {
		t.Errorf("got %+v", got)
	}
	if n := len(server.Requests()); n > 10 {
		t.Errorf("%d requests", n)
	}
}

// TestStopCancels ends the call of a background answer. Only a stop cancels the answer.
func TestStopCancels(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		cause error
		want  bool
	}{
		"a stop":     {errors.Join(errors.New("the run was stopped"), spool.ErrStopped), true},
		"a shutdown": {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			server, http := serve(t, func(*fake.Request) fake.Answer { return fake.Answer{Items: rich(), HangAfter: 8} })
			m := open(t, http, responses.Config{Background: true})
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			var at time.Time
			var last error
			for event, err := range m.Stream(ctx, hello()) {
				last = err
				if _, ok := event.(spool.ReasoningDelta); ok && at.IsZero() {
					at = time.Now()
					cancel(c.cause)
				}
			}
			if took := time.Since(at); !errors.Is(last, context.Canceled) || took > 5*time.Second {
				t.Errorf("got %v after %s", last, took)
			}
			if c.want {
				eventually(t, "the answer to be cancelled", func() bool { return count(server, "POST", "/cancel") == 1 })
				return
			}
			if _, err := ask(t.Context(), m, resumeAt(pointIn(t, server))); err != nil {
				t.Error(err)
			}
			if n := count(server, "POST", "/cancel"); n != 0 {
				t.Errorf("%d answers were cancelled", n)
			}
		})
	}
}

// pointIn returns the resume point of the only response of a server.
func pointIn(t *testing.T, server *fake.Server) json.RawMessage {
	t.Helper()

	host := server.Requests()[0].Host
	return json.RawMessage(`{"responses":{"id":"` + server.Stored()[0] +
		`","after":0,"model":"test-model","host":"` + host + `"}}`)
}

// TestBackgroundTimeout polls an answer that does not end.
func TestBackgroundTimeout(t *testing.T) {
	t.Parallel()

	release := make(chan struct{})
	defer close(release)
	server, listener := serve(t, func(*fake.Request) fake.Answer {
		return fake.Answer{Items: rich(), CutAfter: 4, StreamOver: true, Hold: func(n int) {
			if n == 9 {
				<-release
			}
		}}
	})
	m := open(t, listener, responses.Config{Background: true, BackgroundTimeout: time.Millisecond})
	_, err := ask(t.Context(), m, hello())
	if got := modelError(t, err); got.Permanent() || got.Gone || !strings.Contains(got.Message, "was still in_progress") {
		t.Errorf("got %+v", got)
	}
	if server.Posts() != 1 {
		t.Errorf("%d answers were paid for", server.Posts())
	}
}
