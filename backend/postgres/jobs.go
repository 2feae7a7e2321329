package postgres

import (
	"context"

	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Jobs implements [store.Store].
func (db *DB) Jobs(ctx context.Context, q wire.JobQuery) ([]wire.QueuedJob, error) {
	jobs := []wire.QueuedJob{}
	if q.State == wire.JobDead {
		query, args := deadQuery(q)
		return jobs, db.read(ctx, query, each(&jobs, scanDead), args...)
	}
	query, args := db.jobQuery(q)
	return jobs, db.read(ctx, query, each(&jobs, scanQueued), args...)
}

// jobQuery returns the query for jobs that are not dead.
func (db *DB) jobQuery(q wire.JobQuery) (query string, args []any) {
	const now = "(SELECT now FROM clock)"
	where := form.Conditions{Args: []any{db.clockArg()}}
	where.And("tenant = ?", q.Tenant)
	where.AndJobs(q)
	switch q.State {
	case "":
	case wire.JobReady:
		where.And("due_at <= " + now)
	default:
		where.And("due_at > "+now+" AND claimed = ?", q.State == wire.JobInFlight)
	}
	where.AndFirstDue(q)
	return "WITH clock AS MATERIALIZED (SELECT " + nowExpr + " AS now) SELECT " + jobColumns +
		", due_at, id, attempts, first_due, claimed, " + now + " FROM spool.job WHERE " + where.Text +
		" ORDER BY first_due, id LIMIT ?", append(where.Args, bound(q.Limit))
}

func scanQueued(r *row) wire.QueuedJob {
	j := wire.QueuedJob{Job: scanJob(r)}
	j.DueAt, j.JobID, j.Attempts, j.FirstDue = r.Time(), r.Int64(), r.Int(), r.Time()
	j.State = form.JobState(j.DueAt, r.Bool(), r.Time())
	return j
}

// deadQuery returns the query for dead jobs.
func deadQuery(q wire.JobQuery) (query string, args []any) {
	where := form.DeadConditions(q)
	return "SELECT " + jobColumns + ", due_at, id, attempts, cause, died_at FROM spool.job_dead WHERE " + where.Text +
		" ORDER BY died_at DESC, id DESC LIMIT ?", append(where.Args, bound(q.Limit))
}

func scanDead(r *row) wire.QueuedJob {
	j := wire.QueuedJob{Job: scanJob(r), State: wire.JobDead}
	j.DueAt, j.JobID, j.Attempts, j.Cause, j.DiedAt = r.Time(), r.Int64(), r.Int(), r.Text(), r.Time()
	return j
}

// pruneDead removes dead jobs of a tenant, those that died first, and returns how many.
func (db *DB) pruneDead(ctx context.Context, q store.PruneQuery) (n int, err error) {
	var where form.Conditions
	where.And("tenant = ?", q.Tenant)
	if q.JobID != 0 {
		where.And("id = ?", q.JobID)
	}
	if !q.Before.IsZero() {
		where.And("died_at < ?", form.RoundedUp(q.Before))
	}
	err = db.run(ctx, statement{
		sql: `WITH gone AS (DELETE FROM spool.job_dead WHERE (tenant, id) IN (
				SELECT tenant, id FROM spool.job_dead WHERE ` + where.Text + ` ORDER BY died_at, id LIMIT ?
			) RETURNING 1) SELECT count(*) FROM gone`,
		args: append(where.Args, bound(q.Limit)),
		scan: func(r *row) { n = r.Int() },
	})
	return n, err
}
