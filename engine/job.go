package engine

import (
	"context"

	"github.com/spoolhq/spool"
)

// JobResult says what became of a job.
type JobResult = spool.JobResult

// HandleJob carries out a job: it picks the run up and advances it until it ends, parks,
// fails an attempt, or ctx ends. When ctx ends the segment stops at once and the run is
// handed back to the queue by a new ticket, which costs no attempt.
//
// Any number of workers may handle the same job, at once or later: one advances the
// run, the others do nothing. HandleJob returns [spool.ErrUnknownAgent] for a run that
// would go on with an agent that this process lacks, and any other error when the store
// failed or the lease was lost; the job should then be kept.
func (e *Engine) HandleJob(ctx context.Context, j spool.Job) (JobResult, error) {
	return e.runner.HandleJob(ctx, j, nil)
}
