package postgres

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/store"
)

// Claim implements [store.Store]. The first round trip reads which tenants have due jobs. If none has, that is
// all, and idle workers write nothing. The second one takes jobs of the tenants that come first.
//
// The cost grows with the number of tenants that have jobs in the lanes of the query, but neither with the
// number of a tenant's jobs nor with the jobs of other agents: see [lanes].
func (db *DB) Claim(ctx context.Context, q store.ClaimQuery) ([]store.Delivery, time.Time, error) {
	var parts []*part
	next, err := db.lookForJobs(ctx, q, &parts)
	if err != nil || len(parts) == 0 || q.Limit <= 0 {
		return []store.Delivery{}, next, err
	}
	parts, share := first(parts, q)
	if len(parts) == 0 { // all tenants have their share
		return []store.Delivery{}, next, nil
	}
	return db.lease(ctx, q, parts, share)
}

// part is the due jobs that a tenant has in a lane.
type part struct {
	queue, lane string
	tenant      spool.Tenant
	// oldest is the time at which the first of them became due.
	oldest   time.Time
	inFlight int // of the tenant, in all lanes of the queues
	served   time.Time

	// Of all jobs in flight: their number, and that of their tenants.
	allInFlight, busyTenants int
	// many is true if there may be more due jobs than a claim reads of each part.
	many bool
}

// compare orders tenants: by the fewest jobs in flight, then by the earliest served, then by the oldest job.
func (p *part) compare(other *part) int {
	return cmp.Or(cmp.Compare(p.inFlight, other.inFlight), p.served.Compare(other.served), p.oldest.Compare(other.oldest))
}

// lookForJobs reads the parts with due jobs, and when the next job becomes due.
func (db *DB) lookForJobs(ctx context.Context, q store.ClaimQuery, parts *[]*part) (next time.Time, err error) {
	lanes, args := lanes(q)
	args = append([]any{db.clockArg()}, args...)
	batch := db.withSettings(
		statement{
			sql: "WITH RECURSIVE " + clock + ", " + lanes + dueParts, args: slices.Concat(args, []any{queuesOf(q), queuesOf(q)}),
			scan: each(parts, scanPart),
		},
		statement{
			sql: "WITH RECURSIVE " + clock + ", " + lanes + nextDue, args: args, scan: func(r *row) { next = r.Time() },
		},
	)
	if err := canceled(ctx); err != nil {
		return next, err
	}
	s := db.newSession() // and not as a view: claims do not wait for those
	defer s.end(ctx)
	return next, s.send(ctx, batch)
}

func scanPart(r *row) *part {
	return &part{
		queue: r.Text(), lane: r.Text(), tenant: spool.Tenant(r.Text()), oldest: r.Time(), inFlight: r.Int(),
		allInFlight: r.Int(), busyTenants: r.Int(), many: r.Bool(),
	}
}

// first returns the parts of the tenants that come first, enough for the claim and for what other claims take
// at the same time. Share is the share of each tenant.
func first(parts []*part, q store.ClaimQuery) (found []*part, share int) {
	of := make(map[spool.Tenant]*part)
	idle := 0
	var tenants []*part // one of each, with the oldest job
	for _, p := range parts {
		known := of[p.tenant]
		if known == nil {
			known = &part{tenant: p.tenant, oldest: p.oldest, inFlight: p.inFlight, served: q.ServedAt(p.tenant)}
			of[p.tenant], tenants = known, append(tenants, known)
			if p.inFlight == 0 {
				idle++
			}
		}
		if p.oldest.Before(known.oldest) {
			known.oldest = p.oldest
		}
		p.served = known.served
	}
	share = q.TenantShare(parts[0].allInFlight, parts[0].busyTenants+idle)
	tenants = slices.DeleteFunc(tenants, func(t *part) bool {
		least := q.Kept(store.ClaimLoad{Tenant: t.inFlight, TenantShare: share, SubjectShare: 1})
		out := q.PerTenant > 0 && t.inFlight >= q.PerTenant || q.Limit <= least
		if out {
			delete(of, t.tenant)
		}
		return out
	})
	slices.SortFunc(tenants, (*part).compare)
	for _, late := range tenants[min(len(tenants), spare(q.Limit)):] {
		delete(of, late.tenant)
	}
	return slices.DeleteFunc(parts, func(p *part) bool { return of[p.tenant] == nil }), share
}

// spare returns how many candidates a claim looks at. Each of the first q.Limit tenants has a job, so the
// following ones get nothing, unless another claim is faster.
func spare(limit int) int { return 2*limit + 16 }

// lease claims jobs of the parts. If other claims were faster, it returns when the next job becomes due.
func (db *DB) lease(
	ctx context.Context, q store.ClaimQuery, parts []*part, share int,
) (claimed []store.Delivery, next time.Time, err error) {
	claimed = []store.Delivery{}
	lanes, args := lanes(q)
	batch := append(db.claimBatch(q, parts, share, &claimed), statement{
		sql: "WITH RECURSIVE " + clock + ", " + lanes + nextDue, args: append([]any{db.clockArg()}, args...),
		scan: func(r *row) { next = r.Time() },
	})
	if err := db.run(ctx, batch...); err != nil {
		return nil, time.Time{}, err
	}
	if len(claimed) > 0 {
		next = time.Time{}
	}
	return claimed, next, nil
}

// claimBatch returns the statements that lease jobs of the parts.
func (db *DB) claimBatch(q store.ClaimQuery, parts []*part, share int, claimed *[]store.Delivery) (batch []statement) {
	queues, lanes, tenants := make([]string, len(parts)), make([]string, len(parts)), make([]string, len(parts))
	served := make([]int64, len(parts))
	for i, p := range parts {
		queues[i], lanes[i], tenants[i], served[i] = p.queue, p.lane, string(p.tenant), form.Micros(p.served)
	}
	if q.PerTenant > 0 {
		batch = append(batch, db.lockTenants(tenants))
	}
	return append(batch, statement{
		sql: leaseJobs,
		args: []any{
			db.clockArg(), share, q.Reserved, q.PerTenant, q.Limit, spare(q.Limit), queues, lanes, tenants, served,
			queuesOf(q), spare(q.Limit), parts[0].many, 4 * store.MaxSubjects, q.Limit, q.Lease.Microseconds(),
		},
		scan: each(claimed, scanDelivery),
	})
}

// lockTenants makes the claims of a tenant take turns, which is why [store.ClaimQuery.PerTenant] holds for all
// workers together: the statement behind it sees what the claims before it have committed. The claims of
// different tenants do not wait for each other, and all take their locks in one order. Without a bound there
// is no lock.
//
// A row for each tenant with the number of its jobs in flight would do the same, and be worse: each claim and
// each acknowledgement would change it, and no statement runs when a lease lapses, so the number would be wrong.
func (db *DB) lockTenants(tenants []string) statement {
	locks := make([]int64, len(tenants))
	for i, tenant := range tenants {
		locks[i] = lockNumber("claim", db.dialect.schema, tenant)
	}
	slices.Sort(locks)
	return statement{
		sql:  "SELECT pg_advisory_xact_lock(l.number) FROM unnest(?::bigint[]) AS l (number)",
		args: []any{slices.Compact(locks)},
	}
}

func scanDelivery(r *row) store.Delivery {
	d := store.Delivery{Job: scanJob(r)}
	d.JobID, d.Token, d.Attempt, d.DueAt = r.Int64(), r.Int64(), r.Int(), r.Time()
	return d
}
