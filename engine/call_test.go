package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// dieFirst returns a tool. The process that f wraps dies during its first call. Later calls are fn's.
func dieFirst(f *spooltest.Faulty, name string, fn func(c spool.ToolCall) (json.RawMessage, error)) spool.Tool {
	first := true
	return toolOf(name, func(_ context.Context, c spool.ToolCall) (json.RawMessage, error) {
		if first {
			first = false
			die(f)
			<-time.After(time.Second)
			return nil, errors.New("dead")
		}
		return fn(c)
	})
}

// once returns a model that calls the tool once, and then says that it is done.
func once(name string) *spooltest.Model {
	return spooltest.NewReplayModel(spooltest.Use(spooltest.Call{ID: "c1", Name: name}), spooltest.Say("done"))
}

// A call of unknown outcome has two questions: whether to repeat it, and the tool's own. The answer to
// the first does not answer the second.
func TestUnknownOutcomesAnswerIsNotTheTools(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := memory.New(nil)
		f := spooltest.NewFaulty(b)
		sent := false
		mail := dieFirst(f, "mail", func(c spool.ToolCall) (json.RawMessage, error) {
			if c.Answer == nil {
				return nil, spool.ParkFor("confirm", "may I send it?", 0)
			}
			sent = c.Answer.Approved
			return json.RawMessage(`"sent"`), nil
		})
		c := config(once("mail"), mail)
		e := newEngine(t, f.Backend(), c)
		stop := work(t, e)
		start(t, e, "r1")
		pass(3 * time.Second)
		stop()
		e = newEngine(t, b, c)
		stop = work(t, e)
		pass(2 * time.Minute)
		approve(t, e, "c1") // that it runs again
		pass(time.Minute)
		if sent || state(t, b) != wire.WaitingForInput {
			t.Fatalf("sent: %t, and the thread is %s", sent, state(t, b))
		}
		approve(t, e, "c1") // that it is sent
		pass(time.Minute)
		if !sent || state(t, b) != wire.Completed {
			t.Errorf("sent: %t, and the thread is %s", sent, state(t, b))
		}
		stop()
	})
}

// A call that is repeated after an unknown outcome gets the payload of its approval.
func TestUnknownOutcomeKeepsTheApprovalsPayload(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := memory.New(nil)
		f := spooltest.NewFaulty(b)
		var seen string
		pay := dieFirst(f, "pay", func(c spool.ToolCall) (json.RawMessage, error) {
			seen = string(c.Answer.Payload)
			return json.RawMessage(`"ok"`), nil
		})
		pay.Approval = spool.AlwaysApprove
		c := config(once("pay"), pay)
		e := newEngine(t, f.Backend(), c)
		stop := work(t, e)
		start(t, e, "r1")
		pass(time.Second)
		r, err := e.Respond(t.Context(), key,
			wire.Response{ToolCallID: "c1", Approved: true, Payload: json.RawMessage(`{"limit":5}`)})
		if err != nil || !r.Delivered {
			t.Fatal(r, err)
		}
		pass(3 * time.Second)
		stop()
		e = newEngine(t, b, c)
		stop = work(t, e)
		pass(2 * time.Minute)
		approve(t, e, "c1")
		pass(time.Minute)
		if seen != `{"limit":5}` {
			t.Errorf("the tool is told %q", seen)
		}
		stop()
	})
}

// A call of unknown outcome asks a person, also if the next version has no such tool.
func TestUnknownOutcomeIsAskedForThoughTheToolIsGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := memory.New(nil)
		f := spooltest.NewFaulty(b)
		e := newEngine(t, f.Backend(), config(once("pay"), dieFirst(f, "pay", nil)))
		stop := work(t, e)
		start(t, e, "r1")
		pass(3 * time.Second)
		stop()
		e = newEngine(t, b, config(once("pay")))
		stop = work(t, e)
		pass(2 * time.Minute)
		snap := snapshot(t, e)
		if snap.Thread.State != wire.WaitingForInput {
			t.Errorf("the thread is %s", snap.Thread.State)
		}
		for _, m := range snap.Messages {
			for _, p := range m.ToolResults() {
				t.Errorf("the model reads %s", p.Result)
			}
		}
		stop()
	})
}

// A panic of a tool's approval does not take the worker's process down.
func TestApprovalThatPanicsEndsNoProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		called := false
		send := toolOf("send", func(context.Context, spool.ToolCall) (json.RawMessage, error) {
			called = true
			return nil, nil
		})
		send.Approval = func(context.Context, spool.ToolCall) (bool, error) { panic("approval") }
		b := memory.New(nil)
		e := newEngine(t, b, config(once("send"), send))
		stop := work(t, e)
		start(t, e, "r1")
		pass(time.Minute)
		if s := state(t, b); s.Active() && s != wire.WaitingForInput || called {
			t.Errorf("called: %t, and the thread is %s", called, s)
		}
		stop()
	})
}

// The store keeps the output of tools and models readable, however deep it is nested and whatever its
// bytes are.
func TestNestedDeep(t *testing.T) {
	t.Parallel()

	deep := `{"a":` + strings.Repeat("[", 9998) + strings.Repeat("]", 9998) + `}`
	for name, given := range map[string]string{"Deep": deep, "NoText": "[\"\xff\"]"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				model := spooltest.NewReplayModel(
					spooltest.Use(spooltest.Call{ID: "c1", Name: "say"}, spooltest.Call{ID: "c2", Name: "say", Args: given}),
					spooltest.Say("done"))
				say := toolOf("say", func(context.Context, spool.ToolCall) (json.RawMessage, error) {
					return json.RawMessage(given), nil
				})
				e := newEngine(t, memory.New(nil), config(model, say))
				stop := work(t, e)
				start(t, e, "r1")
				pass(time.Second)
				stop()
				snapshot := snapshot(t, e)
				if snapshot.Thread.State != wire.Completed {
					t.Fatalf("the run is %s", snapshot.Thread.State)
				}
				text, err := json.Marshal(snapshot)
				if err != nil || !utf8.Valid(text) {
					t.Fatalf("the thread cannot be read again: %v", err)
				}
				if err := json.Unmarshal(text, &wire.Snapshot{}); err != nil {
					t.Errorf("a client cannot read the thread: %v", err)
				}
			})
		})
	}
}
