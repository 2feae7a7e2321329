package thread

import (
	"time"

	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// ticket returns a job for the run's next segment.
func (tx *Tx) ticket(kind wire.JobKind, after time.Duration) wire.Job {
	j := tx.jobOf(tx.Run, kind, after)
	j.Segment = tx.Run.Segments + 1
	j.Key = "run:" + string(wire.NewStreamID(tx.Run.ID, j.Segment))
	return j
}

func (tx *Tx) jobOf(run store.RunRow, kind wire.JobKind, after time.Duration) wire.Job {
	j := wire.Job{
		Tenant: tx.Thread.Tenant, ThreadID: tx.Thread.ID, RunID: run.ID, Model: run.Model, Agent: run.Agent, Kind: kind,
		Subject: run.StartedBy, Queue: tx.QueueOf(run.Agent),
	}
	if after > 0 {
		j.DueAt = tx.Now.Add(after)
	}
	return j
}

// settleJob returns the job that calls a run's settle hook.
func (tx *Tx) settleJob(run store.RunRow, after time.Duration) wire.Job {
	j := tx.jobOf(run, wire.JobSettle, after)
	j.Key = "settle:" + string(run.ID)
	return j
}
