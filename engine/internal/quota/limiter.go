package quota

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/random"
	"github.com/spoolhq/spool/store"
)

// Limiter lets model calls wait for their provider's limits. It is safe for concurrent use. It has a
// goroutine for each group only while calls wait or are under way, and for a few seconds after them.
type Limiter struct {
	groups map[string]*group // by the names of models
}

// Settings are the dependencies of a [Limiter].
type Settings struct {
	Store  store.Store
	Random random.Source
	Log    *slog.Logger
	// Lease is how long the slots of an engine that died stay taken.
	Lease time.Duration
}

// Group names a provider's limit. Groups of the same name share it.
type Group struct {
	Name string
	Limit
}

// New returns the limiter of an engine. Groups has the limits of models by their names. A model without a
// group has no limit.
func New(o Settings, groups map[string]Group) *Limiter {
	l := &Limiter{groups: make(map[string]*group, len(groups))}
	byName := make(map[string]*group)
	for model, of := range groups {
		g := byName[of.Name]
		if g == nil {
			g = newGroup(o, of)
			byName[of.Name] = g
		}
		l.groups[model] = g
	}
	return l
}

// Limits reports whether a model has a limit.
func (l *Limiter) Limits(model string) bool { return l != nil && l.groups[model] != nil }

// closeTimeout bounds how long Close waits for the store.
const closeTimeout = 2 * time.Second

// Close gives back what no call needs, and waits for it up to two seconds. Calls may go on; what they have used
// is then reported at once.
func (l *Limiter) Close() {
	if l == nil {
		return
	}
	timeout := time.NewTimer(closeTimeout)
	defer timeout.Stop()
	for _, g := range l.groups {
		select {
		case <-g.close():
		case <-timeout.C:
			return
		}
	}
}

// Call is a model call that has to wait for its turn.
type Call struct {
	// Model is the configured name of the model.
	Model string
	// Tokens is how many tokens the call will need, by estimate.
	Tokens int64
	// Tenant has the run, and Run and Root are its id and that of its dispatched run. Empty: the call
	// belongs to no run.
	Tenant    spool.Tenant
	Run, Root spool.RunID
	// OnWait is called once, by the goroutine that waits, if the call has waited for [Visible].
	OnWait func(Reason)
}

// Visible is how long a call waits before others can see that it waits.
const Visible = time.Second

// Permit allows one model call. A nil Permit allows it without a limit. The caller calls Begin directly
// before the call, and Done after it; or only Done if it makes no call.
type Permit struct {
	group  *group
	slot   bool // the call has a slot of the group's lease
	grant  *grant
	tokens int64
	begun  bool
	at     int64 // of the start, in the store's time
	ended  atomic.Bool
	cancel context.CancelCauseFunc
}

// Acquire waits until the limits allow a call. Calls of a group are served in the order in which they began to
// wait. It returns ctx's error if ctx ends first.
func (l *Limiter) Acquire(ctx context.Context, c Call) (*Permit, error) {
	if !l.Limits(c.Model) {
		return nil, nil //nolint:nilnil // a nil Permit has no limit
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	g := l.groups[c.Model]
	w := g.enter(c)
	visible := time.NewTimer(Visible)
	defer visible.Stop()
	for {
		select {
		case p := <-w.served:
			return p, nil
		case <-visible.C:
			if c.OnWait != nil {
				c.OnWait(g.reason())
			}
		case <-ctx.Done():
			g.leave(w)
			return nil, ctx.Err()
		}
	}
}

// Begin starts the call and returns its context, which ends when the group's lease is lost. It reports false
// if the permit has expired: then the caller has to call Done and to acquire another one.
func (p *Permit) Begin(ctx context.Context) (context.Context, bool) {
	if p == nil {
		return ctx, true
	}
	return p.group.begin(ctx, p)
}

// Usage is what a call has used.
type Usage struct {
	// Tokens are those that the provider reported. Nil: it did not report them.
	Tokens *int64
	// Err is the error with which the call ended, or nil.
	Err error
}

// Done ends the call. It may be called more than once, and then only the first call counts.
func (p *Permit) Done(u Usage) {
	if p == nil || p.ended.Swap(true) {
		return
	}
	p.group.done(p, u)
	if p.cancel != nil {
		p.cancel(nil)
	}
}

// waiter is a call that waits.
type waiter struct {
	Call

	began  time.Duration
	since  int64 // in the store's time; zero: not known yet
	served chan *Permit
}

// enter lets a call wait.
func (g *group) enter(c Call) *waiter {
	w := &waiter{Call: c, served: make(chan *Permit, 1)}
	if g.limit.Tokens > 0 {
		w.Tokens = min(max(w.Tokens, 0), g.limit.Tokens)
	} else {
		w.Tokens = 0
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	w.began = g.clock.now()
	g.waiters = append(g.waiters, w)
	if g.dispatch(); slices.Contains(g.waiters, w) && !g.expects(w) {
		g.wake(0)
	}
	return w
}

// leave ends a wait.
func (g *group) leave(w *waiter) {
	g.mu.Lock()
	at := slices.Index(g.waiters, w)
	if at >= 0 {
		g.waiters = slices.Delete(g.waiters, at, at+1)
		g.wake(soon)
		g.dispatch()
	}
	g.mu.Unlock()
	if at < 0 {
		(<-w.served).Done(Usage{})
	}
}

// reason returns what the calls wait for.
func (g *group) reason() Reason {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.blocked()
}

// blocked does the same as reason. The caller must hold mu.
func (g *group) blocked() Reason {
	switch {
	case g.clock.now() < g.closed:
		return Refused
	case g.why != "":
		return g.why
	case g.limit.Requests > 0:
		return Requests
	case g.limit.Tokens > 0:
		return Tokens
	default:
		return Concurrent
	}
}
