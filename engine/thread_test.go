package engine_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// A reader of a thread's record sees the run's end, and ends when the thread is deleted.
func TestRecordTellsOfTheEndAndOfTheDeletion(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		e := newEngine(t, memory.New(nil), config(spooltest.NewModel(spooltest.Turn{Text: []string{"x"}, Gate: gate})))
		stop := work(t, e)
		start(t, e, "r1")
		pass(time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		var mu sync.Mutex
		var lines []string
		over := make(chan struct{})
		go func() {
			defer close(over)
			for entry, err := range e.FollowRecord(ctx, key, 0) {
				if err != nil {
					return
				}
				mu.Lock()
				lines = append(lines, line(wire.Frame{Event: &entry}))
				mu.Unlock()
			}
		}()
		pass(time.Second)
		close(gate)
		pass(5 * time.Second)
		mu.Lock()
		if !has(lines, "=STATE_CHANGE COMPLETED") {
			t.Errorf("no notice of the end:\n%s", text(lines))
		}
		mu.Unlock()
		deleteThread(t, e)
		pass(time.Minute)
		select {
		case <-over:
		default:
			t.Error("the record is followed a minute after its thread's deletion")
		}
		cancel()
		stop()
	})
}

// The ledger numbers steps from 1, as runs count them.
func TestUsageNumbersStepsFromOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := memory.New(nil)
		e := newEngine(t, b, config(spooltest.NewModel(spooltest.Turn{Text: []string{"x"}, Usage: spooltest.Tokens(1, 1)})))
		stop := work(t, e)
		start(t, e, "r1")
		pass(time.Second)
		err := b.Store.View(t.Context(), key, func(v store.View) error {
			usage, err := v.Usage(wire.UsageQuery{})
			rows := usage.Rows
			if len(rows) != 1 || rows[0].Step != 1 {
				t.Errorf("the only step is in the ledger as %+v", rows)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
		stop()
	})
}

// A worker that renews its lease does not move its thread in the list, because nothing has happened in
// the thread.
func TestRenewalLeavesUpdatedAtAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		e := newEngine(t, memory.New(nil), config(spooltest.NewModel(spooltest.Turn{Text: []string{"x"}, Gate: gate})))
		stop := work(t, e)
		start(t, e, "r1")
		updated := func() time.Time {
			t.Helper()
			threads, err := e.Threads(t.Context(), key.Tenant, wire.ThreadQuery{})
			if err != nil || len(threads) != 1 {
				t.Fatal(threads, err)
			}
			return threads[0].UpdatedAt
		}
		pass(5 * time.Second)
		before := updated()
		pass(time.Minute)
		if moved := updated().Sub(before); moved != 0 {
			t.Errorf("nothing has happened, and updatedAt moved by %s", moved)
		}
		close(gate)
		pass(time.Second)
		stop()
	})
}
