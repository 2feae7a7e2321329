package worker

import (
	"context"
	"slices"
	"sync"

	"github.com/spoolhq/spool/engine/internal/slots"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Workers are the workers of a process. It is safe for concurrent use.
type Workers struct {
	mu      sync.Mutex
	reserve map[*worker]func(wire.Job) *Place
}

// Reserve reserves a place for a job that is about to be written, so that the job can be added as a claimed one.
// It returns nil if no worker of the process would be the next to claim the job: all slots that are not reserved are
// taken, or other jobs may be waiting for them. The caller must call either [Place.Execute] or [Place.Release].
func (s *Workers) Reserve(j wire.Job) *Place {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, reserve := range s.reserve {
		if place := reserve(j); place != nil {
			return place
		}
	}
	return nil
}

// reserveIn does the same with one worker, unless it has left.
func (s *Workers) reserveIn(w *worker, j wire.Job) *Place {
	s.mu.Lock()
	defer s.mu.Unlock()
	if reserve := s.reserve[w]; reserve != nil {
		return reserve(j)
	}
	return nil
}

// join adds a worker, which executes jobs with ctx, until the returned function is called.
func (s *Workers) join(ctx context.Context, w *worker) (leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reserve == nil {
		s.reserve = make(map[*worker]func(wire.Job) *Place)
	}
	s.reserve[w] = func(j wire.Job) *Place { return w.reserve(ctx, j) }
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.reserve, w)
	}
}

// Place is a slot of a worker, for one job.
type Place struct {
	worker  *worker
	slot    *slots.Slot
	deliver func(d store.Delivery, handle Handle)
}

// place returns the place of a slot.
func (w *worker) place(ctx context.Context, slot *slots.Slot) *Place {
	w.busy.Add(1)
	return &Place{worker: w, slot: slot, deliver: func(d store.Delivery, handle Handle) {
		w.Claimed(ctx, d)
		w.deliver(ctx, d, slot, handle)
	}}
}

// Execute executes a claimed job in a goroutine of the worker, and then gives the place up.
func (p *Place) Execute(d store.Delivery, handle Handle) {
	p.slot.Use(d.Job)
	go func() {
		defer p.Release()
		p.deliver(d, handle)
	}()
}

// Release gives the place up.
func (p *Place) Release() {
	p.slot.Release()
	w := p.worker
	if !p.slot.Quiet() || w.demand.mayWait() || w.options.PerTenant > 0 { // the bound may have kept another job back
		w.pollNow()
	}
	w.busy.Done()
}

// reserve returns a place for a job, or nil unless the worker would claim the job before any other one.
func (w *worker) reserve(ctx context.Context, j wire.Job) *Place {
	switch {
	case w.options.Deliver != nil, w.options.PerTenant > 0: // the bound of a tenant needs the store
		return nil
	case !slices.Contains(w.queues, j.Queue), !slices.Contains(w.agents, j.Agent):
		return nil
	}
	slot := w.demand.unlessWaiting(func() *slots.Slot { return w.slots.AcquireShared(j) })
	if slot == nil {
		return nil
	}
	return w.place(ctx, slot)
}

// demand tells whether jobs may be waiting for the worker: since a claim that took all due jobs, there was no
// wake-up.
type demand struct {
	mu    sync.Mutex
	wakes int
	none  bool
	// told counts the claims of tickets that the worker was told of. A wake-up during one of them makes the worker poll
	// when the claim has ended (late): before, the poll would find the same ticket.
	told int
	late bool
}

// wake notes that a job may be waiting.
func (d *demand) wake() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.wakes++
	d.none = false
}

// woken notes a wake-up, and reports whether the worker has to poll now.
func (d *demand) woken() (poll bool) {
	d.wake()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.late = d.told > 0
	return !d.late
}

// claimingTold notes the begin of a claim of a ticket that the worker was told of.
func (d *demand) claimingTold() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.told++
}

// claimedTold notes its end, and reports whether the worker has to poll.
func (d *demand) claimedTold() (poll bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.told--
	poll, d.late = d.late, false
	return poll
}

// claiming notes the begin of a claim. The returned function notes its end, and whether it took all due jobs.
func (d *demand) claiming() (claimed func(all bool)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	wakes := d.wakes
	d.none = false
	return func(all bool) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.none = all && d.wakes == wakes
	}
}

// mayWait reports whether a job may be waiting.
func (d *demand) mayWait() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.none
}

// unlessWaiting calls fn if no job is waiting, and otherwise returns nil.
func (d *demand) unlessWaiting(fn func() *slots.Slot) *slots.Slot {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.none {
		return nil
	}
	return fn()
}
