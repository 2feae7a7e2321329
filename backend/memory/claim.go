package memory

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/spoolhq/spool"
)

// Claim claims due jobs. Tenants with the fewest jobs in flight come first.
func (q queue) Claim(ctx context.Context, query spool.ClaimQuery) ([]spool.Delivery, time.Time, error) {
	if err := canceled(ctx); err != nil {
		return nil, time.Time{}, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.now()
	var due []*job
	var next time.Time
	inFlight := make(map[spool.Tenant]int)
	served := make(map[spool.Tenant]time.Time)
	for _, j := range q.jobs {
		switch {
		case !j.due.After(now):
			due = append(due, j)
			if _, known := served[j.Tenant]; !known {
				served[j.Tenant] = query.ServedAt(j.Tenant)
			}
			continue
		case next.IsZero() || j.due.Before(next):
			next = j.due
		}
		if j.inFlight {
			inFlight[j.Tenant]++
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
		taken = append(taken, q.take(j, now.Add(query.Lease)))
	}
	if len(taken) > 0 {
		next = time.Time{}
	}
	return taken, next, nil
}

// Waiting lists the tenants that have due jobs.
func (q queue) Waiting(ctx context.Context) (waiting []spool.WaitingTenant, err error) {
	if err := canceled(ctx); err != nil {
		return nil, err
	}
	q.mu.RLock()
	defer q.mu.RUnlock()
	now := q.now()
	oldest := make(map[spool.Tenant]time.Time)
	inFlight := make(map[spool.Tenant]int)
	for _, j := range q.jobs {
		switch first, some := oldest[j.Tenant]; j.state(now) {
		case spool.JobReady:
			if !some || j.due.Before(first) {
				oldest[j.Tenant] = j.due
			}
		case spool.JobInFlight:
			inFlight[j.Tenant]++
		}
	}
	for tenant, due := range oldest {
		waiting = append(waiting, spool.WaitingTenant{Tenant: tenant, InFlight: inFlight[tenant], DueAt: due})
	}
	slices.SortFunc(waiting, func(a, b spool.WaitingTenant) int {
		return cmp.Or(a.DueAt.Compare(b.DueAt), cmp.Compare(a.Tenant, b.Tenant))
	})
	return waiting, nil
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
	job := j.Job
	job.DueAt = j.due
	j.token, j.inFlight, j.due = m.lastToken, true, until
	j.attempt++
	return spool.Delivery{Job: job, JobID: j.id, Token: j.token, Attempt: j.attempt}
}
