package thread

import "github.com/spoolhq/spool"

// Redrive gets going again what died with a job. It returns the run that moves: the job's own for a
// settlement, else a new one with the fresh id. It returns a [RefusedError] where nothing is left to be
// done, and a [spool.NotFound] error where there is no such dead job.
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
		return run.ID, resettle(tx, run, dead.Job)
	}
	return fresh, succeed(tx, run, fresh)
}

// resettle queues the settlement of a run again.
func resettle(tx *Tx, run spool.RunRow, j spool.Job) error {
	if !tx.Settles || !run.SettledAt.IsZero() || !run.State.Terminal() {
		return Refuse(spool.ReasonMovedOn, "There is nothing to settle")
	}
	again := tx.jobOf(run, spool.JobSettle, 0)
	again.Key = j.Key
	return tx.Store.Enqueue(again)
}

// succeed is the transition to QUEUED of a new run that takes up where a failed one ended.
func succeed(tx *Tx, failed spool.RunRow, id spool.RunID) error {
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
	return tx.enqueue(spool.JobStart, 0)
}

// successor returns a run that was asked for what a failed one was.
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
