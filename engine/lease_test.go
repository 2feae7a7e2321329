package engine_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"
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

// pausedStore is the store of a process that stands still from frozen to awake.
type pausedStore struct {
	store.Store

	frozen, awake chan struct{}
}

func (p pausedStore) wait() {
	select {
	case <-p.frozen:
		<-p.awake
	default:
	}
}

func (p pausedStore) Update(ctx context.Context, k spool.ThreadKey, fence int64, fn func(store.Tx) error) error {
	p.wait()
	return p.Store.Update(context.WithoutCancel(ctx), k, fence, fn)
}

func (p pausedStore) View(ctx context.Context, k spool.ThreadKey, fn func(store.View) error) error {
	p.wait()
	return p.Store.View(ctx, k, fn)
}

// deafLive has the streams of another Live, and no wake-ups.
type deafLive struct{ store.Live }

func (deafLive) Wake(spool.ThreadKey, store.WakeKind, []byte) {}

func (deafLive) Subscribe(context.Context, spool.ThreadKey, func(store.WakeKind, []byte)) (func(), error) {
	return func() {}, nil
}

// A worker that pauses while its thread is deleted and made again with the same ids writes nothing to
// the new thread.
func TestPausedWorkerWritesNothingToAThreadMadeAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := memory.New(nil)
		paused := b
		paused.Live = deafLive{b.Live}
		store := pausedStore{b.Store, make(chan struct{}), make(chan struct{})}
		paused.Store = store
		old := newEngine(t, paused, config(spooltest.NewModel(spooltest.Turn{
			Text: []string{"old"},
			Before: func(context.Context) error {
				close(store.frozen)
				return nil
			},
		})))
		start(t, old, "r1")
		go func() { _, _ = old.HandleJob(context.Background(), ticket) }()
		pass(time.Minute)
		gate := make(chan struct{})
		e := newEngine(t, b, config(spooltest.NewModel(spooltest.Turn{Text: []string{"new"}, Gate: gate})))
		stopRun(t, e)
		deleteThread(t, e)
		start(t, e, "r1")
		stop := work(t, e)
		pass(time.Second)
		close(store.awake)
		pass(time.Second)
		close(gate)
		pass(time.Second)
		if got := answers(snapshot(t, e)); !slices.Equal(got, []string{"new"}) {
			t.Errorf("the answers are %q", got)
		}
		stop()
	})
}

// ticket is the job of the run r1.
var ticket = wire.Job{Tenant: key.Tenant, ThreadID: key.ID, RunID: "r1", Agent: "a"}

// answers returns the texts that the model has said.
func answers(snap *wire.Snapshot) (texts []string) {
	for _, m := range snap.Messages {
		if m.Role == spool.RoleAssistant {
			texts = append(texts, m.Text())
		}
	}
	return texts
}

// tick moves the clock with the bubble's time until the returned function is called.
func tick(clock *spooltest.Clock) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		const every = 100 * time.Millisecond
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				clock.Advance(every)
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// endedOnce reports an error unless the run ended once, with these answers, in the store and for a client
// that follows from the start.
func endedOnce(t *testing.T, b store.Backend, e *engine.Engine, live []string, want ...string) {
	t.Helper()
	snap := snapshot(t, e)
	if got := answers(snap); snap.Thread.State != wire.Completed || !slices.Equal(got, want) {
		t.Errorf("%s, with the answers %q", snap.Thread.State, got)
	}
	finished := 0
	for _, p := range entries(t, b, wire.EntryRunEnded) {
		if strings.Contains(p, `"finished"`) {
			finished++
		}
	}
	if finished != 1 || count(live, "=RUN_ENDED finished") != 1 || count(live, "RUN_FINISHED finished") != 1 {
		t.Errorf("the run ended %d times, and was told as:\n%s", finished, text(live))
	}
}

// When the store's clock jumps past the lease in the middle of an answer, another worker
// takes the run over, and the one before writes nothing more.
func TestClockJumpsPastTheLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock := spooltest.NewClock()
		still := tick(clock)
		b := memory.New(&memory.Options{Clock: clock})
		gate := make(chan struct{})
		old := newEngine(t, b, config(spooltest.NewModel(spooltest.Turn{Text: []string{"old"}, Gate: gate})))
		e := newEngine(t, b, config(spooltest.NewModel(spooltest.Turn{
			Text: []string{"new"},
			Before: func(context.Context) error {
				close(gate) // the one before says its end before it can know
				return nil
			},
		})))
		start(t, old, "r1")
		ctx, cancel := context.WithCancel(t.Context())
		live := watch(ctx, e, &wire.Cursor{})
		done := make(chan error, 1)
		go func() {
			_, err := old.HandleJob(context.Background(), ticket)
			done <- err
		}()
		pass(time.Second)
		clock.Advance(time.Hour)
		stop := work(t, e)
		if err := <-done; err != nil {
			t.Errorf("the worker before: %v", err)
		}
		pass(time.Minute)
		endedOnce(t, b, e, live(), "new")
		if ends := entries(t, b, wire.EntryRunEnded); len(ends) != 2 || !strings.Contains(ends[0], `"lost"`) {
			t.Errorf("the ends of segments: %v", ends)
		}
		cancel()
		stop()
		still()
	})
}

// When the store's clock jumps past the lease in the middle of a tool, the worker that takes the run
// over asks a person before it repeats the call.
func TestClockJumpsPastTheLeaseInATool(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock := spooltest.NewClock()
		still := tick(clock)
		b := memory.New(&memory.Options{Clock: clock})
		var calls atomic.Int64
		pay := toolOf("pay", func(context.Context, spool.ToolCall) (json.RawMessage, error) {
			calls.Add(1)
			<-time.After(3 * time.Second)
			return json.RawMessage(`"paid"`), nil
		})
		c := config(once("pay"), pay)
		e := newEngine(t, b, c)
		stops := []func(){work(t, e), work(t, newEngine(t, b, c))}
		start(t, e, "r1")
		ctx, cancel := context.WithCancel(t.Context())
		live := watch(ctx, e, &wire.Cursor{})
		pass(time.Second)
		clock.Advance(time.Hour)
		pass(10 * time.Second)
		if n := calls.Load(); n != 1 {
			t.Errorf("the tool was called %d times", n)
		}
		if state(t, b) == wire.WaitingForInput { // taken over before the renewal
			r, err := e.Respond(t.Context(), key, wire.Response{ToolCallID: "c1", Payload: json.RawMessage(`"paid"`)})
			if err != nil || !r.Delivered {
				t.Fatal(r, err)
			}
		}
		pass(time.Minute)
		if n := calls.Load(); n != 1 {
			t.Errorf("after the answer the tool was called %d times", n)
		}
		endedOnce(t, b, e, live(), "", "done")
		cancel()
		for _, stop := range stops {
			stop()
		}
		still()
	})
}

// When the store's clock jumps back an hour in the middle of an answer, the run and the next one go on as
// usual.
func TestClockJumpsBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock := spooltest.NewClock()
		still := tick(clock)
		b := memory.New(&memory.Options{Clock: clock})
		gate := make(chan struct{})
		m := spooltest.NewModel(spooltest.Turn{Text: []string{"one"}, Gate: gate}, spooltest.Say("two"))
		c := config(m)
		e := newEngine(t, b, c)
		stops := []func(){work(t, e), work(t, newEngine(t, b, c))}
		start(t, e, "r1")
		ctx, cancel := context.WithCancel(t.Context())
		live := watch(ctx, e, &wire.Cursor{})
		pass(time.Second)
		clock.Advance(-time.Hour)
		pass(time.Minute)
		close(gate)
		pass(time.Minute)
		endedOnce(t, b, e, live(), "one")
		start(t, e, "r2")
		pass(time.Minute)
		if got := answers(snapshot(t, e)); !slices.Equal(got, []string{"one", "two"}) || m.Asked() != 2 {
			t.Errorf("%d questions, and the answers %q", m.Asked(), got)
		}
		if again := moving(collect(t, e, &wire.Cursor{})); !slices.Equal(again, moving(live())) {
			t.Errorf("live:\n%s\nread later:\n%s", text(moving(live())), text(again))
		}
		cancel()
		for _, stop := range stops {
			stop()
		}
		still()
	})
}

// When the store's clock jumps back an hour while a call waits for its answer, the answer is accepted and
// the call made, once.
func TestClockJumpsBackWhileParked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock := spooltest.NewClock()
		still := tick(clock)
		b := memory.New(&memory.Options{Clock: clock})
		calls := 0
		send := toolOf("send", func(context.Context, spool.ToolCall) (json.RawMessage, error) {
			calls++
			return json.RawMessage(`"sent"`), nil
		})
		send.Approval = spool.AlwaysApprove
		e := newEngine(t, b, config(once("send"), send))
		stop := work(t, e)
		start(t, e, "r1")
		ctx, cancel := context.WithCancel(t.Context())
		live := watch(ctx, e, &wire.Cursor{})
		pass(time.Second)
		clock.Advance(-time.Hour)
		pass(time.Second)
		approve(t, e, "c1")
		pass(time.Minute)
		if calls != 1 {
			t.Errorf("the tool was called %d times", calls)
		}
		if snap := snapshot(t, e); snap.Thread.State != wire.Completed {
			t.Errorf("the thread is %s:\n%s", snap.Thread.State, text(live()))
		}
		if ends := entries(t, b, wire.EntryRunEnded); len(ends) != 2 {
			t.Errorf("the ends of segments: %v", ends)
		}
		cancel()
		stop()
		still()
	})
}
