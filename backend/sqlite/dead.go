package sqlite

import (
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

const deadColumns = jobColumns + ", id, attempts, cause, died_at"

func scanDead(r *row) wire.QueuedJob {
	return wire.QueuedJob{
		Job: scanJob(r), JobID: r.Int64(), State: wire.JobDead, Attempts: r.Int(), Cause: r.Text(), DiedAt: r.Time(),
	}
}

// dyingColumns are the columns that a dead job has from the claimed one. due_at is then the end of the claim,
// which nobody needs any more.
var dyingColumns = strings.Replace(jobColumns, "due_at", "first_due", 1)

// deadLetter moves a claimed job to the dead ones.
func (t *tx) deadLetter(d store.Delivery, cause string) error {
	err := t.fenced("INSERT INTO job_dead ("+deadColumns+`, ord)
		SELECT `+dyingColumns+`, id, attempts, ?, ?,
			coalesce((SELECT ord FROM job_dead WHERE tenant = ? ORDER BY ord DESC LIMIT 1), 0) + 1
		FROM job WHERE id = ? AND token = ? AND tenant = ?`,
		cause, t.now, d.Tenant, d.JobID, d.Token, d.Tenant)
	if err != nil {
		return err
	}
	return t.write("DELETE FROM job WHERE id = ?", d.JobID)
}

// deadQuery returns the query for dead jobs.
func deadQuery(q wire.JobQuery) (query string, args []any) {
	index := "job_dead_died"
	switch {
	case q.JobID != 0:
		index = "job_dead_id"
	case q.ThreadID != "":
		index = "job_dead_thread"
	}
	where := form.DeadConditions(q)
	return "SELECT " + deadColumns + " FROM job_dead INDEXED BY " + index + " WHERE " + where.Text +
		" ORDER BY died_at DESC, id DESC LIMIT ?", append(where.Args, bound(q.Limit))
}

// removeDead removes a dead job of the thread.
func (t *tx) removeDead(id int64) error {
	n, err := t.change("DELETE FROM job_dead INDEXED BY job_dead_id WHERE tenant = ? AND id = ? AND thread_id = ?",
		t.key.Tenant, id, t.key.ID)
	if err == nil && n == 0 {
		err = errNoDeadJob
	}
	return err
}

// addDead adds a dead job of the thread.
func (t *tx) addDead(d *wire.QueuedJob) error {
	return t.write("INSERT INTO job_dead ("+deadColumns+`, ord)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
			coalesce((SELECT ord FROM job_dead WHERE tenant = ? ORDER BY ord DESC LIMIT 1), 0) + 1)`,
		t.key.Tenant, t.thread(&d.Job), d.RunID, d.Key, string(d.Kind), d.Agent, d.Model, d.Segment, t.due(&d.Job), d.Subject,
		d.Queue, d.Payload,
		wire.NewJobID(), d.Attempts, d.Cause, t.now, t.key.Tenant)
}

var errNoDeadJob = &spool.Error{Code: spool.NotFound, Message: "dead job not found"}
