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
		runs, err := v.Waiting()
		if err != nil {
			s.Error(err)
		}
		s.same("the line", compare.Joined(runs, func(r spool.RunRow) spool.RunID { return r.ID }), want)
	}
	s.write(key, func(tx spool.Tx) error {
		line(tx, "")
		err := errors.Join(tx.InsertRun(b), tx.InsertRun(c), tx.InsertRun(a))
		line(tx, "acb")
		return err
	})
	s.read(key, func(v spool.View) error {
		line(v, "acb")
		runs, err := v.Waiting()
		s.same("what waits", runs, []spool.RunRow{a, c, b})
		return err
	})
	s.read(thread("other"), func(v spool.View) error {
		line(v, "")
		return nil
	})

	s.write(key, func(tx spool.Tx) error {
		next := a
		next.QueuePosition = 0
		s.is("UpdateRun of the next while one is active", tx.UpdateRun(next), spool.ErrActiveRun)
		first, err := tx.Run("r")
		first.State = spool.Completed
		gone := c
		gone.State, gone.QueuePosition = spool.Cancelled, 0
		err = errors.Join(err, tx.UpdateRun(first), tx.UpdateRun(next), tx.UpdateRun(gone))
		line(tx, "b")
		s.is("InsertRun while the next is active", tx.InsertRun(spool.RunRow{Run: spool.Run{ID: "d", State: spool.Queued}}), spool.ErrActiveRun)
		return err
	})
	s.write(key, func(tx spool.Tx) error { return tx.DeleteThread() })
	s.read(key, func(v spool.View) error {
		line(v, "")
		return nil
	})
}
