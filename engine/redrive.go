package engine

import (
	"context"
	"errors"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/actor"
	"github.com/spoolhq/spool/engine/internal/change"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Redrive repeats the work of a dead job. What it does depends on the job's kind.
//
// A settlement ([wire.JobSettle]) is queued again: the settle hook of its run is called once more. So is
// an event of the outbox, which then belongs to no run.
//
// For any other job, the run failed when the job died. Redrive starts a new run that goes on at the
// thread's end, with the same agent, model, bounds and host state, and without a user turn. Saved steps
// are not repeated. The model decides what to do about the work that the failed run had not saved.
//
// Redrive is refused, and changes nothing, with [ReasonNotFound] if the tenant has no such dead job,
// with [ReasonActiveRun] while the thread has an active run, and with [ReasonMovedOn] if nothing is
// left to do: the job's run did not fail, a later run has used the thread, or the run is settled. A
// redriven job is not dead any more. Of several concurrent redrives of one job, one is accepted.
func (a *Admin) Redrive(ctx context.Context, tenant spool.Tenant, jobID int64) (wire.RedriveResult, error) {
	result := wire.RedriveResult{JobID: jobID}
	dead, err := a.DeadJobs(ctx, tenant, wire.JobQuery{JobID: jobID})
	switch {
	case err != nil:
		return result, err
	case len(dead) == 0:
		result.Reason, result.Error = wire.ReasonNotFound, "Dead job not found"
		return result, nil
	}
	if err := a.runner.CheckRoom(ctx, tenant); err != nil {
		return result, err
	}
	key := dead[0].Thread()
	result.ThreadID = key.ID
	var moved spool.RunID
	if dead[0].Event() {
		err = a.redriveEvent(ctx, dead[0])
	} else {
		fresh := spool.RunID(a.threads.Rules.Random.ID("run"))
		moved, err = change.Update(ctx, a.threads, key,
			func(tx *thread.Tx) (spool.RunID, error) { return thread.Redrive(tx, dead[0], fresh) })
	}
	err = thread.Refusal(err)
	var no *thread.RefusedError
	switch {
	case err == nil:
		a.threads.Live.Wake(store.JobTopic(dead[0].Job), store.WakeJobs, nil)
		result.Accepted, result.RunID = true, moved
		return result, nil
	case errors.As(err, &no):
		result.Reason, result.Error = no.Reason, no.Text
		return result, nil
	case record.Missing(err): // another redrive was faster, or the thread is deleted
		result.Reason, result.Error = wire.ReasonNotFound, "Dead job not found"
		return result, nil
	default:
		return result, err
	}
}

// redriveEvent queues a dead event again. The event need not have a thread.
func (a *Admin) redriveEvent(ctx context.Context, dead wire.QueuedJob) error {
	entry := &wire.AuditEntry{Action: wire.AuditRedrive, ThreadID: dead.ThreadID, JobID: dead.JobID}
	err := a.store.Update(ctx, dead.Thread(), 0, func(tx store.Tx) error {
		again := dead.Job
		again.DueAt = time.Time{}
		if err := tx.Write(store.Changes{Jobs: []wire.Job{again}, TakeDead: []int64{dead.JobID}}); err != nil {
			return err
		}
		return actor.Audit(ctx, tx, dead.Tenant, entry)
	})
	if err == nil {
		actor.Log(ctx, a.config.Log, entry)
	}
	return err
}
