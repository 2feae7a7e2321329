package memory

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// job is a job that is not dead.
type job struct {
	wire.Job
	id int64
	// due is the time from which the job may be claimed. For a job in flight it is the time at which
	// the lease lapses.
	due      time.Time
	inFlight bool
	// token is the token of the last claim, zero before the first claim.
	token   int64
	attempt int
	// firstDue is the time at which the job was due for the first time.
	firstDue time.Time
}

// state returns the state of the job. A job whose lease has lapsed is ready.
func (j *job) state(now time.Time) wire.JobState {
	return form.JobState(j.due, j.inFlight, now)
}

// cancelJobs removes jobs at the commit. An empty key matches no job.
func (tx *transaction) cancelJobs(c store.Changes) error {
	for _, key := range c.CancelJobs {
		named := jobKey{tx.key.Tenant, key}
		tx.outside = append(tx.outside, func(m *memory) {
			if id, ok := m.jobKeys[named]; ok {
				m.dropJob(id)
			}
		})
	}
	return nil
}

// enqueue adds jobs at the commit.
func (tx *transaction) enqueue(c store.Changes) error {
	now := tx.now
	for _, j := range c.Jobs {
		j = tx.owned(j)
		tx.outside = append(tx.outside, func(m *memory) { m.addJob(store.Delivery{Job: j, JobID: wire.NewJobID()}, now) })
	}
	for _, c := range c.Claimed {
		d, until := c.Delivery(), now.Add(c.Lease)
		d.Job = tx.owned(d.Job)
		tx.outside = append(tx.outside, func(m *memory) {
			if added := m.addJob(d, now); added != nil {
				added.inFlight, added.due = true, until
			}
		})
	}
	return nil
}

// owned returns a copy of a job with the tenant and the thread of the transaction.
func (tx *transaction) owned(j wire.Job) wire.Job {
	j.Tenant = tx.key.Tenant
	if tx.key.ID != "" {
		j.ThreadID = tx.key.ID
	}
	return cloneJob(j)
}

// addJob adds a job and returns it. It returns nil if the tenant has a job with its key. The caller must hold mu.
func (m *memory) addJob(d store.Delivery, now time.Time) *job {
	if d.Key != "" {
		if _, there := m.jobKeys[jobKey{d.Tenant, d.Key}]; there {
			return nil
		}
	}
	due := d.DueAt
	if due.IsZero() {
		due = now
	}
	added := &job{Job: d.Job, id: d.JobID, due: due, firstDue: due, token: d.Token, attempt: d.Attempt}
	m.lastToken = max(m.lastToken, d.Token)
	m.jobs[d.JobID] = added
	if d.Key != "" {
		m.jobKeys[jobKey{d.Tenant, d.Key}] = d.JobID
	}
	return added
}

func (m *memory) dropJob(id int64) {
	j := m.jobs[id]
	delete(m.jobs, id)
	if j.Key != "" {
		delete(m.jobKeys, jobKey{j.Tenant, j.Key})
	}
}

// Ack says what becomes of a claimed job, unless the job is gone or was claimed since.
func (s port) Ack(ctx context.Context, d store.Delivery, a store.Ack) error {
	if err := canceled(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.jobs[d.JobID]
	if j == nil || j.token != d.Token {
		return store.ErrFenced
	}
	switch a.Kind {
	case store.AckDone:
		s.dropJob(j.id)
	case store.AckExtend:
		j.due = s.now().Add(a.After)
	case store.AckRelease:
		s.release(j, a)
	case store.AckDead:
		s.dropJob(j.id)
		s.dead = append(s.dead, wire.QueuedJob{
			Job: j.Job, JobID: j.id, State: wire.JobDead, Attempts: j.attempt, Cause: a.Cause, DiedAt: s.now(),
		})
	default:
		return spool.Errorf(spool.Invalid, "Unknown kind of acknowledgement: %s", a.Kind)
	}
	return nil
}

// release makes a job due again. The caller must hold mu.
func (m *memory) release(j *job, a store.Ack) {
	j.inFlight, j.due = false, m.now().Add(a.After)
	if a.Refund {
		j.attempt--
	}
	m.lastToken++
	j.token = m.lastToken // the delivery is over and cannot be refunded twice
}

// Jobs lists a tenant's jobs.
func (s port) Jobs(ctx context.Context, q wire.JobQuery) ([]wire.QueuedJob, error) {
	if err := canceled(ctx); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if q.State == wire.JobDead {
		return s.deadJobs(q), nil
	}
	now := s.now()
	found := []wire.QueuedJob{}
	for _, j := range s.jobs {
		state := j.state(now)
		if j.Tenant != q.Tenant || q.State != "" && q.State != state || !jobListed(j.Job, j.id, q) ||
			!q.DueBefore.IsZero() && !j.firstDue.Before(q.DueBefore) || j.firstDue.Before(q.DueSince) {
			continue
		}
		listed := wire.QueuedJob{Job: cloneJob(j.Job), JobID: j.id, State: state, Attempts: j.attempt, FirstDue: j.firstDue}
		listed.DueAt = j.due
		found = append(found, listed)
	}
	slices.SortFunc(found, func(a, b wire.QueuedJob) int {
		return cmp.Or(a.FirstDue.Compare(b.FirstDue), cmp.Compare(a.JobID, b.JobID))
	})
	return found[:bounded(len(found), q.Limit)], nil
}

func jobListed(j wire.Job, id int64, q wire.JobQuery) bool {
	return (q.JobID == 0 || id == q.JobID) && (q.ThreadID == "" || j.ThreadID == q.ThreadID) &&
		(q.Queue == nil || j.Queue == *q.Queue) && (q.Subject == "" || j.Subject == q.Subject)
}

func cloneJob(j wire.Job) wire.Job {
	j.Payload = bytes.Clone(j.Payload)
	return j
}
