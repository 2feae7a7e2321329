package memory

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/spoolhq/spool"
)

// Claim claims due jobs. Tenants with the fewest jobs in flight come first.
func (s store) Claim(ctx context.Context, query spool.ClaimQuery) ([]spool.Delivery, time.Time, error) {
	if err := canceled(ctx); err != nil {
		return nil, time.Time{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	var due []*job
	var next time.Time
	inFlight := make(map[spool.Tenant]int)
	served := make(map[spool.Tenant]time.Time)
	for _, j := range s.jobs {
		if j.inFlight && j.due.After(now) {
			inFlight[j.Tenant]++
		}
		switch {
		case !wanted(j.Job, query):
		case !j.due.After(now):
			due = append(due, j)
			if _, known := served[j.Tenant]; !known {
				served[j.Tenant] = query.ServedAt(j.Tenant)
			}
		case next.IsZero() || j.due.Before(next):
			next = j.due
		}
	}
	var taken []spool.Delivery
	for len(taken) < query.Limit {
		j := nextFair(due, inFlight, served, query, query.Limit-len(taken))
		if j == nil {
			break
		}
		due = slices.DeleteFunc(due, func(other *job) bool { return other == j })
		inFlight[j.Tenant]++
		taken = append(taken, s.take(j, now.Add(query.Lease)))
	}
	if len(taken) > 0 {
		next = time.Time{}
	}
	return taken, next, nil
}

// wanted reports whether the job is in a queue of the query, and of an agent of the query. An event has no
// agent.
func wanted(j spool.Job, q spool.ClaimQuery) bool {
	if q.Queues == nil && j.Queue != "" || q.Queues != nil && !slices.Contains(q.Queues, j.Queue) {
		return false
	}
	return q.Agents == nil || !j.NeedsAgent() || slices.Contains(q.Agents, j.Agent)
}

// nextFair returns the next job to claim, or nil. Free is how many more jobs the claim may take.
func nextFair(due []*job, inFlight map[spool.Tenant]int, served map[spool.Tenant]time.Time, q spool.ClaimQuery, free int) (next *job) {
	for _, j := range due {
		has := inFlight[j.Tenant]
		switch {
		case q.PerTenant > 0 && has >= q.PerTenant, has > 0 && free <= q.Reserved:
		case next == nil, cmp.Or(
			cmp.Compare(has, inFlight[next.Tenant]), served[j.Tenant].Compare(served[next.Tenant]),
			j.due.Compare(next.due), cmp.Compare(j.id, next.id),
		) < 0:
			next = j
		}
	}
	return next
}

// take leases a job. The caller must hold mu.
func (m *memory) take(j *job, until time.Time) spool.Delivery {
	m.lastToken++
	job := cloneJob(j.Job)
	job.DueAt = j.due
	j.token, j.inFlight, j.due = m.lastToken, true, until
	j.attempt++
	return spool.Delivery{Job: job, JobID: j.id, Token: j.token, Attempt: j.attempt}
}
