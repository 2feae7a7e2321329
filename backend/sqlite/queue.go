package sqlite

import (
	"context"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

const jobColumns = `tenant, thread_id, run_id, key, kind, agent, model, segment, due_at, subject, queue, payload`

func scanJob(r *row) wire.Job {
	return wire.Job{
		Tenant: spool.Tenant(r.Text()), ThreadID: spool.ThreadID(r.Text()), RunID: spool.RunID(r.Text()),
		Key: r.Text(), Kind: wire.JobKind(r.Text()), Agent: r.Text(), Model: r.Text(), Segment: r.Int(), DueAt: r.Time(),
		Subject: r.Text(), Queue: r.Text(), Payload: r.JSON(),
	}
}

// thread returns the thread that a job of the transaction is about. A transaction without a thread leaves it
// to the job.
func (t *tx) thread(j *wire.Job) spool.ThreadID {
	if t.key.ID == "" {
		return j.ThreadID
	}
	return t.key.ID
}

// due returns when a job of the transaction is due.
func (t *tx) due(j *wire.Job) time.Time {
	if j.DueAt.IsZero() {
		return t.now
	}
	return j.DueAt
}

// enqueue adds a job that waits for a worker.
func (t *tx) enqueue(j *wire.Job) error {
	return t.insertJob(store.Delivery{Job: *j, JobID: wire.NewJobID()}, t.due(j))
}

// enqueueClaimed adds a job in flight.
func (t *tx) enqueueClaimed(j *store.ClaimedJob) error {
	return t.insertJob(j.Delivery(), t.now.Add(j.Lease))
}

// insertJob adds a job, unless the tenant has one with the same key. A delivery with a token is in flight until
// the given time.
func (t *tx) insertJob(d store.Delivery, until time.Time) error {
	return t.write("INSERT INTO job ("+jobColumns+`, id, first_due, lane, claimed, token, attempts)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (tenant, key) WHERE key <> '' DO NOTHING`,
		t.key.Tenant, t.thread(&d.Job), d.RunID, d.Key, string(d.Kind), d.Agent, d.Model, d.Segment, until, d.Subject,
		d.Queue, d.Payload,
		d.JobID, t.due(&d.Job), laneOf(&d.Job), d.Token > 0, d.Token, d.Attempt)
}

// cancelJob removes the job with this key.
func (t *tx) cancelJob(key string) error {
	return t.write("DELETE FROM job WHERE tenant = ? AND key = ? AND key <> ''", t.key.Tenant, key)
}

// Ack implements [store.Store]. All but an extension end the claim: the delivery's token is invalid
// afterwards.
func (db *DB) Ack(ctx context.Context, d store.Delivery, a store.Ack) error {
	var end func(t *tx) error
	switch a.Kind {
	case store.AckDone:
		end = func(t *tx) error {
			return t.fenced("DELETE FROM job WHERE id = ? AND token = ? AND tenant = ?", d.JobID, d.Token, d.Tenant)
		}
	case store.AckExtend:
		end = func(t *tx) error {
			return t.fenced("UPDATE job SET due_at = ? WHERE id = ? AND token = ? AND tenant = ?",
				t.now.Add(a.After), d.JobID, d.Token, d.Tenant)
		}
	case store.AckRelease:
		end = func(t *tx) error {
			return t.fenced(`UPDATE job SET due_at = ?, claimed = 0, token = token + 1, attempts = attempts - ?
				WHERE id = ? AND token = ? AND tenant = ?`,
				t.now.Add(a.After), a.Refund, d.JobID, d.Token, d.Tenant)
		}
	case store.AckDead:
		end = func(t *tx) error { return t.deadLetter(d, a.Cause) }
	default:
		return spool.Errorf(spool.Invalid, "there is no acknowledgement of the kind %q", a.Kind)
	}
	return db.queue(ctx, end)
}

// Jobs implements [store.Store].
func (db *DB) Jobs(ctx context.Context, q wire.JobQuery) ([]wire.QueuedJob, error) {
	at := now(db.clock)
	query, args, scan := "", []any(nil), scanDead
	if q.State == wire.JobDead {
		query, args = deadQuery(q)
	} else {
		query, args = jobQuery(q, at)
		scan = func(r *row) wire.QueuedJob {
			j := wire.QueuedJob{Job: scanJob(r), JobID: r.Int64(), Attempts: r.Int(), FirstDue: r.Time()}
			j.State = form.JobState(j.DueAt, r.Bool(), at)
			return j
		}
	}
	jobs := []wire.QueuedJob{}
	err := db.pool.read(ctx, func(c *conn) error {
		return c.query(query, func(r *row) error {
			jobs = append(jobs, scan(r))
			return nil
		}, args...)
	})
	return jobs, err
}

// jobQuery returns the query for jobs that are not dead.
func jobQuery(q wire.JobQuery, at time.Time) (query string, args []any) {
	var index string
	switch {
	case q.JobID != 0:
		index = "NOT INDEXED" // but for the primary key
	case q.ThreadID != "" && form.NamesQueue(q) && q.Subject != "":
		index = "INDEXED BY job_named"
	case q.ThreadID != "":
		index = "INDEXED BY job_run"
	default:
		index = "INDEXED BY job_first_due"
	}
	var where form.Conditions
	where.And("tenant = ?", q.Tenant)
	where.AndJobs(q)
	switch q.State {
	case "":
	case wire.JobReady:
		where.And("due_at <= ?", at)
	default:
		where.And("due_at > ? AND claimed = ?", at, q.State == wire.JobInFlight)
	}
	where.AndFirstDue(q)
	return "SELECT " + jobColumns + ", id, attempts, first_due, claimed FROM job " + index + " WHERE " + where.Text +
		" ORDER BY first_due, id LIMIT ?", append(where.Args, bound(q.Limit))
}

// queue runs fn in a transaction without a thread.
func (db *DB) queue(ctx context.Context, fn func(t *tx) error) error {
	return db.writer.do(ctx, spool.ThreadKey{}, 0, fn)
}

// fenced runs a statement that must change a job. It returns [store.ErrFenced] if the claim was lost.
func (t *tx) fenced(query string, args ...any) error {
	n, err := t.change(query, args...)
	if err == nil && n == 0 {
		err = store.ErrFenced
	}
	return err
}
