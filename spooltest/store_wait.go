package spooltest

import (
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// testStoreWaitingRuns queues runs after an active one. Waiting runs are not active. They are returned
// by position, not by arrival, and the next one can have the thread only after the previous one has
// ended.
func testStoreWaitingRuns(s *storeTest) {
	key := thread("t")
	s.queued(key, "r")
	waiting := func(id spool.RunID, place int64) store.RunRow {
		return store.RunRow{
			Run: wire.Run{
				Tenant: key.Tenant, ID: id, ThreadID: key.ID, State: wire.Queued, QueuePosition: place, CreatedAt: s.clock.Now(),
			},
			RunState: store.RunState{Wait: &store.Wait{WhenBusy: spool.BusyEnqueue, Content: spool.TextContent(string(id))}},
		}
	}
	a, b, c := waiting("a", 1), waiting("b", 1<<40), waiting("c", 7)
	line := func(v store.View, want string) {
		s.Helper()
		runs, err := v.Runs(wire.RunQuery{Waiting: true, Whole: true})
		if err != nil {
			s.Error(err)
		}
		s.same("the line", compare.Joined(runs, func(r store.RunRow) spool.RunID { return r.ID }), want)
	}
	s.write(key, func(tx store.Tx) error {
		line(tx, "")
		err := tx.Write(store.Changes{NewRuns: []store.RunRow{b, c, a}})
		line(tx, "acb")
		return err
	})
	s.read(key, func(v store.View) error {
		line(v, "acb")
		runs, err := v.Runs(wire.RunQuery{Waiting: true, Whole: true})
		s.same("what waits", runs, []store.RunRow{a, c, b})
		return err
	})
	s.read(thread("other"), func(v store.View) error {
		line(v, "")
		return nil
	})

	next := a
	next.QueuePosition = 0
	s.refuses("the next while one is active", key, store.ErrActiveRun, store.Changes{Runs: []store.RunRow{next}})
	s.write(key, func(tx store.Tx) error {
		first, err := store.FindRun(tx, "r")
		first.State = wire.Completed
		gone := c
		gone.State, gone.QueuePosition = wire.Cancelled, 0
		err = errors.Join(err, tx.Write(store.Changes{Runs: []store.RunRow{first, next, gone}}))
		line(tx, "b")
		return err
	})
	s.refuses("a new run while the next is active", key, store.ErrActiveRun, store.Changes{
		NewRuns: []store.RunRow{{Run: wire.Run{ID: "d", State: wire.Queued}}},
	})
	s.write(key, func(tx store.Tx) error { return tx.Write(store.Changes{DeleteThread: true}) })
	s.read(key, func(v store.View) error {
		line(v, "")
		return nil
	})
}
