package postgres

import (
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// jobColumns are the columns of a [wire.Job] in the tables job and job_dead, without when it is due.
const jobColumns = `tenant, thread_id, run_id, key, kind, agent, model, segment, subject, queue, payload`

func scanJob(r *row) wire.Job {
	return wire.Job{
		Tenant: spool.Tenant(r.Text()), ThreadID: spool.ThreadID(r.Text()), RunID: spool.RunID(r.Text()),
		Key: r.Text(), Kind: wire.JobKind(r.Text()), Agent: r.Text(), Model: r.Text(), Segment: r.Int(),
		Subject: r.Text(), Queue: r.Text(), Payload: r.JSON(),
	}
}

// jobArgs returns the values of jobColumns for a job of a transaction. The thread of the transaction replaces
// that of the job, unless the transaction has none.
func jobArgs(key spool.ThreadKey, j *wire.Job) []any {
	thread := key.ID
	if thread == "" {
		thread = j.ThreadID
	}
	return []any{
		key.Tenant, thread, j.RunID, j.Key, string(j.Kind), j.Agent, j.Model, j.Segment, j.Subject, j.Queue, j.Payload,
	}
}

// dueAt returns when a job of a transaction is due.
func dueAt(j *wire.Job, now time.Time) time.Time {
	if j.DueAt.IsZero() {
		return now
	}
	return j.DueAt
}

// writeJobs makes the changes of the fields from CancelJobs to Dead.
func writeJobs(t *tx, c *store.Changes) error {
	if len(c.CancelJobs) > 0 {
		keys := make([]string, len(c.CancelJobs))
		for i, key := range c.CancelJobs {
			keys[i] = clean(key)
		}
		t.write("DELETE FROM spool.job WHERE tenant = ? AND key = ANY (?) AND key <> ''", t.key.Tenant, keys)
	}
	for i := range c.Jobs {
		j := &c.Jobs[i]
		due := dueAt(j, t.now)
		t.write(insertJob, append(jobArgs(t.key, j), wire.NewJobID(), due, due, false, 0, 0)...)
		if t.key.ID != "" && !j.Event() && !due.After(t.now) {
			ticket := *j
			ticket.Tenant, ticket.ThreadID, ticket.DueAt = t.key.Tenant, t.key.ID, due
			t.tickets = append(t.tickets, ticket)
		}
	}
	for i := range c.Claimed {
		j := &c.Claimed[i]
		d := j.Delivery()
		t.write(insertJob, append(jobArgs(t.key, &j.Job), d.JobID, t.now.Add(j.Lease), dueAt(&j.Job, t.now), true, d.Token,
			d.Attempt)...)
	}
	for _, id := range c.TakeDead {
		t.writeOne(errNoDeadJob, "DELETE FROM spool.job_dead WHERE tenant = ? AND id = ? AND thread_id = ?", t.key.Tenant, id,
			t.key.ID)
	}
	for i := range c.Dead {
		d := &c.Dead[i]
		t.write(insertDead, append(jobArgs(t.key, &d.Job), wire.NewJobID(), dueAt(&d.Job, t.now), d.Attempts, d.Cause,
			t.now)...)
	}
	return nil
}

// insertJob adds a job, unless the tenant has one with the same key. Two processes may make the same id: then
// the transaction has collided, and is tried again.
const insertJob = "INSERT INTO spool.job (" + jobColumns + `, id, due_at, first_due, claimed, token, attempts)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (tenant, key) WHERE key <> '' DO NOTHING`

const insertDead = "INSERT INTO spool.job_dead (" + jobColumns + `, id, due_at, attempts, cause, died_at)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

var errNoDeadJob = &spool.Error{Code: spool.NotFound, Message: "Dead job not found"}
