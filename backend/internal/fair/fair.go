// Package fair chooses the jobs of a claim, as [store.Store.Claim] describes it, for the stores that choose in Go.
package fair

import (
	"cmp"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// Claim has what a store knows before it chooses jobs.
type Claim struct {
	query    store.ClaimQuery
	inFlight int
	tenants  map[spool.Tenant]*tenant
}

type tenant struct {
	inFlight int
	// share and each are the shares of the tenant and of each of its subjects.
	share, each int
	served      time.Time
	subjects    map[string]*subject
}

type subject struct {
	inFlight int
	// due has the due jobs, the oldest first.
	due []store.Delivery
}

// New returns a claim without jobs.
func New(q store.ClaimQuery) *Claim {
	return &Claim{query: q, tenants: make(map[spool.Tenant]*tenant)}
}

// Waits adds a tenant that has due jobs.
func (c *Claim) Waits(of spool.Tenant) { c.tenant(of) }

// InFlight adds n jobs in flight.
func (c *Claim) InFlight(of spool.Tenant, name string, n int) {
	t := c.tenant(of)
	t.inFlight += n
	t.subject(name).inFlight += n
	c.inFlight += n
}

// Due adds a due job. The jobs of a subject must come in the order in which they became due.
func (c *Claim) Due(d store.Delivery) {
	s := c.tenant(d.Tenant).subject(d.Subject)
	s.due = append(s.due, d)
}

func (c *Claim) tenant(of spool.Tenant) *tenant {
	t := c.tenants[of]
	if t == nil {
		t = &tenant{served: c.query.ServedAt(of), subjects: make(map[string]*subject)}
		c.tenants[of] = t
	}
	return t
}

func (t *tenant) subject(name string) *subject {
	s := t.subjects[name]
	if s == nil {
		s = &subject{}
		t.subjects[name] = s
	}
	return s
}

// Choose chooses the jobs to claim, one by one.
func (c *Claim) Choose() (chosen []store.Delivery) {
	for _, t := range c.tenants {
		t.share = c.query.TenantShare(c.inFlight, len(c.tenants))
		t.each = c.query.SubjectShare(t.share, len(t.subjects))
	}
	for len(chosen) < c.query.Limit {
		next := c.next(c.query.Limit - len(chosen))
		if next.subject == nil {
			break
		}
		chosen = append(chosen, next.due[0])
		next.tenant.inFlight++
		next.subject.inFlight++
		next.due = next.due[1:]
	}
	return chosen
}

// candidate is the oldest due job of a subject.
type candidate struct {
	*tenant
	*subject

	kept int
}

// next returns the job to choose, if that many slots are free. Its subject is nil if there is none.
func (c *Claim) next(free int) (next candidate) {
	for _, t := range c.tenants {
		if c.query.PerTenant > 0 && t.inFlight >= c.query.PerTenant {
			continue
		}
		for _, s := range t.subjects {
			if len(s.due) == 0 {
				continue
			}
			kept := c.query.Kept(store.ClaimLoad{
				Tenant: t.inFlight, TenantShare: t.share, Subject: s.inFlight, SubjectShare: t.each,
			})
			this := candidate{t, s, kept}
			if free > kept && (next.subject == nil || this.before(next)) {
				next = this
			}
		}
	}
	return next
}

func (c candidate) before(other candidate) bool {
	a, b := c.due[0], other.due[0]
	return cmp.Or(
		cmp.Compare(c.kept, other.kept), cmp.Compare(c.tenant.inFlight, other.tenant.inFlight),
		c.served.Compare(other.served),
		cmp.Compare(c.subject.inFlight, other.subject.inFlight), a.DueAt.Compare(b.DueAt), cmp.Compare(a.JobID, b.JobID),
	) < 0
}
