// Package slots shares a worker's slots fairly among tenants, and those of a tenant among its subjects. It asks
// the store which of them are waiting.
package slots

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// A worker has WorkOptions.Concurrency slots for all, and reserves one more and a quarter of them: for tenants and
// subjects below their share, so that these find a slot even if others have taken all of the first. The claim keeps to
// that, see [store.ClaimQuery.Kept]. But a slow run of a tenant in a reserved slot keeps the slot from the next one.
// Therefore those above their share give slots back: a segment hands its run back after a saved step, and a later
// segment continues the run.

// minHold is the shortest time for which a segment keeps its slot, so that runs with short steps do not
// change slots all the time.
const minHold = time.Second

// Slots are the slots of a worker. Each executes one job at a time.
type Slots struct {
	// Queues are those from which the worker claims. It yields to nobody who waits in other queues. Nil: all.
	Queues []string

	slots int
	// reserved is how many of the slots are for tenants and subjects below their share.
	reserved  int
	perTenant int

	mu    sync.Mutex
	inUse int
	// leaving is how many of the taken slots will be released soon.
	leaving int
	// active counts, by tenant, the taken slots that are not leaving.
	active map[spool.Tenant]int
	// bySubject divides active by subjects.
	bySubject map[spool.Tenant]map[string]int
	// served maps recent tenants to the time when they last got or released a slot.
	served map[spool.Tenant]time.Time
}

// maxServed bounds the number of tenants in served. A tenant that is not in served has priority.
const maxServed = 1024

// Options are the slots' part of the engine's WorkOptions.
type Options struct {
	Concurrency, PerTenant, MaxDeliveries int

	Queues     []string
	Events     map[string]func(ctx context.Context, event store.Delivery) error
	EventsOnly bool
	Deliver    func(ctx context.Context, d store.Delivery) (wire.JobResult, error)
}

// New returns the slots of a worker.
func New(o Options) *Slots {
	s := &Slots{
		slots: o.Concurrency, perTenant: o.PerTenant,
		active: make(map[spool.Tenant]int), bySubject: make(map[spool.Tenant]map[string]int),
		served: make(map[spool.Tenant]time.Time),
	}
	switch {
	case o.Concurrency == 1:
	case o.Deliver != nil: // a delivered job is over as soon as the receiver has it
		s.reserved = 1
	default:
		s.reserved = 1 + (o.Concurrency+3)/4
		s.slots += s.reserved
	}
	return s
}

// Query returns the worker's claim query. A Limit of zero means that no slot is free.
func (s *Slots) Query(lease time.Duration) store.ClaimQuery {
	s.mu.Lock()
	defer s.mu.Unlock()
	return store.ClaimQuery{
		Limit: s.slots - s.inUse, Reserved: s.reserved, PerTenant: s.perTenant, Served: s.lastServed, Lease: lease,
	}
}

// lastServed implements [store.ClaimQuery.Served].
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
func (s *Slots) Acquire(j wire.Job) *Slot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.acquire(j)
}

// AcquireShared gives a job that is about to be written one of the slots that are not reserved, or returns nil if none
// is free. The job follows with [Slot.Use].
func (s *Slots) AcquireShared(j wire.Job) *Slot {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.slots-s.inUse <= s.reserved {
		return nil
	}
	return s.acquire(j)
}

// acquire gives a job a slot. The caller must hold mu.
func (s *Slots) acquire(j wire.Job) *Slot {
	slot := &Slot{all: s, tenant: j.Tenant, subject: j.Subject, due: j.DueAt, since: time.Now()}
	s.inUse++
	s.addActive(slot, 1)
	s.serve(j.Tenant)
	return slot
}

// addActive changes the number of active slots of a slot's tenant and subject. The caller must hold mu.
func (s *Slots) addActive(of *Slot, n int) {
	subjects := s.bySubject[of.tenant]
	if subjects == nil {
		subjects = make(map[string]int)
		s.bySubject[of.tenant] = subjects
	}
	s.active[of.tenant] += n
	if subjects[of.subject] += n; subjects[of.subject] == 0 {
		delete(subjects, of.subject)
	}
	if s.active[of.tenant] == 0 {
		delete(s.active, of.tenant)
		delete(s.bySubject, of.tenant)
	}
}

// leave notes that a slot is not active any more. The caller must hold mu.
func (s *Slots) leave(of *Slot) {
	s.serve(of.tenant)
	s.addActive(of, -1)
}

// free returns how many slots will be free once the leaving segments are gone. The caller must hold mu.
func (s *Slots) free() int { return s.slots - s.inUse + s.leaving }

// full reports whether a tenant that has its share finds no slot.
func (s *Slots) full(tenant spool.Tenant) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.free() <= s.reserved || s.perTenant > 0 && s.active[tenant] >= s.perTenant
}

// kept is [store.ClaimQuery.Kept] of this worker.
func (s *Slots) kept(l store.ClaimLoad) int { return store.ClaimQuery{Reserved: s.reserved}.Kept(l) }

// fairShare divides the slots among the tenants that have active slots or wait. The caller must hold
// mu.
func (s *Slots) fairShare(waiting []wire.WaitingTenant) int {
	tenants := len(s.active)
	for _, t := range waiting {
		if s.active[t.Tenant] == 0 {
			tenants++
		}
	}
	return max(1, (s.slots-s.reserved)/max(1, tenants))
}

// mustYield reports whether a tenant above its share must release a slot: either only the reserved slot
// for the next new tenant is free, or a tenant that has less waits and finds no slot. The tenants may have jobs in
// flight at other workers, too. The caller must hold mu.
func (s *Slots) mustYield(tenant spool.Tenant, share int, waiting []wire.WaitingTenant) bool {
	if s.free() <= 1 && s.reserved > 0 {
		return true
	}
	own := s.inFlight(tenant, waiting)
	for _, t := range waiting {
		bound := s.perTenant > 0 && t.InFlight >= s.perTenant
		kept := s.kept(store.ClaimLoad{Tenant: t.InFlight, TenantShare: max(share, own)})
		if t.Tenant != tenant && !bound && t.InFlight+1 < own && s.free() <= kept {
			return true
		}
	}
	return false
}

// inFlight returns how many jobs a tenant has in flight, as far as the worker knows. The caller must hold mu.
func (s *Slots) inFlight(tenant spool.Tenant, waiting []wire.WaitingTenant) int {
	n := s.active[tenant]
	for _, t := range waiting {
		if t.Tenant == tenant {
			n = max(n, t.InFlight)
		}
	}
	return n
}

// yieldsSlot reports whether a tenant within its share releases a slot. It does so if all slots are
// taken, no tenant has more slots than this one, and a tenant without any slot waits. The waiting
// tenant is next, even if other jobs of this tenant have waited longer. The caller must hold mu.
func (s *Slots) yieldsSlot(tenant spool.Tenant, waiting []wire.WaitingTenant) bool {
	if s.free() > 0 {
		return false
	}
	for _, n := range s.active {
		if n > s.active[tenant] {
			return false
		}
	}
	return slices.ContainsFunc(waiting, func(t wire.WaitingTenant) bool { return t.Tenant != tenant && t.InFlight == 0 })
}

// yieldsToSubject reports whether a subject releases a slot to another one of its tenant, which waits and finds no
// slot. It does so if it has at least two more than the other one, so that the other one does not give the slot back at
// once. If the other one has none, a subject releases its only slot, too: they take turns. The caller must hold mu.
func (s *Slots) yieldsToSubject(of *Slot, share int, stats wire.Stats) bool {
	subjects := s.bySubject[of.tenant]
	own, people, most := subjects[of.subject], len(subjects), 0
	for _, n := range subjects {
		most = max(most, n)
	}
	for _, w := range stats.Subjects {
		if subjects[w.Subject] == 0 {
			people++
		}
	}
	load := store.ClaimLoad{
		Tenant: s.inFlight(of.tenant, stats.Waiting), TenantShare: share, SubjectShare: max(1, share/people),
	}
	bound := s.perTenant > 0 && load.Tenant >= s.perTenant
	for _, w := range stats.Subjects {
		load.Subject = w.InFlight
		finds := !bound && s.free() > s.kept(load)
		if w.Subject != of.subject && !finds && (w.InFlight+1 < own || w.InFlight == 0 && own == most) {
			return true
		}
	}
	return false
}

// Slot is the slot of one job. A nil Slot stands for a segment outside a worker.
type Slot struct {
	all     *Slots
	tenant  spool.Tenant
	subject string
	// due is the time at which the job became due. It orders the job among its tenant's jobs.
	due     time.Time
	since   time.Time
	leaving bool // guarded by all.mu
	// jobDone and newJobs say what the transactions of the job have done: see Note.
	jobDone, newJobs atomic.Bool
}

// Use gives the slot the job that it was acquired for. It must be called before the job begins.
func (s *Slot) Use(j wire.Job) { s.due, s.since = j.DueAt, time.Now() }

// Note notes what a transaction of the job has done: whether it has removed the job from the store, and whether it has
// added jobs there. S may be nil.
func (s *Slot) Note(jobDone, newJobs bool) {
	if s == nil {
		return
	}
	if jobDone {
		s.jobDone.Store(true)
	}
	if newJobs {
		s.newJobs.Store(true)
	}
}

// JobDone reports whether the store does not have the job any more.
func (s *Slot) JobDone() bool { return s.jobDone.Load() }

// Quiet reports whether the job has left nothing in the queue for which a worker would have to look.
func (s *Slot) Quiet() bool { return s.jobDone.Load() && !s.newJobs.Load() }

// Wanted reports whether a segment has to release its slot after a saved step. The due time is for the
// run's next ticket, so that the run keeps its position among its tenant's jobs. If wanted is true, the
// slot counts as leaving until Keep or Release.
func (s *Slot) Wanted(ctx context.Context, db store.Store) (due time.Time, wanted bool, err error) {
	if s == nil || time.Since(s.since) < minHold || !s.all.full(s.tenant) {
		return time.Time{}, false, nil
	}
	stats, err := db.Stats(ctx, wire.StatsQuery{Waiting: true, Tenant: s.tenant, Queues: s.all.Queues})
	if err != nil {
		return time.Time{}, false, err
	}
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	share := s.all.fairShare(stats.Waiting)
	if s.all.active[s.tenant] > share {
		wanted = s.all.mustYield(s.tenant, share, stats.Waiting)
	} else {
		wanted = s.all.yieldsSlot(s.tenant, stats.Waiting)
	}
	if wanted = wanted || s.all.yieldsToSubject(s, share, stats); wanted {
		s.leaving = true
		s.all.leaving++
		s.all.leave(s)
	}
	return s.due, wanted, nil
}

// Keep cancels the release that Wanted asked for.
func (s *Slot) Keep() {
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	s.leaving = false
	s.all.leaving--
	s.all.addActive(s, 1)
}

// Release gives the slot back to the worker.
func (s *Slot) Release() {
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	s.all.inUse--
	if s.leaving {
		s.all.leaving--
	} else {
		s.all.leave(s)
	}
}
