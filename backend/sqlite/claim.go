package sqlite

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/spoolhq/spool"
)

// claimWindow is the smallest number of due jobs that a claim reads, in due order. If no more jobs are
// due, these show which tenants have due jobs. Otherwise the claim looks at each tenant that has jobs,
// with one index lookup each.
const claimWindow = 32

// Claim implements [spool.Queue]. It first reads, and writes only if a job is due, so that idle workers
// cost no transaction.
func (db *DB) Claim(ctx context.Context, q spool.ClaimQuery) ([]spool.Delivery, time.Time, error) {
	next, err := db.nextDue(ctx, time.Time{})
	if err != nil || next.IsZero() || next.After(now(db.clock)) {
		return nil, next, err
	}
	var taken []spool.Delivery
	var at time.Time
	err = db.queue(ctx, func(t *tx) error {
		at = t.now
		taken, err = t.claim(q)
		return err
	})
	if err != nil {
		return nil, time.Time{}, err
	}
	if len(taken) > 0 {
		return taken, time.Time{}, nil
	}
	// Another worker was faster, or the due jobs belong to tenants that have their share.
	next, err = db.nextDue(ctx, at)
	return nil, next, err
}

// nextDue returns the time at which the next job after a given time becomes due, or zero if none will.
func (db *DB) nextDue(ctx context.Context, after time.Time) (due time.Time, err error) {
	err = db.starts.read(ctx, func(c *conn) error {
		return c.query("SELECT due_at FROM job WHERE due_at > ? ORDER BY due_at LIMIT 1", func(r *row) error {
			due = r.time()
			return nil
		}, micros(after))
	})
	return due, err
}

func (t *tx) claim(q spool.ClaimQuery) ([]spool.Delivery, error) {
	if q.Limit <= 0 {
		return nil, nil
	}
	shares, err := t.shares(q)
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
	// due has those of the tenant's due jobs that the claim may need, the oldest first.
	due []spool.Delivery
}

// compare orders tenants: by the fewest jobs in flight, then by the earliest served, then by the oldest
// job.
func (s *share) compare(other *share) int {
	return cmp.Or(cmp.Compare(s.inFlight, other.inFlight), s.served.Compare(other.served), s.oldest.Compare(other.oldest))
}

// shares returns tenants that have due jobs, at least as many as the claim can serve.
func (t *tx) shares(q spool.ClaimQuery) ([]*share, error) {
	window := max(claimWindow, 2*q.Limit)
	first, err := t.dueJobs("SELECT "+jobColumns+", id, token, attempts FROM job WHERE due_at <= ? ORDER BY due_at, id LIMIT ?", t.now, window)
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
	return t.sharesOfMany(q, inFlight)
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

// oldestOfEach returns the tenants with a due job, and the time at which their oldest job became due.
const oldestOfEach = `WITH RECURSIVE holder(tenant) AS (
		SELECT min(tenant) FROM job
		UNION ALL
		SELECT (SELECT min(tenant) FROM job INDEXED BY job_tenant_due WHERE tenant > holder.tenant) FROM holder WHERE holder.tenant IS NOT NULL
	), oldest(tenant, due) AS (
		SELECT tenant, (SELECT min(due_at) FROM job INDEXED BY job_tenant_due WHERE job.tenant = holder.tenant) FROM holder
	)
	SELECT tenant, due FROM oldest WHERE due <= ?`

func (t *tx) inFlight() (map[spool.Tenant]int, error) {
	counts := make(map[spool.Tenant]int)
	err := t.query(claimedOfEach, func(r *row) error {
		counts[spool.Tenant(r.text())] = r.int()
		return nil
	}, t.now)
	return counts, err
}

// Waiting implements [spool.Queue].
func (db *DB) Waiting(ctx context.Context) (waiting []spool.WaitingTenant, err error) {
	at := now(db.clock)
	err = db.starts.read(ctx, func(c *conn) error {
		waiting = nil
		err := c.query(oldestOfEach, func(r *row) error {
			waiting = append(waiting, spool.WaitingTenant{Tenant: spool.Tenant(r.text()), DueAt: r.time()})
			return nil
		}, micros(at))
		if err != nil || len(waiting) == 0 {
			return err
		}
		return c.query(claimedOfEach, func(r *row) error {
			tenant := spool.Tenant(r.text())
			if i := slices.IndexFunc(waiting, func(w spool.WaitingTenant) bool { return w.Tenant == tenant }); i >= 0 {
				waiting[i].InFlight = r.int()
			}
			return nil
		}, micros(at))
	})
	slices.SortStableFunc(waiting, func(a, b spool.WaitingTenant) int { return a.DueAt.Compare(b.DueAt) }) // tenants with the same time stay sorted by name
	return waiting, err
}

// sharesOfMany reads the oldest job of each tenant, and then the jobs of the tenants that come first.
// It reads at most q.Limit jobs of a tenant, even if the tenant has many more.
func (t *tx) sharesOfMany(q spool.ClaimQuery, inFlight map[spool.Tenant]int) ([]*share, error) {
	var shares []*share
	err := t.query(oldestOfEach, func(r *row) error {
		s := &share{tenant: spool.Tenant(r.text())}
		s.oldest, s.inFlight, s.served = r.time(), inFlight[s.tenant], q.ServedAt(s.tenant)
		if q.PerTenant == 0 || s.inFlight < q.PerTenant {
			shares = append(shares, s)
		}
		return nil
	}, t.now)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(shares, (*share).compare)
	shares = shares[:min(len(shares), q.Limit)] // each of these has a job, so the following tenants get nothing
	for _, s := range shares {
		s.due, err = t.dueJobs("SELECT "+jobColumns+`, id, token, attempts FROM job INDEXED BY job_tenant_due
			WHERE tenant = ? AND due_at <= ? ORDER BY due_at, id LIMIT ?`, s.tenant, t.now, q.Limit)
		if err != nil {
			return nil, err
		}
	}
	return shares, nil
}

// dueJobs returns jobs as the deliveries that a claim makes of them.
func (t *tx) dueJobs(query string, args ...any) (due []spool.Delivery, err error) {
	err = t.query(query, func(r *row) error {
		due = append(due, spool.Delivery{Job: scanJob(r), JobID: r.int64(), Token: r.int64() + 1, Attempt: r.int() + 1})
		return nil
	}, args...)
	return due, err
}

// shareOut takes jobs one by one, in the order described at [spool.Queue.Claim].
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
