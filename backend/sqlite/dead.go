package sqlite

import (
	"context"

	"github.com/spoolhq/spool"
)

const deadColumns = jobColumns + ", id, attempts, cause, died_at"

func scanDead(r *row) spool.DeadJob {
	return spool.DeadJob{
		Job: scanJob(r), JobID: r.int64(), Attempts: r.int(), Cause: r.text(), DiedAt: r.time(),
	}
}

// DeadLetter implements [spool.Queue].
func (db *DB) DeadLetter(ctx context.Context, d spool.Delivery, cause string) error {
	return db.queue(ctx, func(t *tx) error {
		err := t.fenced("INSERT INTO job_dead ("+deadColumns+`, ord)
			SELECT `+jobColumns+`, id, attempts, ?, ?,
				coalesce((SELECT ord FROM job_dead WHERE tenant = ? ORDER BY ord DESC LIMIT 1), 0) + 1
			FROM job WHERE id = ? AND token = ? AND tenant = ?`,
			cause, t.now, d.Tenant, d.JobID, d.Token, d.Tenant)
		if err != nil {
			return err
		}
		return t.write("DELETE FROM job WHERE id = ?", d.JobID)
	})
}

// Dead implements [spool.Queue].
func (db *DB) Dead(ctx context.Context, tenant spool.Tenant, q spool.DeadQuery) ([]spool.DeadJob, error) {
	dead := []spool.DeadJob{}
	query, args := deadQuery(deadColumns, tenant, q)
	err := db.pool.read(ctx, func(c *conn) error {
		return c.query(query, func(r *row) error {
			dead = append(dead, scanDead(r))
			return nil
		}, args...)
	})
	return dead, err
}

// Purge implements [spool.Queue].
func (db *DB) Purge(ctx context.Context, tenant spool.Tenant, q spool.DeadQuery) (n int, err error) {
	query, args := deadQuery("ord", tenant, q)
	err = db.queue(ctx, func(t *tx) error {
		gone, err := t.change("DELETE FROM job_dead WHERE tenant = ? AND ord IN ("+query+")", append([]any{tenant}, args...)...)
		n = int(gone)
		return err
	})
	return n, err
}

func deadQuery(columns string, tenant spool.Tenant, q spool.DeadQuery) (query string, args []any) {
	query = "SELECT " + columns + " FROM job_dead INDEXED BY job_dead_died WHERE tenant = ?"
	if q.JobID != 0 {
		query = "SELECT " + columns + " FROM job_dead INDEXED BY job_dead_id WHERE id = ? AND tenant = ?"
		args = append(args, q.JobID)
	}
	args = append(args, tenant)
	if !q.Before.IsZero() {
		query += " AND (died_at, id) < (?, ?)"
		args = append(args, q.Before, q.BeforeID)
	}
	if !q.DiedBefore.IsZero() {
		query += " AND died_at < ?"
		args = append(args, roundedUp(q.DiedBefore))
	}
	return query + " ORDER BY died_at DESC, id DESC LIMIT ?", append(args, bound(q.Limit))
}

// TakeDead implements [spool.Tx].
func (t *tx) TakeDead(jobID int64) (dead spool.DeadJob, err error) {
	found := false
	err = t.query("SELECT "+deadColumns+" FROM job_dead WHERE tenant = ? AND thread_id = ? AND id = ?",
		func(r *row) error {
			dead, found = scanDead(r), true
			return nil
		}, t.key.Tenant, t.key.ID, jobID)
	switch {
	case err != nil:
		return dead, err
	case !found:
		return dead, errNoDeadJob
	}
	return dead, t.write("DELETE FROM job_dead WHERE tenant = ? AND id = ?", t.key.Tenant, jobID)
}

// AddDead implements [spool.Tx].
func (t *tx) AddDead(j spool.Job, attempts int, cause string) error {
	due := j.DueAt
	if due.IsZero() {
		due = t.now
	}
	return t.write("INSERT INTO job_dead ("+deadColumns+`, ord)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
			coalesce((SELECT ord FROM job_dead WHERE tenant = ? ORDER BY ord DESC LIMIT 1), 0) + 1)`,
		t.key.Tenant, t.key.ID, j.RunID, j.Key, string(j.Kind), j.Agent, j.Model, j.Segment, due,
		spool.NewJobID(), attempts, cause, t.now, t.key.Tenant)
}

var errNoDeadJob = &spool.Error{Code: spool.NotFound, Message: "dead job not found"}
