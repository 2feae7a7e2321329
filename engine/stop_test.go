package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// A step whose save had an unknown outcome when a stop came is in the messages once.
func TestStopBehindAnUnknownOutcomeSavesTheStepOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := memory.New(nil)
		store := &hookStore{Store: b.Store}
		b.Store = store
		var e *engine.Engine
		look := toolOf("look", func(context.Context, spool.ToolCall) (json.RawMessage, error) {
			store.after(func() error { // the step is saved, a stop comes, the answer is lost
				_, _ = e.Stop(context.Background(), key)
				<-time.After(time.Second)
				return errNobodyKnows
			})
			return json.RawMessage(`1`), nil
		})
		e = newEngine(t, b, config(
			spooltest.NewReplayModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "look"}), spooltest.Say("done")), look,
		))
		stop := work(t, e)
		start(t, e, "r1")
		pass(2 * time.Minute)
		snap := snapshot(t, e)
		calls := 0
		for _, m := range snap.Messages {
			calls += len(m.ToolCalls())
		}
		if calls != 1 || snap.Thread.State != wire.Cancelled {
			t.Errorf("%s: the one call is in the messages %d times; steps %d", snap.Thread.State, calls, snap.Runs[0].Steps)
		}
		stop()
	})
}

// A stop of a run whose worker died closes the run's stream, and a reader that follows since then gets
// the next run.
func TestStopOfADeadWorkersRunClosesItsStream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := memory.New(nil)
		f := spooltest.NewFaulty(b)
		c := config(spooltest.NewModel(openTurn("x"), spooltest.Say("y")))
		e := newEngine(t, f.Backend(), c)
		stop := work(t, e)
		start(t, e, "r1")
		pass(time.Second)
		die(f)
		pass(time.Second)
		stop()
		pass(time.Minute)
		e = newEngine(t, b, c)
		stopRun(t, e)
		page, err := b.Live.Read(t.Context(), store.StreamKey{Thread: key, ID: "r1:1"}, wire.Offset{}, 0)
		if err == nil && !page.Ended {
			t.Errorf("the stream of the stopped run stays open: %d items", len(page.Items))
		}
		ctx, cancel := context.WithCancel(t.Context())
		got := watch(ctx, e, &wire.Cursor{Stream: "other:1"})
		pass(5 * time.Second)
		start(t, e, "r2")
		pass(1500 * time.Millisecond)
		if !has(got(), "QUEUED") {
			t.Errorf("1.5 s after the start:\n%s", text(got()))
		}
		cancel()
	})
}

// A stop of a run whose worker died during tool calls keeps the results of the finished calls.
func TestStopOfADeadWorkersRunKeepsResults(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := memory.New(nil)
		f := spooltest.NewFaulty(b)
		pay := toolOf("pay", func(context.Context, spool.ToolCall) (json.RawMessage, error) {
			return json.RawMessage(`"paid"`), nil
		})
		slow := toolOf("slow", func(context.Context, spool.ToolCall) (json.RawMessage, error) {
			<-time.After(time.Second)
			die(f)
			<-time.After(time.Second)
			return nil, errors.New("dead")
		})
		c := config(
			spooltest.NewReplayModel(
				spooltest.Use(spooltest.Call{ID: "c1", Name: "pay"}, spooltest.Call{ID: "c2", Name: "slow"}), spooltest.Say("x"),
			),
			pay, slow,
		)
		e := newEngine(t, f.Backend(), c)
		stop := work(t, e)
		start(t, e, "r1")
		pass(5 * time.Second)
		stop()
		pass(time.Minute)
		e = newEngine(t, b, c)
		stopRun(t, e)
		stop = work(t, e)
		pass(time.Minute)
		snap := snapshot(t, e)
		paid := 0
		for _, m := range snap.Messages {
			for _, p := range m.ToolResults() {
				if string(p.Result) == `"paid"` {
					paid++
				}
			}
		}
		if paid != 1 || snap.Thread.State != wire.Cancelled {
			t.Errorf("%s: the payment is in the %d messages %d times", snap.Thread.State, len(snap.Messages), paid)
		}
		stop()
	})
}

// A run with an accepted stop ends as stopped, also if the worker that should stop it is the last one
// that may die in the step, and if its job is dead.
func TestStopOutlivesTheLastWorker(t *testing.T) {
	t.Parallel()

	for name, end := range map[string]func(t *testing.T, e *engine.Engine){
		"deaths": func(t *testing.T, e *engine.Engine) {
			t.Helper()
			<-time.After(time.Minute) // the lease lapses
			if _, err := e.HandleJob(t.Context(), wire.Job{Tenant: key.Tenant, ThreadID: key.ID, RunID: "r1"}); err != nil {
				t.Fatal(err)
			}
		},
		"dead job": func(t *testing.T, e *engine.Engine) {
			t.Helper()
			<-time.After(time.Minute)
			j := wire.Job{Tenant: key.Tenant, ThreadID: key.ID, RunID: "r1"}
			if err := e.HandleDeadJob(t.Context(), j, 3, "nobody took it"); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := memory.New(nil)
				hang := toolOf("hang", func(ctx context.Context, _ spool.ToolCall) (json.RawMessage, error) {
					<-ctx.Done()
					return nil, ctx.Err()
				})
				c := config(spooltest.NewReplayModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "hang"})), hang)
				c.Retry.Deaths = 1
				f := spooltest.NewFaulty(b)
				dies := newEngine(t, f.Backend(), c)
				stop := work(t, dies)
				start(t, dies, "r1")
				<-time.After(time.Second)
				f.Plan(spooltest.Fault{Call: f.Calls() + 1, Kind: spooltest.CrashBefore})
				<-time.After(time.Second)
				e := newEngine(t, b, c)
				if r, err := e.Stop(t.Context(), key); err != nil || !r.Accepted {
					t.Fatal(r, err)
				}
				end(t, e)
				if got := snapshot(t, e).Thread.State; got != wire.Cancelled {
					t.Errorf("the stopped run is %s", got)
				}
				stop()
			})
		})
	}
}
