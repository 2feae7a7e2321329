package intake

import (
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/wire"
)

// ReservedWorker is a worker of this process that is reserved for a run, so that the start of the run can claim it: no
// other process has to be woken, and nothing has to be read or committed between the start and the first question
// to the model.
type ReservedWorker struct {
	// Claim is the argument of the transition that claims the run.
	Claim *thread.ClaimOnStart
	// Execute makes the worker execute the run, whose start is committed. It does not wait.
	Execute func(claimed *thread.ClaimedRun)
	// Release gives the worker up.
	Release func()
}

// reservation is the worker of one start. A worker is reserved once the run has its thread, so that a start that
// waits for its thread, or is refused, keeps no other run from a worker. A nil reservation is for a start that cannot
// know when it is committed: it has no worker.
type reservation struct {
	reserve func(ticket wire.Job) *ReservedWorker
	worker  *ReservedWorker // nil before there is one, and after it was given up or executes the run
}

// forTicket reserves a worker for the run's first ticket. A transaction that is repeated has the same worker.
func (r *reservation) forTicket(ticket wire.Job) *thread.ClaimOnStart {
	switch {
	case r == nil:
		return nil
	case r.worker == nil:
		r.worker = r.reserve(ticket)
	}
	if r.worker == nil {
		return nil
	}
	return r.worker.Claim
}

// execute executes the run, which its start has claimed.
func (r *reservation) execute(claimed *thread.ClaimedRun) {
	worker := r.worker
	r.worker = nil
	worker.Execute(claimed)
}

// release gives the worker up, unless it executes the run.
func (r *reservation) release() {
	if r.worker != nil {
		r.worker.Release()
	}
}
