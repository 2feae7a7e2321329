package memory

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/spoolhq/spool"
)

// job is a job that is not dead.
type job struct {
	spool.Job
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
func (j *job) state(now time.Time) spool.JobState {
	switch {
	case !j.due.After(now):
		return spool.JobReady
	case j.inFlight:
		return spool.JobInFlight
	default:
		return spool.JobDelayed
	}
}

type queue struct{ *memory }

var _ spool.Queue = queue{}

// Extend renews the lease of the delivery.
func (q queue) Extend(ctx context.Context, d spool.Delivery, lease time.Duration) error {
	return q.guarded(ctx, d, func(j *job) { j.due = q.now().Add(lease) })
}

// Ack removes the job.
func (q queue) Ack(ctx context.Context, d spool.Delivery) error {
	return q.guarded(ctx, d, func(j *job) { q.dropJob(j.id) })
}

// Release makes the job due again.
func (q queue) Release(ctx context.Context, d spool.Delivery, after time.Duration, refund bool) error {
	return q.guarded(ctx, d, func(j *job) {
		j.inFlight, j.due = false, q.now().Add(after)
		if refund {
			j.attempt--
		}
		q.lastToken++
		j.token = q.lastToken // the delivery is over and cannot be refunded twice
	})
}

// Jobs lists a tenant's jobs.
func (q queue) Jobs(ctx context.Context, tenant spool.Tenant, query spool.JobQuery) ([]spool.QueuedJob, error) {
	if err := canceled(ctx); err != nil {
		return nil, err
	}
	q.mu.RLock()
	defer q.mu.RUnlock()
	now := q.now()
	found := []spool.QueuedJob{}
	for _, j := range q.jobs {
		state := j.state(now)
		if j.Tenant != tenant || query.State != "" && query.State != state ||
			!query.DueBefore.IsZero() && !j.firstDue.Before(query.DueBefore) {
			continue
		}
		listed := spool.QueuedJob{Job: j.Job, JobID: j.id, State: state, Attempts: j.attempt, FirstDue: j.firstDue}
		listed.DueAt = j.due
		found = append(found, listed)
	}
	slices.SortFunc(found, func(a, b spool.QueuedJob) int {
		return cmp.Or(a.FirstDue.Compare(b.FirstDue), cmp.Compare(a.JobID, b.JobID))
	})
	return found[:bounded(len(found), query.Limit)], nil
}

// Stats counts jobs.
func (q queue) Stats(ctx context.Context, tenant spool.Tenant) (spool.QueueStats, error) {
	if err := canceled(ctx); err != nil {
		return spool.QueueStats{}, err
	}
	q.mu.RLock()
	defer q.mu.RUnlock()
	now := q.now()
	var stats spool.QueueStats
	for _, d := range q.dead {
		if tenant == "" || d.Tenant == tenant {
			stats.Dead++
		}
	}
	for _, j := range q.jobs {
		if tenant != "" && j.Tenant != tenant {
			continue
		}
		switch j.state(now) {
		case spool.JobReady:
			stats.Ready++
			stats.OldestMS = max(stats.OldestMS, now.Sub(j.due).Milliseconds())
		case spool.JobInFlight:
			stats.InFlight++
		case spool.JobDelayed:
			stats.Delayed++
		}
	}
	return stats, nil
}

// guarded runs fn on the job of a delivery, unless the job is gone or was claimed since.
func (q queue) guarded(ctx context.Context, d spool.Delivery, fn func(*job)) error {
	if err := canceled(ctx); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	j := q.jobs[d.JobID]
	if j == nil || j.token != d.Token {
		return spool.ErrFenced
	}
	fn(j)
	return nil
}

// addJob adds a job unless the tenant has one with its key. The caller must hold mu.
func (m *memory) addJob(j spool.Job, now time.Time) {
	if j.Key != "" {
		if _, there := m.jobKeys[jobKey{j.Tenant, j.Key}]; there {
			return
		}
	}
	due := j.DueAt
	if due.IsZero() {
		due = now
	}
	id := spool.NewJobID()
	m.jobs[id] = &job{Job: j, id: id, due: due, firstDue: due}
	if j.Key != "" {
		m.jobKeys[jobKey{j.Tenant, j.Key}] = id
	}
}

func (m *memory) dropJob(id int64) {
	j := m.jobs[id]
	delete(m.jobs, id)
	if j.Key != "" {
		delete(m.jobKeys, jobKey{j.Tenant, j.Key})
	}
}
