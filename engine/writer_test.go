package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// Readers get items whose append failed later, or in a snapshot.
func TestItemsOfAFailedAppendReachReaders(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		f := spooltest.NewFaulty(memory.New(nil))
		f.Plan(spooltest.Fault{On: "Live.Append", Call: 2, Kind: spooltest.FailBefore})
		e := newEngine(t, f.Backend(), config(spooltest.NewModel(spooltest.Turn{
			Text: []string{"hello ", "world"}, Gate: gate,
		})))
		stop := work(t, e)
		start(t, e, "r1")
		ctx, cancel := context.WithCancel(t.Context())
		got := watch(ctx, e, &wire.Cursor{})
		pass(time.Second)
		close(gate)
		pass(5 * time.Second)
		if l := got(); !has(l, "world") && !has(l, "snapshot") {
			t.Errorf("neither the text nor a snapshot:\n%s", text(l))
		}
		cancel()
		stop()
	})
}

// A stop ends a run whose stream store does not answer.
func TestStopEndsARunWhoseStreamsHang(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		b := memory.New(nil)
		b.Live = hookLive{Live: b.Live, onAppend: func(ctx context.Context, _ []wire.Item) error {
			select {
			case <-hang:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}}
		e := newEngine(t, b, config(spooltest.NewModel(spooltest.Say("x"))))
		stop := work(t, e)
		start(t, e, "r1")
		pass(time.Second)
		r, err := e.Stop(t.Context(), key)
		pass(time.Hour)
		if s := state(t, b); s.Active() {
			t.Errorf("an hour after the stop (%+v, %v) the run is %s", r, err, s)
		}
		close(hang)
		stop()
	})
}

// Readers get the end or a snapshot of a run whose end was saved with an unknown outcome. They never get
// a lost segment, for which they would drop the text.
func TestUnknownOutcomeOfTheEndIsNotToldAsLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := memory.New(nil)
		store := &hookStore{Store: b.Store}
		b.Store = store
		e := newEngine(t, b, config(spooltest.NewModel(spooltest.Turn{
			Text: []string{"hello"},
			Before: func(context.Context) error {
				store.after(func() error { return errNobodyKnows })
				return nil
			},
		})))
		stop := work(t, e)
		start(t, e, "r1")
		got := collect(t, e, &wire.Cursor{})
		if !has(got, "=RUN_ENDED finished") && !has(got, "snapshot") || has(got, "RUN_ERROR lost") {
			t.Errorf("the run is %s, and told as:\n%s", state(t, b), text(got))
		}
		stop()
	})
}
