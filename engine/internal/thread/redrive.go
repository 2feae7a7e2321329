package thread

import "github.com/spoolhq/spool"

// Redrive continues the work of a dead job. It returns the run that continues: for a settlement the
// job's own run, otherwise a new run with the id fresh. It returns a [RefusedError] if nothing is left
// to do, and a [spool.NotFound] error if no such dead job exists.
func Redrive(tx *Tx, jobID int64, fresh spool.RunID) (moved spool.RunID, err error) {
	defer func() {
		if err == nil {
			tx.note(spool.AuditEntry{Action: spool.AuditRedrive, RunID: moved, JobID: jobID})
		}
	}()
	dead, err := tx.Store.TakeDead(jobID)
	if err != nil {
		return "", err
	}
	run, err := tx.Store.Run(dead.RunID)
	if err != nil {
		return "", err
	}
	if dead.Kind == spool.JobSettle {
		return run.ID, requeueSettle(tx, run, dead.Job)
	}
	return fresh, startSuccessor(tx, run, fresh)
}

// requeueSettle queues the settlement of a run again.
func requeueSettle(tx *Tx, run spool.RunRow, j spool.Job) error {
	if !tx.Settles || !run.SettledAt.IsZero() || !run.State.Terminal() {
		return Refuse(spool.ReasonMovedOn, "There is nothing to settle")
	}
	again := tx.jobOf(run, spool.JobSettle, 0)
	again.Key = j.Key
	return tx.Store.Enqueue(again)
}

// startSuccessor is the transition to QUEUED of a new run that continues a failed one.
func startSuccessor(tx *Tx, failed spool.RunRow, id spool.RunID) error {
	switch {
	case tx.Thread.State.Active():
		return Refuse(spool.ReasonActiveRun, spool.ErrActiveRun.Message)
	case failed.State != spool.Failed:
		return Refuse(spool.ReasonMovedOn, "The run did not fail: it is "+string(failed.State))
	case tx.Run.ID != failed.ID:
		return Refuse(spool.ReasonMovedOn, "A later run has had the thread")
	}
	if err := tx.move(spool.Queued); err != nil {
		return err
	}
	tx.Run = successor(failed, id)
	tx.Run.Nonce = tx.Random.Nonce()
	tx.Run.EnqueuedAt, tx.Run.StartedAt = tx.Now, tx.Now
	tx.Thread.RunID, tx.Thread.Model = tx.Run.ID, tx.Run.Model
	if err := insert(tx, tx.Run); err != nil {
		return err
	}
	if err := tx.Store.PutThread(tx.Thread); err != nil {
		return err
	}
	return tx.enqueue(spool.JobStart)
}

// successor returns a new run with the request of a failed run.
func successor(failed spool.RunRow, id spool.RunID) spool.RunRow {
	next := spool.RunRow{
		Run: spool.Run{
			Tenant: failed.Tenant, ID: id, ThreadID: failed.ThreadID, Agent: failed.Agent, Model: failed.Model,
			State: spool.Queued, MaxSteps: failed.MaxSteps, StartedBy: failed.StartedBy,
		},
		RunState: failed.Given(),
	}
	if failed.Allowance != nil {
		next.Allowance = &spool.Allowance{Budget: failed.Allowance.Budget}
	}
	return next
}
