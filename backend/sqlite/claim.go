package sqlite

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/spoolhq/spool"
)

// claimWindow is the smallest number of due jobs that a claim reads, in due order. If no more jobs are
// due, these show which tenants have due jobs. Otherwise the claim looks at each tenant that has jobs,
// with one index lookup each.
const claimWindow = 32

// Claim implements [spool.Store]. It first reads, and writes only if a job is due, so that idle workers
// cost no transaction.
func (db *DB) Claim(ctx context.Context, q spool.ClaimQuery) ([]spool.Delivery, time.Time, error) {
	l := lanesOf(q)
	next, err := db.nextDue(ctx, l, time.Time{})
	if err != nil || next.IsZero() || next.After(now(db.clock)) {
		return nil, next, err
	}
	var taken []spool.Delivery
	var at time.Time
	err = db.queue(ctx, func(t *tx) error {
		at = t.now
		taken, err = t.claim(q, l)
		return err
	})
	if err != nil {
		return nil, time.Time{}, err
	}
	if len(taken) > 0 {
		return taken, time.Time{}, nil
	}
	// Another worker was faster, or the due jobs belong to tenants that have their share.
	next, err = db.nextDue(ctx, l, at)
	return nil, next, err
}

// nextOfLanes returns the time at which the next job of the lanes becomes due, or NULL.
const nextOfLanes = ` SELECT min(due) FROM (
		SELECT (SELECT due_at FROM job INDEXED BY job_due WHERE queue = q AND lane = l AND due_at > ? ORDER BY due_at LIMIT 1) AS due
		FROM wanted
	)`

// nextDue returns the time at which the next job after a given time becomes due, or zero if none will.
func (db *DB) nextDue(ctx context.Context, l lanes, after time.Time) (due time.Time, err error) {
	err = db.starts.read(ctx, func(c *conn) error {
		return l.query(c.query, nextOfLanes, func(r *row) error {
			due = r.Time()
			return nil
		}, after)
	})
	return due, err
}

func (t *tx) claim(q spool.ClaimQuery, l lanes) ([]spool.Delivery, error) {
	if q.Limit <= 0 {
		return nil, nil
	}
	shares, err := t.shares(q, l)
	if err != nil {
		return nil, err
	}
	taken := shareOut(shares, q)
	for _, d := range taken {
		err := t.write("UPDATE job SET due_at = ?, claimed = 1, token = ?, attempts = ? WHERE id = ?",
			t.now.Add(q.Lease), d.Token, d.Attempt, d.JobID)
		if err != nil {
			return nil, err
		}
	}
	return taken, nil
}

// share is a tenant with due jobs.
type share struct {
	tenant   spool.Tenant
	inFlight int
	// served is the time at which the worker last got a job of the tenant.
	served time.Time
	// oldest is the time at which the tenant's first job became due.
	oldest time.Time
	// lanes are those in which the tenant has due jobs.
	lanes []lane
	// due has those of the tenant's due jobs that the claim may need, the oldest first.
	due []spool.Delivery
}

// compare orders tenants: by the fewest jobs in flight, then by the earliest served, then by the oldest
// job.
func (s *share) compare(other *share) int {
	return cmp.Or(cmp.Compare(s.inFlight, other.inFlight), s.served.Compare(other.served), s.oldest.Compare(other.oldest))
}

// anyDue returns due jobs of the lanes, in no order.
const anyDue = " SELECT " + jobColumns + `, id, token, attempts
	FROM wanted CROSS JOIN job INDEXED BY job_due ON queue = q AND lane = l AND due_at <= ? LIMIT ?`

// shares returns tenants that have due jobs, at least as many as the claim can serve.
func (t *tx) shares(q spool.ClaimQuery, l lanes) ([]*share, error) {
	window := max(claimWindow, 2*q.Limit)
	first, err := t.dueJobs(func(scan func(r *row) error) error {
		return l.query(t.query, anyDue, scan, t.now, window)
	})
	if err != nil || len(first) == 0 {
		return nil, err
	}
	inFlight, err := t.inFlight()
	if err != nil {
		return nil, err
	}
	if len(first) < window { // these are all due jobs
		return byTenant(first, inFlight, q), nil
	}
	return t.sharesOfMany(q, l, inFlight)
}

func byTenant(due []spool.Delivery, inFlight map[spool.Tenant]int, q spool.ClaimQuery) (shares []*share) {
	of := make(map[spool.Tenant]*share)
	for _, d := range due {
		s := of[d.Tenant]
		if s == nil {
			s = &share{tenant: d.Tenant, inFlight: inFlight[d.Tenant], served: q.ServedAt(d.Tenant), oldest: d.DueAt}
			of[d.Tenant], shares = s, append(shares, s)
		}
		s.due = append(s.due, d)
	}
	return shares
}

// claimedOfEach counts the claimed jobs by tenant. Their number is at most the number of the workers'
// slots.
const claimedOfEach = "SELECT tenant, count(*) FROM job INDEXED BY job_claimed WHERE claimed = 1 AND due_at > ? GROUP BY tenant"

// oldestOfEach returns the tenants with a due job in each of the lanes, and the time at which their oldest
// job there became due.
const oldestOfEach = `, holder(q, l, tenant) AS (
		SELECT q, l, (SELECT min(tenant) FROM job INDEXED BY job_tenant_due WHERE queue = q AND lane = l) FROM wanted
		UNION ALL
		SELECT q, l, (SELECT min(tenant) FROM job INDEXED BY job_tenant_due WHERE queue = q AND lane = l AND tenant > holder.tenant)
		FROM holder WHERE holder.tenant IS NOT NULL
	), oldest(q, l, tenant, due) AS (
		SELECT q, l, tenant,
			(SELECT min(due_at) FROM job INDEXED BY job_tenant_due WHERE queue = q AND lane = l AND job.tenant = holder.tenant)
		FROM holder
	)
	SELECT q, l, tenant, due FROM oldest WHERE due <= ?`

func (t *tx) inFlight() (map[spool.Tenant]int, error) {
	counts := make(map[spool.Tenant]int)
	err := t.query(claimedOfEach, func(r *row) error {
		counts[spool.Tenant(r.Text())] = r.Int()
		return nil
	}, t.now)
	return counts, err
}

// sharesOfMany reads the oldest job of each tenant, and then the jobs of the tenants that come first.
// It reads at most q.Limit jobs of a tenant from a lane, even if the tenant has many more.
func (t *tx) sharesOfMany(q spool.ClaimQuery, l lanes, inFlight map[spool.Tenant]int) ([]*share, error) {
	of := make(map[spool.Tenant]*share)
	err := l.query(t.query, oldestOfEach, func(r *row) error {
		in := lane{r.Text(), r.Text()}
		tenant, due := spool.Tenant(r.Text()), r.Time()
		s := of[tenant]
		if s == nil {
			s = &share{tenant: tenant, inFlight: inFlight[tenant], served: q.ServedAt(tenant), oldest: due}
			of[tenant] = s
		}
		s.lanes = append(s.lanes, in)
		if due.Before(s.oldest) {
			s.oldest = due
		}
		return nil
	}, t.now)
	if err != nil {
		return nil, err
	}
	shares := slices.SortedFunc(maps.Values(of), (*share).compare)
	shares = slices.DeleteFunc(shares, func(s *share) bool { return q.PerTenant > 0 && s.inFlight >= q.PerTenant })
	shares = shares[:min(len(shares), q.Limit)] // each of these has a job, so the following tenants get nothing
	for _, s := range shares {
		if s.due, err = t.dueOfTenant(s, q.Limit); err != nil {
			return nil, err
		}
	}
	return shares, nil
}

// dueOfTenant reads the oldest jobs of a tenant.
func (t *tx) dueOfTenant(s *share, limit int) ([]spool.Delivery, error) {
	return t.dueJobs(func(scan func(r *row) error) error {
		for _, in := range s.lanes {
			err := t.query("SELECT "+jobColumns+`, id, token, attempts FROM job INDEXED BY job_tenant_due
				WHERE queue = ? AND lane = ? AND tenant = ? AND due_at <= ? ORDER BY due_at, id LIMIT ?`, scan,
				in.queue, in.name, s.tenant, t.now, limit)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// dueJobs returns the jobs that read scans as the deliveries that a claim makes of them, the oldest first.
func (t *tx) dueJobs(read func(scan func(r *row) error) error) (due []spool.Delivery, err error) {
	err = read(func(r *row) error {
		due = append(due, spool.Delivery{Job: scanJob(r), JobID: r.Int64(), Token: r.Int64() + 1, Attempt: r.Int() + 1})
		return nil
	})
	slices.SortFunc(due, func(a, b spool.Delivery) int {
		return cmp.Or(a.DueAt.Compare(b.DueAt), cmp.Compare(a.JobID, b.JobID))
	})
	return due, err
}

// shareOut takes jobs one by one, in the order described at [spool.Store.Claim].
func shareOut(shares []*share, q spool.ClaimQuery) (taken []spool.Delivery) {
	for len(taken) < q.Limit {
		var next *share
		for _, s := range shares {
			switch {
			case len(s.due) == 0, q.PerTenant > 0 && s.inFlight >= q.PerTenant,
				s.inFlight > 0 && q.Limit-len(taken) <= q.Reserved:
			case next == nil || s.compare(next) < 0:
				next = s
			}
		}
		if next == nil {
			break
		}
		taken = append(taken, next.due[0])
		next.inFlight++
		if next.due = next.due[1:]; len(next.due) > 0 {
			next.oldest = next.due[0].DueAt
		}
	}
	return taken
}
