package thread

import (
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/budget"
	"github.com/spoolhq/spool/wire"
)

// move changes the state of the thread and its run. It returns an error if the state table does not
// allow the change.
func (tx *Tx) move(to wire.State) error {
	if !tx.Thread.State.CanBecome(to) {
		return spool.Errorf(spool.Internal, "thread %s cannot go from %s to %s", tx.Thread.Key(), tx.Thread.State, to)
	}
	tx.Thread.State, tx.Run.State = to, to
	return nil
}

// lease leases the thread to a worker and fences off the previous worker.
func (tx *Tx) lease() {
	tx.Thread.Fence++
	tx.Thread.LeaseUntil = tx.Now.Add(tx.Lease)
}

// release gives up the lease.
func (tx *Tx) release() {
	tx.Thread.LeaseUntil = time.Time{}
	tx.stopClock(tx.Now)
}

// startClock starts counting wall time.
func (tx *Tx) startClock() {
	tx.Run.WorkerSince = tx.Now
	if a := tx.Run.Allowance; a != nil {
		a.Since = tx.Now
	}
}

// stopClock counts the wall time until at.
func (tx *Tx) stopClock(at time.Time) {
	tx.Run.WallTime, tx.Run.WorkerSince = tx.Run.WallTimeAt(at), time.Time{}
	if a := tx.Run.Allowance; a != nil {
		a.Spent.WallTime = budget.WallTime(a, at)
		a.Since = time.Time{}
	}
}
