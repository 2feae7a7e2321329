package sqlite

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/internal/fair"
	"github.com/spoolhq/spool/store"
)

// claimWindow is the smallest number of due jobs that a claim reads, in due order. If no more jobs are
// due, these show which tenants have due jobs. Otherwise the claim looks at each tenant that has jobs,
// with one index lookup each.
const claimWindow = 32

// Claim implements [store.Store]. It first reads, and writes only if a job is due, so that idle workers
// cost no transaction.
func (db *DB) Claim(ctx context.Context, q store.ClaimQuery) ([]store.Delivery, time.Time, error) {
	l := lanesOf(q)
	next, err := db.nextDue(ctx, l, time.Time{})
	if err != nil || next.IsZero() || next.After(now(db.clock)) {
		return nil, next, err
	}
	var claimed []store.Delivery
	var at time.Time
	err = db.queue(ctx, func(t *tx) error {
		at = t.now
		claimed, err = t.claim(q, l)
		return err
	})
	if err != nil {
		return nil, time.Time{}, err
	}
	if len(claimed) > 0 {
		return claimed, time.Time{}, nil
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

func (t *tx) claim(q store.ClaimQuery, l lanes) ([]store.Delivery, error) {
	if q.Limit <= 0 {
		return nil, nil
	}
	claim := fair.New(q)
	if err := t.collect(claim, q, l); err != nil {
		return nil, err
	}
	claimed := claim.Choose()
	for _, d := range claimed {
		err := t.write("UPDATE job SET due_at = ?, claimed = 1, token = ?, attempts = ? WHERE id = ?",
			t.now.Add(q.Lease), d.Token, d.Attempt, d.JobID)
		if err != nil {
			return nil, err
		}
	}
	return claimed, nil
}

// anyDue returns due jobs of the lanes, in no order.
const anyDue = " SELECT " + jobColumns + `, id, token, attempts
	FROM wanted CROSS JOIN job INDEXED BY job_due ON queue = q AND lane = l AND due_at <= ? LIMIT ?`

// collect reads the jobs in flight and the due jobs, as many as the claim may need.
func (t *tx) collect(claim *fair.Claim, q store.ClaimQuery, l lanes) error {
	window := max(claimWindow, 2*q.Limit)
	first, err := t.dueJobs(func(scan func(r *row) error) error {
		return l.query(t.query, anyDue, scan, t.now, window)
	})
	if err != nil || len(first) == 0 {
		return err
	}
	inFlight := make(map[spool.Tenant]int)
	count, args := claimedOfEach(queuesOf(q), t.now)
	err = t.query(count, func(r *row) error {
		tenant, subject, n := spool.Tenant(r.Text()), r.Text(), r.Int()
		claim.InFlight(tenant, subject, n)
		inFlight[tenant] += n
		return nil
	}, args...)
	if err != nil {
		return err
	}
	if len(first) == window { // there may be more
		return t.collectOfMany(claim, q, l, inFlight)
	}
	for _, d := range first {
		claim.Due(d)
	}
	return nil
}

// claimedOfEach returns the statement that counts the claimed jobs by tenant and subject: those of the queues, or all
// for nil. It reads at most as many as workers have slots.
func claimedOfEach(queues []string, at time.Time) (query string, args []any) {
	const of = "SELECT tenant, subject, count(*) FROM job INDEXED BY job_claimed WHERE claimed = 1 AND due_at > ?"
	if queues == nil {
		return of + byEach, []any{at}
	}
	return of + " AND " + inQueues + byEach, []any{at, names(queues)}
}

const (
	byEach = " GROUP BY tenant, subject"
	// inQueues is the condition of the jobs of queues.
	inQueues = "queue IN (SELECT value FROM json_each(?))"
)

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

// holder is a tenant with due jobs.
type holder struct {
	tenant   spool.Tenant
	inFlight int
	served   time.Time
	// oldest is the time at which the tenant's first job became due.
	oldest time.Time
	// lanes are those in which the tenant has due jobs.
	lanes []lane
}

// collectOfMany reads the oldest job of each tenant, and then the jobs of the tenants that come first.
func (t *tx) collectOfMany(claim *fair.Claim, q store.ClaimQuery, l lanes, inFlight map[spool.Tenant]int) error {
	of := make(map[spool.Tenant]*holder)
	err := l.query(t.query, oldestOfEach, func(r *row) error {
		in := lane{r.Text(), r.Text()}
		tenant, due := spool.Tenant(r.Text()), r.Time()
		h := of[tenant]
		if h == nil {
			h = &holder{tenant: tenant, inFlight: inFlight[tenant], served: q.ServedAt(tenant), oldest: due}
			of[tenant] = h
			claim.Waits(tenant)
		}
		h.lanes = append(h.lanes, in)
		if due.Before(h.oldest) {
			h.oldest = due
		}
		return nil
	}, t.now)
	if err != nil {
		return err
	}
	first := slices.SortedFunc(maps.Values(of), func(a, b *holder) int {
		return cmp.Or(cmp.Compare(a.inFlight, b.inFlight), a.served.Compare(b.served), a.oldest.Compare(b.oldest))
	})
	first = slices.DeleteFunc(first, func(h *holder) bool { return q.PerTenant > 0 && h.inFlight >= q.PerTenant })
	for _, h := range first[:min(len(first), q.Limit)] { // each of these has a job, so the following tenants get nothing
		due, err := t.dueOfTenant(h, q.Limit)
		if err != nil {
			return err
		}
		for _, d := range due {
			claim.Due(d)
		}
	}
	return nil
}

// dueOfTenant reads the oldest jobs of a tenant, and if there are more, those of each of its first subjects.
func (t *tx) dueOfTenant(h *holder, limit int) ([]store.Delivery, error) {
	due, err := t.dueJobs(func(scan func(r *row) error) error {
		for _, in := range h.lanes {
			err := t.query("SELECT "+jobColumns+`, id, token, attempts FROM job INDEXED BY job_tenant_due
				WHERE queue = ? AND lane = ? AND tenant = ? AND due_at <= ? ORDER BY due_at, id LIMIT ?`, scan,
				in.queue, in.name, h.tenant, t.now, limit)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || len(due) < limit {
		return due, err
	}
	var parts []part
	if err := readParts(t.query, listed(h.lanes), h.tenant, t.now, &parts); err != nil {
		return nil, err
	}
	due = slices.DeleteFunc(due, func(d store.Delivery) bool {
		return slices.ContainsFunc(parts, func(p part) bool { return p.subject == d.Subject })
	})
	more, err := t.dueJobs(func(scan func(r *row) error) error {
		for _, p := range parts {
			err := t.query("SELECT "+jobColumns+`, id, token, attempts FROM job INDEXED BY job_subject_due
				WHERE queue = ? AND lane = ? AND tenant = ? AND subject = ? AND due_at <= ? ORDER BY due_at, id LIMIT ?`, scan,
				p.lane.queue, p.lane.name, h.tenant, p.subject, t.now, limit)
			if err != nil {
				return err
			}
		}
		return nil
	})
	return append(due, more...), err
}

// part is the due jobs that a subject has in a lane.
type part struct {
	lane    lane
	subject string
}

// subjectsOfLanes returns the subjects of a tenant with a due job in each of the lanes, with one index lookup for
// each. The bound is of rows that it looks at, and a lane has one that names no subject.
const subjectsOfLanes = `, person(q, l, subject) AS (
		SELECT q, l, (SELECT min(subject) FROM job INDEXED BY job_subject_due WHERE queue = q AND lane = l AND tenant = ?) FROM wanted
		UNION ALL
		SELECT q, l, (
			SELECT min(subject) FROM job INDEXED BY job_subject_due
			WHERE queue = q AND lane = l AND tenant = ? AND subject > person.subject
		) FROM person WHERE person.subject IS NOT NULL
		LIMIT ?
	)
	SELECT q, l, subject FROM person WHERE subject IS NOT NULL AND (
		SELECT min(due_at) FROM job INDEXED BY job_subject_due
		WHERE queue = q AND lane = l AND tenant = ? AND job.subject = person.subject
	) <= ?`

// readParts reads the parts of a tenant.
func readParts(query queryFunc, l lanes, tenant spool.Tenant, at time.Time, parts *[]part) error {
	return l.query(query, subjectsOfLanes, func(r *row) error {
		*parts = append(*parts, part{lane{r.Text(), r.Text()}, r.Text()})
		return nil
	}, tenant, tenant, 4*store.MaxSubjects, tenant, at)
}

// dueJobs returns the jobs that read scans as the deliveries that a claim makes of them, the oldest first.
func (t *tx) dueJobs(read func(scan func(r *row) error) error) (due []store.Delivery, err error) {
	err = read(func(r *row) error {
		due = append(due, store.Delivery{Job: scanJob(r), JobID: r.Int64(), Token: r.Int64() + 1, Attempt: r.Int() + 1})
		return nil
	})
	slices.SortFunc(due, func(a, b store.Delivery) int {
		return cmp.Or(a.DueAt.Compare(b.DueAt), cmp.Compare(a.JobID, b.JobID))
	})
	return due, err
}
