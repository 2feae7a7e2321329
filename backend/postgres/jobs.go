package postgres

import (
	"context"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/internal/form"
)

// Jobs implements [spool.Store].
func (db *DB) Jobs(ctx context.Context, q spool.JobQuery) ([]spool.QueuedJob, error) {
	jobs := []spool.QueuedJob{}
	if q.State == spool.JobDead {
		query, args := deadQuery(q)
		return jobs, db.read(ctx, query, each(&jobs, scanDead), args...)
	}
	query, args := db.jobQuery(q)
	return jobs, db.read(ctx, query, each(&jobs, scanQueued), args...)
}

// conditions are those of a WHERE clause.
type conditions struct {
	text string
	args []any
}

// and adds a condition. The first one has no AND before it.
func (c *conditions) and(condition string, args ...any) {
	if c.text != "" {
		c.text += " AND "
	}
	c.text += condition
	c.args = append(c.args, args...)
}

// jobQuery returns the query for jobs that are not dead.
func (db *DB) jobQuery(q spool.JobQuery) (query string, args []any) {
	const now = "(SELECT now FROM clock)"
	where := conditions{args: []any{db.clockArg()}}
	where.and("tenant = ?", q.Tenant)
	if q.ThreadID != "" {
		where.and("thread_id = ?", q.ThreadID)
	}
	if q.JobID != 0 {
		where.and("id = ?", q.JobID)
	}
	switch q.State {
	case "":
	case spool.JobReady:
		where.and("due_at <= " + now)
	default:
		where.and("due_at > "+now+" AND claimed = ?", q.State == spool.JobInFlight)
	}
	if !q.DueBefore.IsZero() {
		where.and("first_due < ?", form.RoundedUp(q.DueBefore))
	}
	return "WITH clock AS MATERIALIZED (SELECT " + nowExpr + " AS now) SELECT " + jobColumns +
		", due_at, id, attempts, first_due, claimed, " + now + " FROM spool.job WHERE " + where.text +
		" ORDER BY first_due, id LIMIT ?", append(where.args, bound(q.Limit))
}

func scanQueued(r *row) spool.QueuedJob {
	j := spool.QueuedJob{Job: scanJob(r)}
	j.DueAt, j.JobID, j.Attempts, j.FirstDue = r.Time(), r.Int64(), r.Int(), r.Time()
	j.State = jobState(j.DueAt, r.Bool(), r.Time())
	return j
}

// jobState returns the state of a job. A claim that has lapsed leaves it ready.
func jobState(due time.Time, claimed bool, now time.Time) spool.JobState {
	switch {
	case !due.After(now):
		return spool.JobReady
	case claimed:
		return spool.JobInFlight
	default:
		return spool.JobDelayed
	}
}

// deadQuery returns the query for dead jobs.
func deadQuery(q spool.JobQuery) (query string, args []any) {
	var where conditions
	where.and("tenant = ?", q.Tenant)
	if q.ThreadID != "" {
		where.and("thread_id = ?", q.ThreadID)
	}
	if q.JobID != 0 {
		where.and("id = ?", q.JobID)
	}
	if !q.Before.IsZero() {
		where.and("(died_at, id) < (?, ?)", q.Before, q.BeforeID)
	}
	if !q.DiedBefore.IsZero() {
		where.and("died_at < ?", form.RoundedUp(q.DiedBefore))
	}
	return "SELECT " + jobColumns + ", due_at, id, attempts, cause, died_at FROM spool.job_dead WHERE " + where.text +
		" ORDER BY died_at DESC, id DESC LIMIT ?", append(where.args, bound(q.Limit))
}

func scanDead(r *row) spool.QueuedJob {
	j := spool.QueuedJob{Job: scanJob(r), State: spool.JobDead}
	j.DueAt, j.JobID, j.Attempts, j.Cause, j.DiedAt = r.Time(), r.Int64(), r.Int(), r.Text(), r.Time()
	return j
}

// pruneDead removes dead jobs of a tenant, those that died first, and returns how many.
func (db *DB) pruneDead(ctx context.Context, q spool.PruneQuery) (n int, err error) {
	var where conditions
	where.and("tenant = ?", q.Tenant)
	if q.JobID != 0 {
		where.and("id = ?", q.JobID)
	}
	if !q.Before.IsZero() {
		where.and("died_at < ?", form.RoundedUp(q.Before))
	}
	err = db.run(ctx, statement{
		sql: `WITH gone AS (DELETE FROM spool.job_dead WHERE (tenant, id) IN (
				SELECT tenant, id FROM spool.job_dead WHERE ` + where.text + ` ORDER BY died_at, id LIMIT ?
			) RETURNING 1) SELECT count(*) FROM gone`,
		args: append(where.args, bound(q.Limit)),
		scan: func(r *row) { n = r.Int() },
	})
	return n, err
}
