package quota

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// rowKind is the kind of the rows with the groups' states.
const rowKind = "provider_limit"

const (
	// storeTimeout bounds a call of the store.
	storeTimeout = 5 * time.Second
	// A failing store is tried again after firstRetry, then after twice that, up to longestRetry.
	firstRetry, longestRetry = 100 * time.Millisecond, 5 * time.Second
	// reportAttempts is how often a report is tried again if no call waits or is under way. What was not
	// reported counts as used.
	reportAttempts = 3
	// A call that cannot be served yet is asked for again after at least shortPoll and at most longPoll.
	shortPoll, longPoll = 100 * time.Millisecond, time.Second
	slotPoll            = 200 * time.Millisecond
)

var errUnchanged = errors.New("nothing has changed")

// wake makes the goroutine synchronise within a time, and starts it if there is none. The caller must hold mu.
func (g *group) wake(in time.Duration) {
	if g.closing && g.idle() {
		in = min(in, soon)
	}
	at := g.clock.now() + in
	if g.running && g.due <= at {
		return
	}
	g.due = min(g.due, at)
	if !g.running {
		g.running, g.stopped = true, make(chan struct{})
		go g.run()
		return
	}
	select {
	case g.kick <- struct{}{}:
	default:
	}
}

// run synchronises with the row until there is nothing more to do.
//
//nolint:contextcheck,nolintlint // contextcheck reads this at the callers: it serves all calls, and outlives the one that starts it
func (g *group) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		g.mu.Lock()
		due, now := g.due, g.clock.now()
		if due == never {
			g.running = false
			close(g.stopped)
			g.mu.Unlock()
			return
		}
		if due <= now {
			g.due = never
		}
		g.mu.Unlock()
		if due > now {
			timer.Reset(due - now)
			select {
			case <-timer.C:
			case <-g.kick:
			}
			continue
		}
		out, err := g.syncRow()
		g.plan(out, err)
		g.publish()
	}
}

// plan says when to synchronise next.
func (g *group) plan(out served, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case errors.Is(err, store.ErrRowChanged):
		g.failures++
		g.wake(g.rand.UpTo(min(time.Duration(g.failures)*soon, longPoll)))
		return
	case err != nil:
		g.failures++
		if g.idle() && g.failures > reportAttempts {
			g.pending, g.report, g.grants, g.slots, g.failures = report{}, report{number: g.report.number}, nil, 0, 0
			return
		}
		delay := min(firstRetry<<min(g.failures, 10), longestRetry)
		g.wake(delay/2 + g.rand.UpTo(delay/2))
		return
	}
	g.failures = 0
	now := g.clock.now()
	if unmet := g.unmetNeeds(now); len(unmet) > 0 {
		wait := slotPoll
		if out.next > 0 {
			wait = min(max(g.clock.reached(out.next-horizon)-now, shortPoll), longPoll)
		}
		g.wake(wait*3/4 + g.rand.UpTo(wait/2))
	}
	if len(g.waiters) > 0 {
		g.wake(longPoll) // to publish the waits, and to learn of refusals
	}
	for _, x := range g.grants {
		g.wake(max(x.until-now, 0))
	}
	if !g.pending.empty() {
		g.wake(settleAfter)
	}
	switch {
	case g.slots > g.slotsInUse():
		g.wake(idleSlot)
	case g.slots > 0:
		g.wake(g.lease / 3)
	}
	if g.published {
		g.wake(longPoll)
	}
}

// syncRow reports to the row, and takes from it what the waiting calls need.
func (g *group) syncRow() (out served, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	if err := g.measure(ctx); err != nil {
		return out, g.failed(ctx, err)
	}
	row, before, err := g.read(ctx)
	if err != nil {
		return out, g.failed(ctx, err)
	}
	g.mu.Lock()
	if before.Holders[g.me].Report == g.report.number { // the last report has arrived
		g.report = report{number: g.report.number}
	} else {
		g.report.merge(g.pending)
		g.pending, g.report = g.report, report{number: g.report.number}
	}
	r := g.request()
	from := g.clock.now()
	g.mu.Unlock()

	var at time.Time
	err = g.db.Update(ctx, spool.ThreadKey{}, 0, func(tx store.Tx) error {
		at = tx.Now()
		after := before.clone()
		if out = after.serve(at.UnixMilli(), g.limit, r); !out.changed {
			return errUnchanged
		}
		next, err := after.row(g.name, row.Version)
		if err != nil {
			return err
		}
		return tx.Write(store.Changes{Rows: []store.Row{next}})
	})
	written := err == nil
	if errors.Is(err, errUnchanged) {
		err = nil
	}
	if err != nil {
		return out, g.failed(ctx, err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.clock.learn(from, g.clock.now(), at)
	if written {
		g.report = report{number: g.report.number}
		g.renewed(from)
	}
	g.apply(out)
	return out, nil
}

// measure reads the store's clock if it is not known yet.
func (g *group) measure(ctx context.Context) error {
	g.mu.Lock()
	known, from := g.clock.known, g.clock.now()
	g.mu.Unlock()
	if known {
		return nil
	}
	var at time.Time
	err := g.db.Update(ctx, spool.ThreadKey{}, 0, func(tx store.Tx) error {
		at = tx.Now()
		return errUnchanged
	})
	if !errors.Is(err, errUnchanged) {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.clock.learn(from, g.clock.now(), at)
	return nil
}

// read returns the row and its state. A row that cannot be decoded counts as empty.
func (g *group) read(ctx context.Context) (row store.Row, s state, err error) {
	rows, err := g.db.Rows(ctx, store.RowQuery{Kind: rowKind, Key: g.name})
	if err != nil || len(rows) == 0 {
		return row, s, err
	}
	if err := json.Unmarshal(rows[0].Value, &s); err != nil {
		g.log.Error("the state of a provider's limit cannot be read, and begins anew", "error", err)
		s = state{}
	}
	return rows[0], s, nil
}

// row returns the row with the state.
func (s *state) row(name string, version int64) (store.Row, error) {
	value, err := json.Marshal(s)
	return store.Row{
		Kind: rowKind, Key: name, Value: value, Version: version, ExpiresAt: time.UnixMilli(s.lastUse() + 1),
	}, err
}

// failed logs an error of the store.
func (g *group) failed(ctx context.Context, err error) error {
	if !errors.Is(err, store.ErrRowChanged) {
		g.log.WarnContext(ctx, "read and write a provider's limit", "error", err)
	}
	return err
}

// renewed notes that the lease begins at a time. The caller must hold mu.
func (g *group) renewed(from time.Duration) {
	g.leased = from + g.lease
	if g.limit.Concurrent > 0 && g.lapse == nil {
		g.lapse = time.AfterFunc(g.leased-g.clock.now(), g.lapsed)
	}
}

// apply adds the grants and slots of the row. The caller must hold mu.
func (g *group) apply(out served) {
	g.slots += out.slots
	for _, x := range out.grants {
		g.keep(&grant{at: x.At, tokens: x.Tokens, from: g.clock.reached(x.At), until: g.clock.before(x.At + usable)})
	}
	g.why, g.rival, g.refusals = out.why, out.rival, out.refusals
	if out.closedUntil > 0 {
		g.closed = g.clock.reached(out.closedUntil)
	}
	g.dispatch()
}
