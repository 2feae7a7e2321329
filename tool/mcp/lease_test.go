package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/spoolhq/spool"
	fake "github.com/spoolhq/spool/internal/testing/fake/mcp"
	"github.com/spoolhq/spool/tool/mcp"
)

// TestLease has the worker lose its lease before a call is sent. The server does not get the call.
func TestLease(t *testing.T) {
	t.Parallel()

	lapsed := errors.New("the lease has lapsed")
	p := newPeer()
	for name, s := range map[string]*mcp.Server{"HTTP": client(t, p.serve(t, stateless).URL), "child": child(t)} {
		echo := tools(t, s, mcp.Selection{})["echo"]
		for good := range int32(2) { // a child has no connection that is checked once more
			if name == "child" && good > 0 {
				continue
			}
			var asked atomic.Int32
			_, err := echo.Call(t.Context(), spool.ToolCall{
				Args: json.RawMessage(`{"text":"a"}`),
				LeaseFunc: func(context.Context) error {
					if asked.Add(1) > good {
						return lapsed
					}
					return nil
				},
			})
			if !errors.Is(err, lapsed) {
				t.Errorf("%s, good %d times: %v", name, good, err)
			}
		}
		if got, err := echo.Call(t.Context(), spool.ToolCall{Args: json.RawMessage(`{"text":"b"}`), Fence: 7}); err != nil ||
			string(got) != `"b"` {
			t.Errorf("%s: the next call: %s, %v", name, got, err)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.fences) != 1 || p.fences[0] != 7 {
		t.Errorf("the server got calls with the fences %v", p.fences)
	}
}

// TestLeaseAnswer has the worker lose its lease before it gives an answer on: to a call that is open, and to a task.
// The server does not get the answer, and the next worker gives it.
func TestLeaseAnswer(t *testing.T) {
	t.Parallel()

	lapsed := errors.New("the lease has lapsed")
	goodFor := func(n int32) func(context.Context) error {
		var asked atomic.Int32
		return func(context.Context) error {
			if asked.Add(1) > n {
				return lapsed
			}
			return nil
		}
	}

	ask := tools(t, client(t, newPeer().serve(t, nil).URL), mcp.Selection{})["ask"]
	park := asks(t, ask, `{"text":"size"}`)
	answer := answered(park, with(`{"size":"large"}`))
	if got, err := call(t, ask, `{"text":"size"}`, answer, func(c *spool.ToolCall) {
		c.LeaseFunc = goodFor(0)
	}); !errors.Is(err, lapsed) {
		t.Errorf("an open call: %s, %v", got, err)
	}
	if got, err := call(t, ask, `{"text":"size"}`, answer); err != nil || got != `"accept large"` {
		t.Errorf("an open call, then: %s, %v", got, err)
	}

	w := newWorks(t, &fake.Server{})
	task := w.begin()
	task.Ask("q1", "reason", 0)
	w.answers(w.asks(), accept(`{"reason":"rain"}`))
	for good := range int32(2) { // the connection is checked once more
		w.call.LeaseFunc = goodFor(good)
		if got, err := w.do(); !errors.Is(err, lapsed) || len(task.Answers()) > 0 {
			t.Errorf("a task, good %d times: %s, %v, answers %s", good, got, err, task.Answers())
		}
	}
	w.call.LeaseFunc = nil
	w.waits(w.do)
	if len(task.Answers()) != 1 {
		t.Errorf("a task, then: answers %s", task.Answers())
	}
}
