package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/tool/mcp"
	"github.com/spoolhq/spool/wire"
)

// asks calls a tool and returns its question.
func asks(t *testing.T, tool spool.Tool, args string, change ...func(*spool.ToolCall)) *spool.ParkRequest {
	t.Helper()

	got, err := call(t, tool, args, change...)
	park, ok := errors.AsType[*spool.ParkRequest](err)
	if !ok {
		t.Fatalf("got %s, %v", got, err)
	}
	return park
}

// answered changes a call into the one that follows an answer, or the expiry if the answer is nil.
func answered(park *spool.ParkRequest, answer *spool.Answer) func(*spool.ToolCall) {
	return func(c *spool.ToolCall) { c.Resume, c.Pending, c.Answer = park.Resume, park.Pending, answer }
}

func with(payload string) *spool.Answer {
	return &spool.Answer{Approved: true, Payload: json.RawMessage(payload)}
}

func message(park *spool.ParkRequest) string {
	var shown struct{ Message string }
	if err := json.Unmarshal(must(json.Marshal(park.Payload)), &shown); err != nil {
		panic(err)
	}
	return shown.Message
}

// A server of an older revision asks in the middle of a call. The call stays open until the answers are there.
func TestOpenQuestion(t *testing.T) {
	t.Parallel()

	for name, open := range map[string]func(t *testing.T) *mcp.Server{
		"sessions": func(t *testing.T) *mcp.Server { t.Helper(); return client(t, newPeer().serve(t, nil).URL) },
		"stdio": func(t *testing.T) *mcp.Server {
			t.Helper()
			s := must(mcp.New(mcp.Config{
				Name: "shop", Command: []string{must(os.Executable())}, Env: map[string]string{asChild: "1"},
				Revision: "2025-06-18",
			}))
			t.Cleanup(func() { _ = s.Close() })
			return s
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ask := tools(t, open(t), mcp.Selection{})["ask"]
			first := asks(t, ask, `{"text":"size color"}`)
			if got := string(
				must(json.Marshal(first.Payload)),
			); got != `{"server":"shop","tool":"ask","mode":"form","message":"Which size?"}` ||
				!strings.Contains(string(first.Schema), `"size"`) {
				t.Errorf("shown: %s, %s", got, first.Schema)
			}
			other := asks(t, ask, `{"text":"shape"}`, func(c *spool.ToolCall) { c.RunID = "r2" }) // while the first call is open
			if message(other) != "Which shape?" {
				t.Errorf("the other call asks %q", message(other))
			}
			second := asks(t, ask, `{"text":"size color"}`, answered(first, with(`{"size":"large"}`)))
			if message(second) != "Which color?" {
				t.Errorf("then it asks %q", message(second))
			}
			if got, err := call(t, ask, `{"text":"size color"}`, answered(second, with(`{"color":"red"}`))); err != nil ||
				got != `"accept large, accept red"` {
				t.Errorf("got %s, %v", got, err)
			}
			if got, err := call(t, ask, `{"text":"shape"}`, answered(other, &spool.Answer{})); err != nil ||
				got != `"decline "` {
				t.Errorf("a denial: %s, %v", got, err)
			}
			expired := asks(t, ask, `{"text":"shape"}`)
			if got, err := call(t, ask, `{"text":"shape"}`, answered(expired, nil)); err != nil || got != `"cancel "` {
				t.Errorf("an expiry: %s, %v", got, err)
			}
		})
	}
}

// Over HTTP a question comes with the stream of its call, so calls of other runs do not matter.
func TestOpenBeside(t *testing.T) {
	t.Parallel()

	p := newPeer()
	all := tools(t, client(t, p.serve(t, nil).URL), mcp.Selection{})
	done := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, err := all["slow"].Call(ctx, spool.ToolCall{RunID: "r2", Args: json.RawMessage(`{"text":""}`)})
		done <- err
	}()
	testwait.For(t, p.begun, "the slow call")
	park := asks(t, all["ask"], `{"text":"size"}`)
	if got, err := call(t, all["ask"], `{"text":"size"}`, answered(park, with(`{"size":"large"}`))); err != nil ||
		got != `"accept large"` {
		t.Errorf("got %s, %v", got, err)
	}
	cancel()
	if err := testwait.For(t, done, "the end of the slow call"); !errors.Is(err, context.Canceled) {
		t.Errorf("the slow call: %v", err)
	}
}

// A server asks on its own stream, which comes late and breaks.
func TestOpenOwnStream(t *testing.T) {
	t.Parallel()

	p := newPeer()
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return p.server }, nil)
	var gets atomic.Int64
	opened := make(chan struct{}, 10)
	at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			if gets.Add(1) == 1 {
				http.Error(w, "later", http.StatusServiceUnavailable)
				return
			}
			opened <- struct{}{}
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(at.Close)
	t.Cleanup(func() { close(p.release) })
	ask := tools(t, client(t, at.URL), mcp.Selection{})["ask"]
	testwait.For(t, opened, "the stream")
	park := asks(t, ask, `{"text":"/size"}`)
	if got, err := call(t, ask, `{"text":"/size"}`, answered(park, with(`{"/size":"large"}`))); err != nil ||
		got != `"accept large"` {
		t.Errorf("got %s, %v", got, err)
	}
}

// Another process than the one that has the call open takes the answer.
func TestOpenElsewhere(t *testing.T) {
	t.Parallel()

	url := newPeer().serve(t, nil).URL
	owner, other := tools(t, client(t, url), mcp.Selection{})["ask"], tools(t, client(t, url), mcp.Selection{})["ask"]
	args := `{"text":"size color"}`
	pending := func(tool spool.Tool, change ...func(*spool.ToolCall)) func(*spool.ToolCall) {
		t.Helper()

		got, err := call(t, tool, args, change...)
		still, ok := errors.AsType[*spool.PendingError](err)
		if !ok {
			t.Fatalf("got %s, %v", got, err)
		}
		return func(c *spool.ToolCall) { c.Pending = still.State }
	}
	looks := func(c *spool.ToolCall) { c.Looking = true }
	handedOver := func(park *spool.ParkRequest, answer *spool.Answer) func(*spool.ToolCall) {
		t.Helper()

		state := pending(other, answered(park, answer))
		state = pending(other, state, looks) // which does not have the call either
		if again := pending(owner, state, looks); again != nil {
			state = pending(owner, state, looks) // a look may come twice
		}
		if got, err := call(t, other, args, state, looks); err != nil {
			t.Errorf("the look after that: %s, %v", got, err)
		}
		return state
	}
	second := asks(t, other, args, handedOver(asks(t, owner, args), with(`{"size":"large"}`)))
	if message(second) != "Which color?" {
		t.Errorf("then it asks %q", message(second))
	}
	if got, err := call(t, other, args, handedOver(second, with(`{"color":"red"}`))); err != nil ||
		got != `"accept large, accept red"` {
		t.Errorf("got %s, %v", got, err)
	}
	// The process that has the call open is gone.
	lost := pending(other, answered(asks(t, owner, args), with(`{"size":"large"}`)))
	long := func(c *spool.ToolCall) {
		lost(c)
		var state map[string]any
		if err := json.Unmarshal(c.Pending, &state); err != nil {
			t.Fatal(err)
		}
		state["missing"] = time.Now().Add(-time.Minute)
		c.Pending = must(json.Marshal(state))
	}
	_, err := call(t, other, args, long)
	if _, unknown := errors.AsType[*spool.OutcomeUnknownError](err); !unknown {
		t.Errorf("without its process: %v", err)
	}
}

// The connection of an open call breaks, or its server does not go on after the answer: the outcome is unknown.
func TestOpenBreaks(t *testing.T) {
	t.Parallel()

	p := newPeer()
	at := p.serve(t, nil)
	ask := tools(t, client(t, at.URL, func(c *mcp.Config) { c.Timeout = time.Second }), mcp.Selection{})["ask"]
	canceled := asks(t, ask, `{"text":"size"}`)
	if err := ask.Cancel(t.Context(), spool.ToolCall{Pending: canceled.Pending}); err != nil {
		t.Fatal(err)
	}
	testwait.For(t, p.withdrawn, "the server to hear that nobody answers")
	for _, c := range []struct {
		answer string
		breaks func()
		want   string
	}{
		{`{"size":"slow"}`, func() {}, "did not answer within 1s"},
		{`{"size":"large"}`, at.CloseClientConnections, "broke before the answer"},
	} {
		park := asks(t, ask, `{"text":"size"}`)
		c.breaks()
		_, err := call(t, ask, `{"text":"size"}`, answered(park, with(c.answer)))
		unknown, ok := errors.AsType[*spool.OutcomeUnknownError](err)
		if !ok || !strings.Contains(spool.MessageOf(unknown.Err), c.want) {
			t.Errorf("got %v, not one that %s", err, c.want)
		}
	}
}

// A run waits for the answer without a worker. A stop ends the call.
func TestOpenRun(t *testing.T) {
	t.Parallel()

	p := newPeer()
	use := spooltest.Use(spooltest.Call{ID: "c1", Name: "shop__ask", Args: `{"text":"size"}`})
	e, err := engine.New(store.Backend{Store: memory.New(nil).Store}, engine.Config{
		Models: map[string]spool.Model{"scripted": spooltest.NewReplayModel(use, spooltest.Say("done"), use)},
		Agents: []spool.Agent{
			{
				Name: "clerk", Model: "scripted",
				ToolSources: []spool.ToolSource{must(client(t, p.serve(t, nil).URL).Tools(mcp.Selection{}))},
			},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- e.Work(t.Context(), engine.WorkOptions{}) }()
	t.Cleanup(func() {
		if err := <-done; err != nil {
			t.Error(err)
		}
		e.Close()
	})
	run := func(thread spool.ThreadID) spool.ThreadKey {
		key := spool.ThreadKey{Tenant: "acme", ID: thread}
		if _, err := e.Run(t.Context(), key, wire.StartRequest{RunID: spool.RunID(thread), Prompt: "ask"}); err != nil {
			t.Fatal(err)
		}
		got, err := e.Await(t.Context(), key, spool.RunID(thread))
		if err != nil || got.State != wire.WaitingForInput || len(got.Parks) != 1 ||
			got.Parks[0].Reason != mcp.ParkElicitation {
			t.Fatalf("the run is %+v, %v", got, err)
		}
		return key
	}
	key := run("t1")
	answer := wire.Response{ToolCallID: "c1", Approved: true, Payload: []byte(`{"size":"large"}`)}
	if r, err := e.Respond(t.Context(), key, answer); err != nil || !r.Delivered {
		t.Fatalf("%+v, %v", r, err)
	}
	if got, err := e.Await(t.Context(), key, "t1"); err != nil || got.State != wire.Completed || p.counted("ask") != 1 {
		t.Errorf("the run is %+v, %v after %d effects", got, err, p.counted("ask"))
	}
	if r, err := e.Stop(t.Context(), run("t2")); err != nil || !r.Accepted {
		t.Errorf("the stop: %+v, %v", r, err)
	}
	testwait.For(t, p.withdrawn, "the call to be cancelled")
}

// A server that is slow to start does not answer in time: the error names the setting.
func TestSlowStart(t *testing.T) {
	t.Parallel()

	s := must(mcp.New(mcp.Config{
		Name: "shop", Command: []string{"/bin/sh", "-c", "cat >/dev/null"}, ConnectTimeout: 50 * time.Millisecond,
	}))
	t.Cleanup(func() { _ = s.Close() })
	if _, err := s.List(t.Context()); spool.CodeOf(err) != spool.Unavailable ||
		spool.MessageOf(err) != "MCP server shop was not ready within its connect_timeout of 50ms" {
		t.Errorf("got %v", err)
	}
}

// A server that does not speak the configured revision is not used in another one.
func TestRevision(t *testing.T) {
	t.Parallel()

	s := client(t, newPeer().serve(t, nil).URL, func(c *mcp.Config) { c.Revision = "2026-07-28" })
	if _, err := s.List(t.Context()); err == nil ||
		!strings.Contains(errors.Unwrap(err).Error(), "and not 2026-07-28 as configured") {
		t.Errorf("got %v", err)
	}
	if _, err := mcp.New(mcp.Config{
		Name: "shop", URL: "https://a.example", Revision: "2025-01-01",
	}); spool.CodeOf(err) != spool.Invalid {
		t.Errorf("a revision that does not exist: %v", err)
	}
}
