package engine

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// HandleJob executes a job: it claims the run and executes it until the run ends, parks, fails an
// attempt, or ctx ends. When ctx ends, the segment stops at once, and a new job gives the run back to
// the queue, which costs no attempt.
//
// Any number of workers may handle the same job, at once or later: one executes the run, the others do
// nothing. HandleJob returns [wire.ErrUnknownAgent] if this process lacks the run's agent, and an
// [spool.Invalid] error for an event of the outbox, which is for [WorkOptions.Events]. It returns
// any other error if the store failed or the lease was lost. The queue should keep a job whose handling
// returned an error.
func (e *Engine) HandleJob(ctx context.Context, j wire.Job) (wire.JobResult, error) {
	if j.Payload != nil {
		return wire.JobResult{}, spool.Errorf(spool.Invalid, "payload: the job is an event, and has no run to execute")
	}
	return e.runner.HandleJob(ctx, j, nil)
}
