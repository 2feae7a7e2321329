package quota

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/random"
	"github.com/spoolhq/spool/store"
)

// group is this engine's part of a group.
type group struct {
	name  string
	me    string
	limit Limit
	db    store.Store
	rand  random.Source
	log   *slog.Logger
	lease time.Duration

	mu      sync.Mutex
	clock   clock
	waiters []*waiter // in the order of their calls
	permits map[*Permit]struct{}
	grants  []*grant // neither used nor in a permit, the earliest first
	slots   int64    // of the lease
	// idleSince is when a slot was last released.
	idleSince time.Duration
	leased    time.Duration // the end of the lease
	lapse     *time.Timer
	recent    []time.Duration // the starts of the last horizon
	tokens    int64           // that the last call reserved

	pending report // since report
	report  report // sent, with an unknown result

	// What the row said last.
	why      Reason
	rival    int64
	closed   time.Duration
	refusals int

	timer *time.Timer // dispatches when the next grant is usable

	closing bool          // nothing is kept for later calls
	running bool          // a goroutine synchronises
	stopped chan struct{} // closed when it ends
	due     time.Duration // when it does so next
	kick    chan struct{} // sent when due has changed

	failures  int
	shown     []wait // as published
	shownAt   time.Duration
	published bool
}

// grant is a start that this engine may use. Its times are the process's.
type grant struct {
	at          int64 // as in the row
	tokens      int64
	from, until time.Duration
}

const (
	// soon is how long a change is kept back so that others go with it.
	soon = 20 * time.Millisecond
	// settleAfter is how long a report may be kept back if nobody waits.
	settleAfter = 2 * time.Second
	// idleSlot is how long an engine keeps a slot for its next call.
	idleSlot = time.Second
	never    = time.Duration(1<<63 - 1)
)

// errLapsed cancels the calls of an engine that may no longer have its slots.
var errLapsed = spool.Errorf(spool.Unavailable, "The lease of the provider's limit could not be renewed")

func newGroup(o Settings, of Group) *group {
	return &group{
		name: of.Name, limit: of.Limit, me: spool.NewID("engine"), db: o.Store, rand: o.Random, lease: o.Lease,
		log: o.Log.With("limit", of.Name), permits: make(map[*Permit]struct{}), clock: clock{base: time.Now()},
		due: never, kick: make(chan struct{}, 1),
	}
}

// dispatch gives permits to waiting calls, in their order. The caller must hold mu.
func (g *group) dispatch() {
	for len(g.waiters) > 0 {
		now := g.clock.now()
		if now < g.closed {
			g.dispatchAt(g.closed)
			return
		}
		if g.limit.Concurrent > 0 && g.slotsInUse() >= g.slots {
			return
		}
		w := g.waiters[0]
		var use *grant
		if g.limit.rated() {
			i := g.find(w, now)
			if i < 0 {
				return
			}
			if use = g.grants[i]; use.from > now {
				g.dispatchAt(use.from)
				return
			}
			g.grants = slices.Delete(g.grants, i, i+1)
		}
		p := &Permit{group: g, slot: g.limit.Concurrent > 0, grant: use, tokens: w.Tokens}
		g.permits[p] = struct{}{}
		g.waiters = g.waiters[1:]
		w.served <- p
	}
}

// find returns the index of the first grant that a call may use now or later, or -1. The caller must hold
// mu.
func (g *group) find(w *waiter, now time.Duration) int {
	return slices.IndexFunc(g.grants, func(x *grant) bool { return now < x.until && x.tokens >= w.Tokens })
}

// expects reports whether the engine has all that the call needs. The caller must hold mu.
func (g *group) expects(w *waiter) bool {
	for _, c := range g.unmetNeeds(g.clock.now()) {
		if c.waiter == w {
			return false
		}
	}
	return true
}

func (g *group) dispatchAt(at time.Duration) {
	if g.timer != nil {
		g.timer.Stop()
	}
	g.timer = time.AfterFunc(at-g.clock.now(), func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.dispatch()
	})
}

// slotsInUse returns how many slots permits have. The caller must hold mu.
func (g *group) slotsInUse() (n int64) {
	for p := range g.permits {
		if p.slot {
			n++
		}
	}
	return n
}

// begin implements [Permit.Begin].
func (g *group) begin(ctx context.Context, p *Permit) (context.Context, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.clock.now()
	lost := g.limit.Concurrent > 0 && !p.slot
	if lost || p.grant != nil && now >= p.grant.until || now < g.closed {
		return ctx, false
	}
	p.begun = true
	if p.grant != nil {
		p.at = g.clock.latest(now)
		g.pending.used = append(g.pending.used, count{At: p.at, Starts: 1, Tokens: p.grant.tokens})
		p.tokens, g.tokens = p.grant.tokens, p.grant.tokens
		p.grant = nil
		g.recent = append(g.recent, now)
		g.wake(settleAfter)
	}
	ctx, p.cancel = context.WithCancelCause(ctx)
	return ctx, true
}

// done implements [Permit.Done].
func (g *group) done(p *Permit, u Usage) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.permits, p)
	now := g.clock.now()
	if p.grant != nil && now < p.grant.until {
		g.keep(p.grant)
	}
	if p.begun {
		g.settle(p, u)
	}
	if p.slot {
		g.idleSince = now
		if g.rival != 0 && (len(g.waiters) == 0 || g.waiters[0].since == 0 || g.rival < g.waiters[0].since) {
			g.slots-- // an older call of another engine is next
			g.wake(soon)
		} else {
			g.wake(idleSlot)
		}
	}
	g.dispatch()
}

// settle notes how a call has ended. The caller must hold mu.
func (g *group) settle(p *Permit, u Usage) {
	failed, isModel := errors.AsType[*spool.ModelError](u.Err)
	refused := isModel && failed.Status == 429 && !failed.NoRetry
	if g.limit.Tokens > 0 {
		used := p.tokens
		switch {
		case u.Tokens != nil:
			used = max(*u.Tokens, 0)
		case isModel && failed.Status >= 400:
			used = 0
		}
		if used != p.tokens {
			g.pending.settled = append(g.pending.settled, count{At: p.at, Tokens: used - p.tokens})
			g.wake(settleAfter)
		}
	}
	switch {
	case refused:
		g.pending.merge(report{refused: true, refusedFor: failed.After.Milliseconds()})
		pause := max(failed.After, time.Duration(firstPause)*time.Millisecond)
		g.closed = max(g.closed, g.clock.now()+min(pause, time.Duration(longestRefusal)*time.Millisecond))
		g.wake(0)
	case u.Err == nil && g.refusals > 0:
		g.pending.merge(report{answered: true})
		g.wake(settleAfter)
	}
}

// idle reports whether no call waits or is under way. The caller must hold mu.
func (g *group) idle() bool { return len(g.waiters) == 0 && len(g.permits) == 0 }

// close implements [Limiter.Close] for a group. The channel is closed when all is given back.
func (g *group) close() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closing = true
	if g.running && g.idle() {
		g.wake(0)
		return g.stopped
	}
	done := make(chan struct{})
	close(done)
	return done
}

// keep adds a grant to those that calls may use. The caller must hold mu.
func (g *group) keep(x *grant) {
	g.grants = append(g.grants, x)
	slices.SortStableFunc(g.grants, func(a, b *grant) int { return int(a.at - b.at) })
}

// lapsed cancels the calls under way if the lease has ended, because other engines may have the slots.
func (g *group) lapsed() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if left := g.leased - g.clock.now(); left > 0 {
		g.lapse = time.AfterFunc(left, g.lapsed)
		return
	}
	g.lapse = nil
	if g.slots == 0 && g.slotsInUse() == 0 {
		return
	}
	g.slots = 0
	for p := range g.permits {
		if p.slot = false; p.cancel != nil {
			p.cancel(errLapsed)
		}
	}
	g.wake(0)
}
