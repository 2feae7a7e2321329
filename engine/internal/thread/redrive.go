package thread

import (
	"cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Redrive continues the work of a dead job. It returns the run that continues: for a settlement the
// job's own run, otherwise a new run with the id fresh. It returns a [RefusedError] if nothing is left
// to do. The transaction fails with a [spool.NotFound] error if the job is not dead any more, and its
// caller passes other errors of the transaction to [Refusal].
func Redrive(tx *Tx, dead wire.QueuedJob, fresh spool.RunID) (moved spool.RunID, err error) {
	defer func() {
		if err == nil {
			tx.note(wire.AuditEntry{Action: wire.AuditRedrive, RunID: moved, JobID: dead.JobID})
		}
	}()
	if err := tx.Write(store.Changes{TakeDead: []int64{dead.JobID}}); err != nil {
		return "", err
	}
	run, err := store.FindRun(tx.Store, dead.RunID)
	if err != nil {
		return "", err
	}
	if dead.Kind == wire.JobCancel {
		return "", Refuse(wire.ReasonMovedOn, "The work of a call is cancelled only once")
	}
	if dead.Kind == wire.JobSettle {
		return run.ID, requeueSettle(tx, run, dead.Job)
	}
	return fresh, startSuccessor(tx, run, fresh)
}

// requeueSettle queues the settlement of a run again.
func requeueSettle(tx *Tx, run store.RunRow, j wire.Job) error {
	if !tx.Settles || !run.SettledAt.IsZero() || !run.State.Terminal() {
		return Refuse(wire.ReasonMovedOn, "There is nothing to settle")
	}
	again := tx.jobOf(run, wire.JobSettle, 0)
	again.Key = j.Key
	return tx.Write(store.Changes{Jobs: []wire.Job{again}})
}

// startSuccessor is the transition to QUEUED of a new run that continues a failed one.
func startSuccessor(tx *Tx, failed store.RunRow, id spool.RunID) error {
	switch {
	case tx.Thread.State.Active():
		return Refuse(wire.ReasonActiveRun, store.ErrActiveRun.Message)
	case failed.State != wire.Failed:
		return Refuse(wire.ReasonMovedOn, "The run did not fail: it is "+string(failed.State))
	case tx.Run.ID != failed.ID:
		return Refuse(wire.ReasonMovedOn, "A later run has had the thread")
	}
	if err := tx.move(wire.Queued); err != nil {
		return err
	}
	tx.Run = successor(failed, id)
	tx.Run.Nonce = tx.Random.Nonce()
	tx.Run.EnqueuedAt, tx.Run.StartedAt = tx.Now, tx.Now
	tx.ownThread()
	return tx.Write(store.Changes{
		Thread: &tx.Thread, NewRuns: []store.RunRow{tx.Run}, Jobs: []wire.Job{tx.ticket(wire.JobStart, 0)},
	})
}

// successor returns a new run with the request of a failed run.
func successor(failed store.RunRow, id spool.RunID) store.RunRow {
	next := store.RunRow{
		Run: wire.Run{
			Tenant: failed.Tenant, ID: id, ThreadID: failed.ThreadID, Agent: failed.Agent, Model: failed.Model,
			State: wire.Queued, MaxSteps: failed.MaxSteps, StartedBy: failed.StartedBy,
		},
		RunState: failed.Given(),
	}
	next.Held, next.Continues = failed.HoldsThread(), cmp.Or(failed.Continues, failed.ID)
	if o := failed.Output; o != nil && o.Schema != nil {
		next.Output = &store.RunOutput{Schema: o.Schema}
	}
	if failed.Allowance != nil {
		next.Allowance = &wire.Allowance{Budget: failed.Allowance.Budget}
	}
	return next
}
