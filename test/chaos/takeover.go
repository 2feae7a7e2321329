//go:build unix

package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// takeoverWithin is how long a run may lie after the kill of its process, beside the lease.
const takeoverWithin = 10 * time.Second

// mcpTakeoverWithin is the same for processes of spool serve, whose pauses after failed claims grow for longer, and in
// which a run may wait for another one that runs alone.
const mcpTakeoverWithin = time.Minute

// takeovers measures how long it takes until another process executes a run whose process was killed, while
// PostgreSQL is there.
type takeovers struct {
	mu      sync.Mutex
	pending []takeover
	took    []time.Duration
	// databaseDown is when PostgreSQL was last away.
	databaseDown time.Time
}

// takeover is a run whose process was killed. The next claim raises the fence of its thread.
type takeover struct {
	thread wire.Thread
	at     time.Time
}

// killed notes the runs of a process that was killed.
func (k *takeovers) killed(threads []wire.Thread) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, t := range threads {
		k.pending = append(k.pending, takeover{t, time.Now()})
	}
}

// away notes that the database is or was away.
func (k *takeovers) away() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.databaseDown = time.Now()
}

// watchTakeovers looks until ctx ends what became of the runs.
func (c *campaign) watchTakeovers(ctx context.Context) {
	for sleep(ctx, 100*time.Millisecond) {
		c.takeovers.mu.Lock()
		pending := slices.Clone(c.takeovers.pending)
		c.takeovers.mu.Unlock()
		if len(pending) == 0 {
			continue
		}
		running, err := c.store.Threads(ctx, wire.ThreadQuery{Tenant: spool.DefaultTenant, State: wire.Running})
		if err != nil {
			c.takeovers.away()
			continue
		}
		for _, p := range pending {
			c.lookAfter(ctx, p, running)
		}
	}
}

// lookAfter looks what became of one run. Running are the threads that run.
func (c *campaign) lookAfter(ctx context.Context, p takeover, running []wire.Thread) {
	key, after := p.thread.Key(), time.Since(p.at)
	at := slices.IndexFunc(running, func(t wire.Thread) bool { return t.Key() == key })
	within := takeoverWithin
	if c.mcp != nil {
		within = mcpTakeoverWithin
	}
	var now wire.Thread
	if at >= 0 {
		now = running[at]
	} else if err := c.store.View(ctx, key, func(v store.View) (err error) {
		now, err = v.Thread()
		return err
	}); err != nil {
		return
	}
	switch {
	case now.Fence > p.thread.Fence && !c.takeovers.reachable(p.at):
		c.count("killed runs that went on after PostgreSQL had been away")
	case now.Fence > p.thread.Fence:
		c.takeovers.mu.Lock()
		c.takeovers.took = append(c.takeovers.took, after)
		c.takeovers.mu.Unlock()
	case now.RunID != p.thread.RunID || now.State != wire.Running && now.State != wire.Queued:
		c.count("killed runs that were stopped or replaced before another process took them")
	case after > c.o.Lease+within && c.takeovers.reachable(p.at):
		c.violated("takeover", key.String(), fmt.Sprintf("nobody has taken run %s over, %s after the kill of its process",
			p.thread.RunID, after.Round(time.Second)))
	default:
		return
	}
	c.takeovers.mu.Lock()
	defer c.takeovers.mu.Unlock()
	c.takeovers.pending = slices.DeleteFunc(c.takeovers.pending,
		func(other takeover) bool { return other.at.Equal(p.at) && other.thread.Key() == key })
}

// reachable reports whether PostgreSQL was there since a time.
func (k *takeovers) reachable(since time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.databaseDown.Before(since)
}

// durations says how long something took, in seconds.
type durations struct {
	Count int     `json:"count"`
	P50   float64 `json:"p50"`
	P99   float64 `json:"p99"`
	Max   float64 `json:"max"`
}

// summary returns the times of the takeovers so far.
func (k *takeovers) summary() durations {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.took) == 0 {
		return durations{}
	}
	sorted := slices.SortedFunc(slices.Values(k.took), cmp.Compare[time.Duration])
	at := func(part float64) float64 {
		n := int(math.Ceil(part*float64(len(sorted)))) - 1
		return sorted[max(0, n)].Round(100 * time.Millisecond).Seconds()
	}
	return durations{Count: len(sorted), P50: at(0.5), P99: at(0.99), Max: at(1)}
}
