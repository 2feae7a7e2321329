package memory

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/spoolhq/spool/backend/internal/fair"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Claim implements [store.Store].
func (s port) Claim(ctx context.Context, query store.ClaimQuery) ([]store.Delivery, time.Time, error) {
	if err := canceled(ctx); err != nil {
		return nil, time.Time{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	claim := fair.New(query)
	var due []store.Delivery
	var next time.Time
	for id, j := range s.jobs {
		if !queued(j.Job, query) {
			continue
		}
		if j.inFlight && j.due.After(now) {
			claim.InFlight(j.Tenant, j.Subject, 1)
		}
		switch {
		case query.Agents != nil && j.NeedsAgent() && !slices.Contains(query.Agents, j.Agent):
		case !j.due.After(now):
			d := store.Delivery{Job: j.Job, JobID: id}
			d.DueAt = j.due
			due = append(due, d)
		case next.IsZero() || j.due.Before(next):
			next = j.due
		}
	}
	slices.SortFunc(due, func(a, b store.Delivery) int {
		return cmp.Or(a.DueAt.Compare(b.DueAt), cmp.Compare(a.JobID, b.JobID))
	})
	for _, d := range due {
		claim.Due(d)
	}
	var claimed []store.Delivery
	for _, d := range claim.Choose() {
		claimed = append(claimed, s.lease(s.jobs[d.JobID], now.Add(query.Lease)))
	}
	if len(claimed) > 0 {
		next = time.Time{}
	}
	return claimed, next, nil
}

// queued reports whether the job is in a queue of the query.
func queued(j wire.Job, q store.ClaimQuery) bool {
	return q.Queues == nil && j.Queue == "" || slices.Contains(q.Queues, j.Queue)
}

// lease gives the claim a lease on a job. The caller must hold mu.
func (m *memory) lease(j *job, until time.Time) store.Delivery {
	m.lastToken++
	job := cloneJob(j.Job)
	job.DueAt = j.due
	j.token, j.inFlight, j.due = m.lastToken, true, until
	j.attempt++
	return store.Delivery{Job: job, JobID: j.id, Token: j.token, Attempt: j.attempt}
}
