//go:build unix

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/postgres"
)

// campaign is the supervisor.
type campaign struct {
	o       options
	db      *database
	cluster *cluster
	store   *postgres.DB
	effects *effects
	began   time.Time
	// over is closed when no further runs shall be started. hopeless ends everything.
	over chan struct{}
	// overSince is when over was closed. It may be read when over is closed.
	overSince time.Time
	hopeless  context.CancelFunc
	// enough ends the faults.
	enough    context.CancelFunc
	takeovers takeovers
	journals  *reader
	// mcp has the servers of a campaign of the MCP client. Nil: the tools are those of the nodes.
	mcp *mcpWorld

	mu     sync.Mutex
	random *rand.Rand
	counts map[string]int
	report *report
	// quietSince is when the last fault ended that may have left a tool behind which is about to begin.
	quietSince time.Time
	threads    map[spool.ThreadID]*conversation
	made       int
	numbers    int
}

// runCampaign does a whole campaign.
func runCampaign(ctx context.Context, o options) (*report, error) {
	dir, err := os.MkdirTemp("", "spool-chaos-*")
	if err != nil {
		return nil, err
	}
	if !o.Keep {
		defer os.RemoveAll(dir)
	}
	db, err := startDatabase(ctx)
	if err != nil {
		return nil, err
	}
	defer db.close()
	store, err := postgres.Open(ctx, db.url("spool"), &postgres.Options{Pool: 8})
	if err != nil {
		return nil, err
	}
	defer store.Close()
	effects, err := openEffects(ctx, db.url("effects"))
	if err != nil {
		return nil, err
	}
	defer effects.pool.Close()
	var world *mcpWorld
	if o.MCP {
		if world, err = openWorld(ctx, o, dir); err != nil {
			return nil, err
		}
		defer world.close()
	}
	cluster, err := startCluster(ctx, o, dir, db, world)
	if err != nil {
		return nil, fmt.Errorf("%w; %s", err, lastLogs(dir))
	}
	defer cluster.close()
	c := &campaign{
		o: o, db: db, cluster: cluster, store: store, effects: effects, began: time.Now(), over: make(chan struct{}),
		journals: newReader(),
		random:   rand.New(rand.NewPCG(o.Seed, 0)),
		counts:   make(map[string]int), report: &report{Options: o}, threads: make(map[spool.ThreadID]*conversation),
		mcp: world,
	}
	if o.Keep {
		c.report.Folder = dir
	}
	c.run(ctx)
	return c.report, ctx.Err()
}

// run lets faults happen for a while, and then waits until all runs have ended.
func (c *campaign) run(ctx context.Context) {
	ctx, c.hopeless = context.WithCancel(ctx)
	defer c.hopeless()
	var talks, beside sync.WaitGroup
	for range c.o.Threads {
		talks.Go(func() { c.converse(ctx) })
	}
	background, stop := context.WithCancel(ctx)
	beside.Go(func() { c.answerAll(background) })
	beside.Go(func() { c.watchOver(background) })
	beside.Go(func() { c.watchTakeovers(background) })
	if c.mcp != nil {
		beside.Go(func() { c.keepUp(background) })
	}

	faulty, end := context.WithTimeout(ctx, c.o.Duration)
	c.enough = end
	c.wreck(faulty)
	<-faulty.Done()
	end()
	c.overSince = time.Now()
	close(c.over)
	if ctx.Err() == nil {
		c.progress("the faults are over")
		c.recover(ctx)
	}
	talks.Wait()
	stop()
	beside.Wait()
	c.judge(context.WithoutCancel(ctx))
	c.finish(context.WithoutCancel(ctx))
}

// ending reports whether no further runs shall be started.
func (c *campaign) ending() bool {
	select {
	case <-c.over:
		return true
	default:
		return false
	}
}

// sinceFaults returns how long the faults have been over, 0 if they are not.
func (c *campaign) sinceFaults() time.Duration {
	if !c.ending() {
		return 0
	}
	return time.Since(c.overSince)
}

// watchOver judges what can be judged while faults happen, and tells how far the campaign is.
func (c *campaign) watchOver(ctx context.Context) {
	for sleep(ctx, 5*time.Second) {
		c.judge(ctx)
		c.progress("")
	}
}

// n returns a random number below n.
func (c *campaign) n(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.random.IntN(n)
}

// float returns a random number below 1.
func (c *campaign) float() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.random.Float64()
}

func (c *campaign) anyNode() *node { return c.cluster.nodes[c.n(len(c.cluster.nodes))] }

func (c *campaign) count(what string) { c.add(what, 1) }

func (c *campaign) add(what string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[what] += n
}

func (c *campaign) counted(what string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts[what]
}

// disturbed notes that a tool which nobody knows of may begin at any moment.
func (c *campaign) disturbed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.quietSince = time.Now()
}

// quiet reports whether a tool that has not begun by now will not begin.
func (c *campaign) quiet() bool {
	if c.cluster.paused() {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Since(c.quietSince) > 2*time.Second
}

// maxViolations bounds the report.
const maxViolations = 200

// violated adds a violation, unless it is known.
func (c *campaign) violated(invariant, where, what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v := violation{
		Invariant: invariant, Where: where, What: what, After: time.Since(c.began).Round(time.Millisecond).String(),
	}
	for _, known := range c.report.Violations {
		if known.Invariant == invariant && known.Where == where && known.What == what {
			return
		}
	}
	if len(c.report.Violations) < maxViolations {
		c.report.Violations = append(c.report.Violations, v)
	}
	_, _ = fmt.Fprintf(c.o.Progress, "%6.1f s  VIOLATION %s: %s: %s\n", time.Since(c.began).Seconds(), invariant, where,
		shortened(what))
	if c.o.Break != "" {
		c.hopeless()
	}
}

func shortened(text string) string {
	if len(text) > 600 {
		return text[:600] + "..."
	}
	return text
}

// progress tells how far the campaign is.
func (c *campaign) progress(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if what != "" {
		what = "  " + what
	}
	_, _ = fmt.Fprintf(c.o.Progress,
		"%6.1f s  runs %d (%d ended), kills %d, pauses %d, cuts %d, restarts %d, frames %d, violations %d%s\n",
		time.Since(c.began).Seconds(), c.counts["runs"], c.counts["runs ended"], c.counts["kills"],
		c.counts["pauses beyond the lease"],
		c.counts["listening connections cut"]+c.counts["times that notifications were lost"]+
			c.counts["times that all connections of a node were severed"]+c.counts["times that a node could not connect"],
		c.counts["restarts of PostgreSQL"]+c.counts["rolling restarts"], c.counts["frames"], len(c.report.Violations), what)
}

// lastLogs returns the end of the nodes' logs.
func lastLogs(dir string) string {
	var all []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err.Error()
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".log") {
			continue
		}
		if text, err := os.ReadFile(dir + "/" + e.Name()); err == nil {
			all = append(all, string(text[max(0, len(text)-2000):]))
		}
	}
	return strings.Join(all, "\n")
}
