package thread

import (
	"time"

	"github.com/spoolhq/spool"
)

// ticket returns a job for the run's next segment.
func (tx *Tx) ticket(kind spool.JobKind, after time.Duration) spool.Job {
	j := tx.jobOf(tx.Run, kind, after)
	j.Segment = tx.Run.Segments + 1
	j.Key = "run:" + string(spool.NewStreamID(tx.Run.ID, j.Segment))
	return j
}

func (tx *Tx) jobOf(run spool.RunRow, kind spool.JobKind, after time.Duration) spool.Job {
	j := spool.Job{
		Tenant: tx.Thread.Tenant, ThreadID: tx.Thread.ID, RunID: run.ID, Model: run.Model, Agent: run.Agent, Kind: kind,
		Subject: run.StartedBy, Queue: tx.QueueOf(run.Agent),
	}
	if after > 0 {
		j.DueAt = tx.Now.Add(after)
	}
	return j
}

// settleJob returns the job that calls a run's settle hook.
func (tx *Tx) settleJob(run spool.RunRow, after time.Duration) spool.Job {
	j := tx.jobOf(run, spool.JobSettle, after)
	j.Key = "settle:" + string(run.ID)
	return j
}
