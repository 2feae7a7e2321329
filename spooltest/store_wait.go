package spooltest

import (
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/compare"
)

// testStoreWaitingRuns queues runs after an active one. Waiting runs are not active. They are returned
// by position, not by arrival, and the next one can have the thread only after the previous one has
// ended.
func testStoreWaitingRuns(s *storeTest) {
	key := thread("t")
	s.queued(key, "r")
	waiting := func(id spool.RunID, place int64) spool.RunRow {
		return spool.RunRow{
			Run:      spool.Run{Tenant: key.Tenant, ID: id, ThreadID: key.ID, State: spool.Queued, QueuePosition: place, CreatedAt: s.clock.Now()},
			RunState: spool.RunState{Wait: &spool.Wait{WhenBusy: spool.BusyEnqueue, Content: spool.TextContent(string(id))}},
		}
	}
	a, b, c := waiting("a", 1), waiting("b", 1<<40), waiting("c", 7)
	line := func(v spool.View, want string) {
		s.Helper()
		runs, err := v.Runs(spool.RunQuery{Waiting: true, Whole: true})
		if err != nil {
			s.Error(err)
		}
		s.same("the line", compare.Joined(runs, func(r spool.RunRow) spool.RunID { return r.ID }), want)
	}
	s.write(key, func(tx spool.Tx) error {
		line(tx, "")
		err := tx.Write(spool.Changes{NewRuns: []spool.RunRow{b, c, a}})
		line(tx, "acb")
		return err
	})
	s.read(key, func(v spool.View) error {
		line(v, "acb")
		runs, err := v.Runs(spool.RunQuery{Waiting: true, Whole: true})
		s.same("what waits", runs, []spool.RunRow{a, c, b})
		return err
	})
	s.read(thread("other"), func(v spool.View) error {
		line(v, "")
		return nil
	})

	next := a
	next.QueuePosition = 0
	s.refuses("the next while one is active", key, spool.ErrActiveRun, spool.Changes{Runs: []spool.RunRow{next}})
	s.write(key, func(tx spool.Tx) error {
		first, err := spool.FindRun(tx, "r")
		first.State = spool.Completed
		gone := c
		gone.State, gone.QueuePosition = spool.Cancelled, 0
		err = errors.Join(err, tx.Write(spool.Changes{Runs: []spool.RunRow{first, next, gone}}))
		line(tx, "b")
		return err
	})
	s.refuses("a new run while the next is active", key, spool.ErrActiveRun, spool.Changes{
		NewRuns: []spool.RunRow{{Run: spool.Run{ID: "d", State: spool.Queued}}},
	})
	s.write(key, func(tx spool.Tx) error { return tx.Write(spool.Changes{DeleteThread: true}) })
	s.read(key, func(v spool.View) error {
		line(v, "")
		return nil
	})
}
