// Package slots shares the places of a worker fairly among tenants. It touches the queue only to see
// which tenants wait.
package slots

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/spoolhq/spool"
)

// A worker has WorkOptions.Concurrency slots, which tenants share, and a fourth more for tenants
// that have nothing at work. So a new tenant finds a slot although other tenants have taken all
// slots that they may take. A slow run of a new tenant keeps its slot, which the next new tenant
// then lacks. So tenants that have more than a fair share give slots back: a segment hands its run
// back when it has saved a step, and a later segment carries the run on.

// leastHold is for how long a segment has its slot before it may have to give it back, so that
// runs of short steps do not change slots all the time.
const leastHold = time.Second

// Slots are the places of a worker. Each place carries one segment at a time.
type Slots struct {
	places int
	// reserved is how many of the free places are only for tenants that have nothing at work.
	reserved  int
	perTenant int

	mu    sync.Mutex
	taken int
	// leaving is how many of the taken places are about to be given back.
	leaving int
	// work counts the others by tenant.
	work map[spool.Tenant]int
	// served is when a tenant has last got a place or given one back, for those of lately.
	served map[spool.Tenant]time.Time
}

// maxServed bounds of how many tenants it is known when they had their turn. The others come
// before them.
const maxServed = 1024

// New returns the places of a worker.
func New(o spool.WorkOptions) *Slots {
	s := &Slots{places: o.Concurrency, perTenant: o.PerTenant, work: make(map[spool.Tenant]int), served: make(map[spool.Tenant]time.Time)}
	if o.Concurrency == 1 {
		return s
	}
	s.reserved = 1
	if o.Deliver == nil { // a push is over once the receiver has the job
		more := (o.Concurrency + 3) / 4
		s.places, s.reserved = s.places+more, s.reserved+more
	}
	return s
}

// Query returns what a worker claims. A Limit of zero says that no place is free.
func (s *Slots) Query(lease time.Duration) spool.ClaimQuery {
	s.mu.Lock()
	defer s.mu.Unlock()
	return spool.ClaimQuery{Limit: s.places - s.taken, Reserved: s.reserved, PerTenant: s.perTenant, Served: s.lastServed, Lease: lease}
}

// lastServed is [spool.ClaimQuery.Served].
func (s *Slots) lastServed(tenant spool.Tenant) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.served[tenant]
}

// serve notes that a tenant has a place now, or had one until now. It is called with mu held.
func (s *Slots) serve(tenant spool.Tenant) {
	s.served[tenant] = time.Now()
	if len(s.served) <= maxServed {
		return
	}
	times := slices.SortedFunc(maps.Values(s.served), time.Time.Compare)
	half := times[len(times)/2]
	maps.DeleteFunc(s.served, func(_ spool.Tenant, at time.Time) bool { return at.Before(half) })
}

// Take gives a job one of the places.
func (s *Slots) Take(j spool.Job) *Slot {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken++
	s.work[j.Tenant]++
	s.serve(j.Tenant)
	return &Slot{all: s, tenant: j.Tenant, due: j.DueAt, since: time.Now()}
}

// leave counts one segment of the tenant less. It is called with mu held.
func (s *Slots) leave(tenant spool.Tenant) {
	s.serve(tenant)
	if s.work[tenant]--; s.work[tenant] == 0 {
		delete(s.work, tenant)
	}
}

// free is how many places are free once the leaving segments are gone. It is called with mu held.
func (s *Slots) free() int { return s.places - s.taken + s.leaving }

// full reports whether no place is free for a tenant that has something at work.
func (s *Slots) full() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.free() <= s.reserved
}

// fairShare divides the places by the tenants that have something at work or wait. It is called
// with mu held.
func (s *Slots) fairShare(waiting []spool.WaitingTenant) int {
	tenants := len(s.work)
	for _, t := range waiting {
		if s.work[t.Tenant] == 0 {
			tenants++
		}
	}
	return max(1, (s.places-s.reserved)/max(1, tenants))
}

// above reports whether a tenant that has more than the share gives a place back: because a tenant
// with less waits, or because the last free place has to stay free for a new tenant. It is called
// with mu held.
func (s *Slots) above(share int, waiting []spool.WaitingTenant) bool {
	if s.free() <= 1 && s.reserved > 0 {
		return true
	}
	for _, t := range waiting {
		bound := s.perTenant > 0 && t.InFlight >= s.perTenant
		// A tenant with nothing in flight takes one of the reserved places.
		if !bound && t.InFlight > 0 && t.InFlight < share && s.free() <= s.reserved {
			return true
		}
	}
	return false
}

// inTurn reports whether a tenant gives a place back although it has no more than its share: all
// places are taken, no tenant has more of them, and a tenant that has none waits. That tenant has
// the next turn, however long this one's other jobs have waited. It is called with mu held.
func (s *Slots) inTurn(tenant spool.Tenant, waiting []spool.WaitingTenant) bool {
	if s.free() > 0 {
		return false
	}
	for _, n := range s.work {
		if n > s.work[tenant] {
			return false
		}
	}
	return slices.ContainsFunc(waiting, func(t spool.WaitingTenant) bool { return t.Tenant != tenant && t.InFlight == 0 })
}

// Slot is the place of one job. A segment that no worker carries has none, which is nil.
type Slot struct {
	all    *Slots
	tenant spool.Tenant
	// due is when the job became due, by which it has a place in its tenant's line.
	due     time.Time
	since   time.Time
	leaving bool // guarded by all.mu
}

// Wanted reports whether a segment that has saved a step has to give its slot back. Due gives the
// run its old place in the tenant's line. The slot then counts as leaving, until Stay or Release.
func (s *Slot) Wanted(ctx context.Context, q spool.Queue) (due time.Time, wanted bool, err error) {
	if s == nil || time.Since(s.since) < leastHold || !s.all.full() {
		return time.Time{}, false, nil
	}
	waiting, err := q.Waiting(ctx)
	if err != nil {
		return time.Time{}, false, err
	}
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	share := s.all.fairShare(waiting)
	if s.all.work[s.tenant] > share {
		wanted = s.all.above(share, waiting)
	} else {
		wanted = s.all.inTurn(s.tenant, waiting)
	}
	if wanted {
		s.leaving = true
		s.all.leaving++
		s.all.leave(s.tenant)
	}
	return s.due, wanted, nil
}

// Stay keeps the slot after all.
func (s *Slot) Stay() {
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	s.leaving = false
	s.all.leaving--
	s.all.work[s.tenant]++
}

// Release gives the place back.
func (s *Slot) Release() {
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	s.all.taken--
	if s.leaving {
		s.all.leaving--
	} else {
		s.all.leave(s.tenant)
	}
}
