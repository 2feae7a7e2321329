//go:build unix

package main

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// fault is something that happens to the nodes.
type fault struct {
	// key is the name for --only.
	key string
	// weight is how often it happens, beside the others.
	weight int
	// apart is the least time between two of them.
	apart time.Duration
	do    func(c *campaign, ctx context.Context)
}

var faults = []fault{
	{"kill", 10, 0, (*campaign).kill},
	{"pause", 4, 0, (*campaign).pause},
	{"window", 4, 0, (*campaign).pauseInWindow},
	{"listen", 2, 0, (*campaign).cutListening},
	{"notify", 2, 0, (*campaign).loseNotifications},
	{"sever", 3, 0, (*campaign).sever},
	{"refuse", 1, 0, (*campaign).refuse},
	{"restart", 1, 20 * time.Second, (*campaign).restartDatabase},
	{"roll", 1, 20 * time.Second, (*campaign).roll},
}

// mcpFaults are the further faults of a campaign of the MCP client.
var mcpFaults = []fault{
	{"look", 4, 0, (*campaign).killLook},
	{"tools", 4, 0, (*campaign).changeTools},
	{"server", 2, 4 * time.Second, (*campaign).restartServer},
	{"forget", 2, 0, (*campaign).forgetTask},
}

// faultKeys returns the keys of all faults.
func faultKeys() (keys []string) {
	for _, f := range slices.Concat(faults, mcpFaults) {
		keys = append(keys, f.key)
	}
	return keys
}

// chosen returns the faults that happen in a campaign, with their weights.
func (o options) chosen() []fault {
	chosen := slices.Clone(faults)
	if o.MCP {
		chosen = append(chosen, mcpFaults...)
	}
	for i := range chosen {
		switch f := &chosen[i]; {
		case f.key == "window" && o.Break == "lease":
			f.weight *= 20
		case f.key == "pause" && o.Break != "" && !o.MCP:
			f.weight *= 5 // what is taken out is needed when a worker comes back
		case f.key == "kill" && o.Kills > 0:
			f.weight *= 4
		}
	}
	return slices.DeleteFunc(chosen, func(f fault) bool {
		// spool serve has no such window
		return len(o.Only) > 0 && !slices.Contains(o.Only, f.key) || o.MCP && f.key == "window"
	})
}

// wreck makes faults happen until ctx ends, and returns when their effects are over. If there are kills, nothing else
// happens before one has hit a run: a campaign without a kill proves nothing.
func (c *campaign) wreck(ctx context.Context) {
	var under sync.WaitGroup
	defer under.Wait()
	last := make(map[string]time.Time)
	total := 0
	faults := c.o.chosen()
	for _, f := range faults {
		total += f.weight
	}
	for sleep(ctx, time.Duration((0.3+1.4*c.float())*float64(c.o.Every))) {
		at := c.n(total)
		if faults[0].key == "kill" && c.counted("kills") == 0 {
			at = 0
		}
		for _, f := range faults {
			if at -= f.weight; at >= 0 {
				continue
			}
			if time.Since(last[f.key]) >= f.apart {
				last[f.key] = time.Now()
				under.Go(func() { f.do(c, ctx) })
			}
			break
		}
	}
}

// victim returns a node that holds runs, and nothing else happens to it until free is called. Nil: there is none
// within a second.
func (c *campaign) victim(ctx context.Context) (n *node, runs []string, free func()) {
	for end := time.Now().Add(time.Second); time.Now().Before(end) && ctx.Err() == nil; {
		n := c.cluster.nodes[c.n(len(c.cluster.nodes))]
		if free := n.seize(); free != nil {
			if runs := n.holds(ctx); len(runs) > 0 {
				return n, runs, free
			}
			free()
		}
		sleep(ctx, 20*time.Millisecond)
	}
	return nil, nil, nil
}

// seize reserves a node for one fault. It returns nil if another one is under way.
func (n *node) seize() (free func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.busy {
		return nil
	}
	n.busy = true
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.busy = false
	}
}

// freeNode returns a node that no fault has seized, or nil.
func (c *campaign) freeNode() *node {
	var nodes []*node
	for _, n := range c.cluster.nodes {
		if free := n.seize(); free != nil {
			free()
			nodes = append(nodes, n)
		}
	}
	if len(nodes) == 0 {
		return nil
	}
	return nodes[c.n(len(nodes))]
}

// hit returns the threads of those runs that are still executed by a worker whose lease is valid, which after a
// kill or a pause is the worker that was hit.
func (c *campaign) hit(ctx context.Context, runs []string) (threads []wire.Thread) {
	ids := make(map[spool.RunID]bool)
	for _, run := range runs {
		ids[spool.RunID(run)] = true
	}
	running, err := c.store.Threads(ctx, wire.ThreadQuery{Tenant: spool.DefaultTenant, State: wire.Running})
	if err != nil {
		return nil
	}
	for _, t := range running {
		if ids[t.RunID] {
			threads = append(threads, t)
		}
	}
	return threads
}

// kill kills a process while it executes a run. The process is stopped first, and goes on if its runs have ended
// meanwhile.
func (c *campaign) kill(ctx context.Context) {
	for range 5 {
		n, runs, free := c.victim(ctx)
		if n == nil {
			return
		}
		n.signal(syscall.SIGSTOP)
		held := c.hit(ctx, runs)
		if len(held) == 0 {
			n.signal(syscall.SIGCONT)
			free()
			continue
		}
		c.slay(ctx, n, held)
		free()
		return
	}
}

// slay kills a process that executes the runs of some threads, and starts another one in its place after a while.
func (c *campaign) slay(ctx context.Context, n *node, held []wire.Thread) {
	n.end(syscall.SIGKILL, 5*time.Second)
	c.takeovers.killed(held)
	c.killed()
	sleep(ctx, time.Duration(c.n(2000))*time.Millisecond)
	c.again(n)
}

// killed counts a kill. The last one ends the faults.
func (c *campaign) killed() {
	c.count("kills")
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.o.Kills > 0 && c.counts["kills"] >= c.o.Kills {
		c.enough()
	}
}

// again starts a process in place of the one that has ended.
func (c *campaign) again(n *node) {
	if err := n.start(); err != nil {
		c.violated("node", strconv.Itoa(n.index), "it cannot be started again: "+err.Error())
	}
}

// pause stops a process for longer than its lease.
func (c *campaign) pause(ctx context.Context) {
	n, runs, free := c.victim(ctx)
	if n == nil {
		return
	}
	defer free()
	if !n.signal(syscall.SIGSTOP) {
		return
	}
	c.count("pauses beyond the lease")
	if len(c.hit(ctx, runs)) > 0 {
		c.count("pauses that hit a run")
	}
	sleep(context.WithoutCancel(ctx), time.Duration(float64(c.o.Lease)*(1.2+1.3*c.float())))
	n.signal(syscall.SIGCONT)
	c.disturbed()
}

func (c *campaign) cutListening(context.Context) {
	if c.anyNode().proxy.cut(true) > 0 {
		c.count("listening connections cut")
	}
}

// loseNotifications has a node wait for notifications that do not come.
func (c *campaign) loseNotifications(ctx context.Context) {
	p := c.anyNode().proxy
	if p.mute.Swap(true) {
		return
	}
	c.count("times that notifications were lost")
	sleep(ctx, time.Duration(500+c.n(2500))*time.Millisecond)
	p.cut(true) // what was lost may have been an answer
	p.mute.Store(false)
}

func (c *campaign) sever(context.Context) {
	if c.anyNode().proxy.cut(false) > 0 {
		c.count("times that all connections of a node were severed")
	}
}

// refuse severs a node from the database, sometimes for longer than its lease.
func (c *campaign) refuse(ctx context.Context) {
	p := c.anyNode().proxy
	if p.refuse.Swap(true) {
		return
	}
	p.cut(false)
	c.count("times that a node could not connect")
	sleep(ctx, time.Duration(float64(c.o.Lease)*(0.3+1.2*c.float())))
	p.refuse.Store(false)
	c.disturbed()
}

func (c *campaign) restartDatabase(ctx context.Context) {
	crash := c.n(2) == 0
	c.disturbed()
	c.takeovers.away()
	defer c.takeovers.away()
	if err := c.db.restart(context.WithoutCancel(ctx), crash); err != nil {
		c.violated("database", "PostgreSQL", "it cannot be started again: "+err.Error())
	}
	c.disturbed()
	c.count("restarts of PostgreSQL")
}

// drainMargin is how much longer a process may take to end after a SIGTERM, on a machine that is busy with other
// work.
const drainMargin = 4 * time.Second

// roll restarts all nodes, one after another, as a deployment does.
func (c *campaign) roll(ctx context.Context) {
	for _, n := range c.cluster.nodes {
		free := n.seize()
		if free == nil {
			continue // it is down or paused
		}
		if !n.end(syscall.SIGTERM, shutdownTimeout+drainMargin) {
			c.violated("drain", strconv.Itoa(n.index), "it did not end after a SIGTERM")
		}
		c.again(n)
		_ = n.ready(context.WithoutCancel(ctx))
		free()
	}
	c.count("rolling restarts")
}

// recover ends all faults.
func (c *campaign) recover(ctx context.Context) {
	for _, n := range c.cluster.nodes {
		n.proxy.refuse.Store(false)
		n.proxy.mute.Store(false)
		free := n.seize()
		for free == nil && sleep(ctx, 20*time.Millisecond) { // it is being started again
			free = n.seize()
		}
		if free == nil {
			return
		}
		n.signal(syscall.SIGCONT)
		select {
		case <-n.process.gone:
			c.again(n)
		default:
		}
		if err := n.ready(ctx); err != nil && c.mcp == nil { // otherwise keepUp starts it again
			c.violated("node", strconv.Itoa(n.index), err.Error())
		}
		free()
	}
}
