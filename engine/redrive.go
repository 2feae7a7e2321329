package engine

import (
	"context"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/change"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/thread"
)

// Redrive gets going again what died with a job. What that is depends on the job's kind.
//
// A settlement ([spool.JobSettle]) is queued again, and the settle hook of its run is called
// once more.
//
// Any other job's run has failed when the job died. A new run goes on where it ended: with
// the same agent, model, bounds and host state, behind all that the thread has, and without
// a user turn of its own. What was saved is not done again; what the failed run was doing
// when it ended is left to the model.
//
// Redrive is refused, and changes nothing, with [ReasonNotFound] where the tenant has no
// such dead job, with [ReasonActiveRun] while the thread has an active run, and with
// [ReasonMovedOn] where nothing is left to be done: the job's run did not fail, a later run
// has had the thread, or the run was settled after all. A job that was redriven is not dead
// any more; of several redrives of one job, one is accepted.
func (a *Admin) Redrive(ctx context.Context, tenant spool.Tenant, jobID int64) (RedriveResult, error) {
	result := RedriveResult{JobID: jobID}
	dead, err := a.DeadJobs(ctx, tenant, spool.DeadQuery{JobID: jobID})
	switch {
	case err != nil:
		return result, err
	case len(dead) == 0:
		result.Reason, result.Error = ReasonNotFound, "Dead job not found"
		return result, nil
	}
	if err := a.runner.CheckRoom(ctx, tenant); err != nil {
		return result, err
	}
	key := dead[0].Thread()
	result.ThreadID = key.ID
	fresh := spool.RunID(a.threads.Rules.Random.ID("run"))
	moved, err := change.Update(ctx, a.threads, key, func(tx *thread.Tx) (spool.RunID, error) { return thread.Redrive(tx, jobID, fresh) })
	var no *thread.RefusedError
	switch {
	case err == nil:
		a.threads.Bus.Wake(spool.JobsTopic, spool.WakeJobs)
		result.Accepted, result.RunID = true, moved
		return result, nil
	case errors.As(err, &no):
		result.Reason, result.Error = no.Reason, no.Text
		return result, nil
	case record.Missing(err): // somebody was faster, or the thread has gone with its jobs
		result.Reason, result.Error = ReasonNotFound, "Dead job not found"
		return result, nil
	default:
		return result, err
	}
}
