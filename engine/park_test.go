package engine_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// Live readers get two parks of one step in the same order as later readers.
func TestTwoParksComeInOneOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := memory.New(nil)
		b.Live = hookLive{Live: b.Live, onAppend: func(_ context.Context, items []wire.Item) error {
			if items[0].Type == wire.ItemInputRequired {
				<-time.After(50 * time.Millisecond)
			}
			return nil
		}}
		e := newEngine(t, b, config(
			spooltest.NewModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "send"}, spooltest.Call{ID: "c2", Name: "send"})),
			sendTool(),
		))
		start(t, e, "r1")
		ctx, cancel := context.WithCancel(t.Context())
		got := watch(ctx, e, &wire.Cursor{})
		synctest.Wait()
		stop := work(t, e)
		pass(2 * time.Second)
		live := moving(got())
		other := newEngine(t, b, config(spooltest.NewModel())) // which reads the store, and not the hub
		again := moving(collect(t, other, &wire.Cursor{Seq: 1, Stream: "r1:1"}))
		if len(live) < 4 || !slices.Equal(live[1:], again) {
			t.Errorf("live:\n%s\nread later:\n%s", text(live), text(again))
		}
		cancel()
		stop()
	})
}

// A worker that stops after a call has parked knows the call's outcome: the next worker asks the tool's
// question, and not whether to repeat the call.
func TestShutdownBehindAParkKeepsItsQuestion(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := memory.New(nil)
		ask := toolOf("ask", func(context.Context, spool.ToolCall) (json.RawMessage, error) {
			return nil, spool.ParkFor("question", "how many?", 0)
		})
		slow := toolOf("slow", func(ctx context.Context, _ spool.ToolCall) (json.RawMessage, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		slow.Idempotent = true
		m := spooltest.NewReplayModel(
			spooltest.Use(spooltest.Call{ID: "c1", Name: "ask"}, spooltest.Call{ID: "c2", Name: "slow"}), spooltest.Say("done"),
		)
		e := newEngine(t, b, config(m, ask, slow))
		stop := work(t, e)
		start(t, e, "r1")
		pass(time.Second)
		stop()
		slow.Call = func(context.Context, spool.ToolCall) (json.RawMessage, error) { return nil, nil }
		e = newEngine(t, b, config(m, ask, slow))
		stop = work(t, e)
		pass(5 * time.Second)
		asked := entries(t, b, wire.EntryInputRequired)
		if len(asked) != 1 || !strings.Contains(asked[0], "how many?") || strings.Contains(asked[0], "outcome_unknown") {
			t.Errorf("asked: %v", asked)
		}
		stop()
	})
}

// Two calls with the same id from the provider are two requests: each has its own answer, and both run.
func TestCallsOfEqualIDsAreAnsweredEachOnItsOwn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := memory.New(nil)
		seen := make(chan string, 3)
		send := toolOf("send", func(_ context.Context, c spool.ToolCall) (json.RawMessage, error) {
			seen <- string(c.Args)
			return c.Args, nil
		})
		send.Approval = spool.AlwaysApprove
		e := newEngine(t, b, config(spooltest.NewReplayModel(
			spooltest.Use(spooltest.Call{ID: "0", Name: "send", Args: `{"to":"a"}`},
				spooltest.Call{ID: "0", Name: "send", Args: `{"to":"b"}`}),
			spooltest.Say("done")), send))
		stop := work(t, e)
		start(t, e, "r1")
		pass(time.Second)
		var ids []spool.ToolCallID
		for _, asked := range entries(t, b, wire.EntryInputRequired) {
			var p struct{ ToolCallID spool.ToolCallID }
			if err := json.Unmarshal([]byte(asked), &p); err != nil {
				t.Fatal(err)
			}
			ids = append(ids, p.ToolCallID)
		}
		if len(ids) != 2 || ids[0] == ids[1] {
			t.Fatalf("asked for %q", ids)
		}
		approve(t, e, ids[0])
		pass(time.Second)
		if s := state(t, b); s != wire.WaitingForInput {
			t.Fatalf("after one answer of two the thread is %s", s)
		}
		approve(t, e, ids[1])
		pass(time.Second)
		close(seen)
		var ran []string
		for args := range seen {
			ran = append(ran, args)
		}
		slices.Sort(ran)
		if want := []string{`{"to":"a"}`, `{"to":"b"}`}; !slices.Equal(ran, want) || state(t, b) != wire.Completed {
			t.Errorf("%s, and these ran: %q", state(t, b), ran)
		}
		stop()
	})
}

// The expiry of a park that is long resolved does not cut short a failed step's wait.
func TestExpiryDoesNotCutABackoffShort(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var asked []time.Time
		m := spooltest.NewModelFunc(func(context.Context, spool.ModelRequest) spooltest.Turn {
			asked = append(asked, time.Now())
			if len(asked) == 1 {
				return spooltest.Use(spooltest.Call{ID: "c1", Name: "send"}, spooltest.Call{ID: "c2", Name: "send"})
			}
			return spooltest.Turn{Err: &spool.ModelError{Status: 503, Message: "busy"}}
		})
		c := config(m, sendTool())
		c.ParkTTL, c.Retry.Backoff, c.Retry.BackoffMax = time.Minute, 5*time.Minute, 5*time.Minute
		e := newEngine(t, memory.New(nil), c)
		stop := work(t, e)
		start(t, e, "r1")
		pass(time.Hour)
		if len(asked) < 3 {
			t.Fatal(asked)
		}
		if d := asked[2].Sub(asked[1]); d < 5*time.Minute {
			t.Errorf("the second attempt came %s after the first", d)
		}
		stop()
	})
}
