package sqlite

import (
	"context"
	"time"

	"github.com/spoolhq/spool"
)

const jobColumns = `tenant, thread_id, run_id, key, kind, agent, model, segment, due_at`

func scanJob(r *row) spool.Job {
	return spool.Job{
		Tenant: spool.Tenant(r.text()), ThreadID: spool.ThreadID(r.text()), RunID: spool.RunID(r.text()),
		Key: r.text(), Kind: spool.JobKind(r.text()), Agent: r.text(), Model: r.text(), Segment: r.int(), DueAt: r.time(),
	}
}

// Enqueue implements [spool.Tx].
func (t *tx) Enqueue(j spool.Job) error {
	due := j.DueAt
	if due.IsZero() {
		due = t.now
	}
	return t.write("INSERT INTO job ("+jobColumns+`, id, first_due, claimed, token, attempts)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0) ON CONFLICT (tenant, key) WHERE key <> '' DO NOTHING`,
		t.key.Tenant, t.key.ID, j.RunID, j.Key, string(j.Kind), j.Agent, j.Model, j.Segment, due, spool.NewJobID(), due)
}

// CancelJob implements [spool.Tx].
func (t *tx) CancelJob(key string) error {
	return t.write("DELETE FROM job WHERE tenant = ? AND key = ? AND key <> ''", t.key.Tenant, key)
}

// Extend implements [spool.Queue].
func (db *DB) Extend(ctx context.Context, d spool.Delivery, lease time.Duration) error {
	return db.queue(ctx, func(t *tx) error {
		return t.fenced("UPDATE job SET due_at = ? WHERE id = ? AND token = ? AND tenant = ?",
			t.now.Add(lease), d.JobID, d.Token, d.Tenant)
	})
}

// Ack implements [spool.Queue].
func (db *DB) Ack(ctx context.Context, d spool.Delivery) error {
	return db.queue(ctx, func(t *tx) error {
		return t.fenced("DELETE FROM job WHERE id = ? AND token = ? AND tenant = ?", d.JobID, d.Token, d.Tenant)
	})
}

// Release implements [spool.Queue]. It ends the claim: the delivery's token is invalid afterwards.
func (db *DB) Release(ctx context.Context, d spool.Delivery, after time.Duration, refund bool) error {
	return db.queue(ctx, func(t *tx) error {
		return t.fenced(`UPDATE job SET due_at = ?, claimed = 0, token = token + 1, attempts = attempts - ?
			WHERE id = ? AND token = ? AND tenant = ?`,
			t.now.Add(after), refund, d.JobID, d.Token, d.Tenant)
	})
}

// Jobs implements [spool.Queue].
func (db *DB) Jobs(ctx context.Context, tenant spool.Tenant, q spool.JobQuery) ([]spool.QueuedJob, error) {
	at := now(db.clock)
	query := "SELECT " + jobColumns + ", id, attempts, first_due, claimed FROM job INDEXED BY job_first_due WHERE tenant = ?"
	args := []any{tenant}
	switch q.State {
	case "":
	case spool.JobReady:
		query += " AND due_at <= ?"
		args = append(args, at)
	default:
		query += " AND due_at > ? AND claimed = ?"
		args = append(args, at, q.State == spool.JobInFlight)
	}
	if !q.DueBefore.IsZero() {
		query += " AND first_due < ?"
		args = append(args, roundedUp(q.DueBefore))
	}
	query += " ORDER BY first_due, id LIMIT ?"
	args = append(args, bound(q.Limit))
	jobs := []spool.QueuedJob{}
	err := db.pool.read(ctx, func(c *conn) error {
		return c.query(query, func(r *row) error {
			j := spool.QueuedJob{Job: scanJob(r), JobID: r.int64(), Attempts: r.int(), FirstDue: r.time()}
			j.State = jobState(j.DueAt, r.bool(), at)
			jobs = append(jobs, j)
			return nil
		}, args...)
	})
	return jobs, err
}

func jobState(due time.Time, claimed bool, at time.Time) spool.JobState {
	switch {
	case !due.After(at):
		return spool.JobReady
	case claimed:
		return spool.JobInFlight
	default:
		return spool.JobDelayed
	}
}

// Stats implements [spool.Queue]. A claimed job whose lease has lapsed is ready.
func (db *DB) Stats(ctx context.Context, tenant spool.Tenant) (s spool.QueueStats, err error) {
	at := now(db.clock)
	of, args := "", []any{at, at, at}
	if tenant != "" {
		of, args = " WHERE tenant = ?", []any{at, at, at, tenant, tenant}
	}
	err = db.starts.read(ctx, func(c *conn) error {
		return c.query(`SELECT
				count(*) FILTER (WHERE due_at <= ?),
				count(*) FILTER (WHERE due_at > ? AND claimed = 0),
				count(*) FILTER (WHERE due_at > ? AND claimed = 1),
				(SELECT count(*) FROM job_dead`+of+`),
				min(due_at)
			FROM job`+of, func(r *row) error {
			s.Ready, s.Delayed, s.InFlight, s.Dead = r.int(), r.int(), r.int(), r.int()
			if oldest := r.time(); !oldest.IsZero() && oldest.Before(at) {
				s.OldestMS = at.Sub(oldest).Milliseconds()
			}
			return nil
		}, args...)
	})
	return s, err
}

// queue runs fn in a transaction without a thread.
func (db *DB) queue(ctx context.Context, fn func(t *tx) error) error {
	return db.writer.do(ctx, spool.ThreadKey{}, 0, fn)
}

// fenced runs a statement that must change a job. It returns [spool.ErrFenced] if the claim was lost.
func (t *tx) fenced(query string, args ...any) error {
	n, err := t.change(query, args...)
	if err == nil && n == 0 {
		err = spool.ErrFenced
	}
	return err
}
