// Package slots shares a worker's slots fairly among tenants. It asks the store which tenants are
// waiting.
package slots

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/spoolhq/spool"
)

// A worker has WorkOptions.Concurrency slots and a quarter more. All tenants share them, except one of
// the first and all of the second: these are reserved for tenants without an active segment, so that a
// new tenant finds a slot even if other tenants have taken all shared slots. But a slow run of a new tenant keeps a reserved slot from the
// next new tenant. Therefore tenants above their fair share give slots back: a segment hands its run
// back after a saved step, and a later segment continues the run.

// minHold is the shortest time for which a segment keeps its slot, so that runs with short steps do not
// change slots all the time.
const minHold = time.Second

// Slots are the slots of a worker. Each executes one job at a time.
type Slots struct {
	slots int
	// reserved is how many of the free slots are only for tenants without an active segment.
	reserved  int
	perTenant int

	mu    sync.Mutex
	taken int
	// leaving is how many of the taken slots will be released soon.
	leaving int
	// active counts, by tenant, the taken slots that are not leaving.
	active map[spool.Tenant]int
	// served maps recent tenants to the time when they last got or released a slot.
	served map[spool.Tenant]time.Time
}

// maxServed bounds the number of tenants in served. A tenant that is not in served has priority.
const maxServed = 1024

// New returns the slots of a worker.
func New(o spool.WorkOptions) *Slots {
	s := &Slots{slots: o.Concurrency, perTenant: o.PerTenant, active: make(map[spool.Tenant]int), served: make(map[spool.Tenant]time.Time)}
	if o.Concurrency == 1 {
		return s
	}
	s.reserved = 1
	if o.Deliver == nil { // a delivered job is over as soon as the receiver has it
		more := (o.Concurrency + 3) / 4
		s.slots, s.reserved = s.slots+more, s.reserved+more
	}
	return s
}

// Query returns the worker's claim query. A Limit of zero means that no slot is free.
func (s *Slots) Query(lease time.Duration) spool.ClaimQuery {
	s.mu.Lock()
	defer s.mu.Unlock()
	return spool.ClaimQuery{Limit: s.slots - s.taken, Reserved: s.reserved, PerTenant: s.perTenant, Served: s.lastServed, Lease: lease}
}

// lastServed implements [spool.ClaimQuery.Served].
func (s *Slots) lastServed(tenant spool.Tenant) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.served[tenant]
}

// serve notes that a tenant gets or releases a slot. The caller must hold mu.
func (s *Slots) serve(tenant spool.Tenant) {
	s.served[tenant] = time.Now()
	if len(s.served) <= maxServed {
		return
	}
	times := slices.SortedFunc(maps.Values(s.served), time.Time.Compare)
	half := times[len(times)/2]
	maps.DeleteFunc(s.served, func(_ spool.Tenant, at time.Time) bool { return at.Before(half) })
}

// Acquire gives a job a slot.
func (s *Slots) Acquire(j spool.Job) *Slot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.acquire(j)
}

// AcquireShared gives a tenant one of the slots that all tenants share, or returns nil if none is free. The slot's
// job follows with [Slot.Use].
func (s *Slots) AcquireShared(tenant spool.Tenant) *Slot {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.slots-s.taken <= s.reserved {
		return nil
	}
	return s.acquire(spool.Job{Tenant: tenant})
}

// acquire gives a job a slot. The caller must hold mu.
func (s *Slots) acquire(j spool.Job) *Slot {
	s.taken++
	s.active[j.Tenant]++
	s.serve(j.Tenant)
	return &Slot{all: s, tenant: j.Tenant, due: j.DueAt, since: time.Now()}
}

// removeActive subtracts one from the tenant's active slots. The caller must hold mu.
func (s *Slots) removeActive(tenant spool.Tenant) {
	s.serve(tenant)
	if s.active[tenant]--; s.active[tenant] == 0 {
		delete(s.active, tenant)
	}
}

// free returns how many slots will be free once the leaving segments are gone. The caller must hold mu.
func (s *Slots) free() int { return s.slots - s.taken + s.leaving }

// full reports whether no slot is free for a tenant with an active segment.
func (s *Slots) full() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.free() <= s.reserved
}

// fairShare divides the slots among the tenants that have active slots or wait. The caller must hold
// mu.
func (s *Slots) fairShare(waiting []spool.WaitingTenant) int {
	tenants := len(s.active)
	for _, t := range waiting {
		if s.active[t.Tenant] == 0 {
			tenants++
		}
	}
	return max(1, (s.slots-s.reserved)/max(1, tenants))
}

// mustYield reports whether a tenant above its share must release a slot: either only the reserved slot
// for the next new tenant is free, or a tenant below its share waits and only reserved slots are free.
// The caller must hold mu.
func (s *Slots) mustYield(share int, waiting []spool.WaitingTenant) bool {
	if s.free() <= 1 && s.reserved > 0 {
		return true
	}
	for _, t := range waiting {
		bound := s.perTenant > 0 && t.InFlight >= s.perTenant
		// A tenant with nothing in flight takes a reserved slot instead.
		if !bound && t.InFlight > 0 && t.InFlight < share && s.free() <= s.reserved {
			return true
		}
	}
	return false
}

// takesTurns reports whether a tenant within its share releases a slot. It does so if all slots are
// taken, no tenant has more slots than this one, and a tenant without any slot waits. The waiting
// tenant is next, even if other jobs of this tenant have waited longer. The caller must hold mu.
func (s *Slots) takesTurns(tenant spool.Tenant, waiting []spool.WaitingTenant) bool {
	if s.free() > 0 {
		return false
	}
	for _, n := range s.active {
		if n > s.active[tenant] {
			return false
		}
	}
	return slices.ContainsFunc(waiting, func(t spool.WaitingTenant) bool { return t.Tenant != tenant && t.InFlight == 0 })
}

// Slot is the slot of one job. A nil Slot stands for a segment outside a worker.
type Slot struct {
	all    *Slots
	tenant spool.Tenant
	// due is the time at which the job became due. It orders the job among its tenant's jobs.
	due     time.Time
	since   time.Time
	leaving bool // guarded by all.mu
}

// Use gives the slot the job that it was acquired for. It must be called before the job begins.
func (s *Slot) Use(j spool.Job) { s.due, s.since = j.DueAt, time.Now() }

// Wanted reports whether a segment has to release its slot after a saved step. The due time is for the
// run's next ticket, so that the run keeps its position among its tenant's jobs. If wanted is true, the
// slot counts as leaving until Keep or Release.
func (s *Slot) Wanted(ctx context.Context, store spool.Store) (due time.Time, wanted bool, err error) {
	if s == nil || time.Since(s.since) < minHold || !s.all.full() {
		return time.Time{}, false, nil
	}
	stats, err := store.Stats(ctx, spool.StatsQuery{Waiting: true})
	if err != nil {
		return time.Time{}, false, err
	}
	waiting := stats.Waiting
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	share := s.all.fairShare(waiting)
	if s.all.active[s.tenant] > share {
		wanted = s.all.mustYield(share, waiting)
	} else {
		wanted = s.all.takesTurns(s.tenant, waiting)
	}
	if wanted {
		s.leaving = true
		s.all.leaving++
		s.all.removeActive(s.tenant)
	}
	return s.due, wanted, nil
}

// Keep cancels the release that Wanted asked for.
func (s *Slot) Keep() {
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	s.leaving = false
	s.all.leaving--
	s.all.active[s.tenant]++
}

func (s *Slot) Release() {
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	s.all.taken--
	if s.leaving {
		s.all.leaving--
	} else {
		s.all.removeActive(s.tenant)
	}
}
