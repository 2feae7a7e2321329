package enginetest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// census counts the answers that the models of several processes give at once.
type census struct {
	mu         sync.Mutex
	busy, most map[string]int // by process, and by tenant
}

func newCensus() *census { return &census{busy: make(map[string]int), most: make(map[string]int)} }

// model returns the model of one process. Each answer takes [walkStep]. A prompt is the name of its tenant.
func (c *census) model(process string) spool.Model {
	return spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		tenant := promptOf(r)
		return spooltest.Turn{Text: []string{"done"}, Before: func(ctx context.Context) error {
			c.add(1, process, tenant)
			defer c.add(-1, process, tenant)
			select {
			case <-time.After(walkStep):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}}
	})
}

func (c *census) add(n int, names ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range names {
		c.busy[name] += n
		c.most[name] = max(c.most[name], c.busy[name])
	}
}

// peak returns the highest count of each name since the last call.
func (c *census) peak(names ...string) map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	peak := make(map[string]int)
	for _, name := range names {
		peak[name], c.most[name] = c.most[name], c.busy[name]
	}
	return peak
}

// startCounted starts runs of a tenant, each on a thread of its own.
func (s fairTest) startCounted(e *engine.Engine, tenant spool.Tenant, n int) []spool.ThreadKey {
	s.Helper()
	keys := make([]spool.ThreadKey, n)
	for i := range keys {
		keys[i] = spool.ThreadKey{Tenant: tenant, ID: spool.ThreadID(fmt.Sprint("t", i))}
		s.startAs(e, keys[i], wire.StartRequest{Prompt: string(tenant), RunID: spool.RunID(fmt.Sprint("r", i))})
	}
	return keys
}

// testFairConcurrencyEach has two processes over one store, each with four slots and two reserved ones. Each process
// keeps to its own bound, whether one tenant has all runs or four tenants have them.
func testFairConcurrencyEach(s fairTest) {
	c := newCensus()
	one, two := s.engine(s.config(c.model("one"))), s.engine(s.config(c.model("two")))
	for _, e := range []*engine.Engine{one, two} {
		s.workWith(e, engine.WorkOptions{Concurrency: 4})
	}
	for _, key := range s.startCounted(one, "a", 14) {
		s.endsWithin(key, time.Hour)
	}
	s.same("at once, of one tenant", c.peak("one", "two", "a"), map[string]int{"one": 4, "two": 4, "a": 8})
	var keys []spool.ThreadKey
	for _, tenant := range []spool.Tenant{"b", "c", "d", "e"} {
		keys = append(keys, s.startCounted(two, tenant, 5)...)
	}
	for _, key := range keys {
		s.endsWithin(key, time.Hour)
	}
	for process, n := range c.peak("one", "two") { // a reserved slot is for a tenant that has no slot in any process
		if n < 4 || n > 6 {
			s.Errorf("process %s had %d answers at once, want 4 to 6", process, n)
		}
	}
}

// testFairPerTenantTogether has two processes over one store, of which each could execute all runs. Together
// they execute two runs of each tenant at once, also after one of them has ended.
func testFairPerTenantTogether(s fairTest) {
	c := newCensus()
	one, two := s.engine(s.config(c.model("one"))), s.engine(s.config(c.model("two")))
	stop := s.workWith(one, engine.WorkOptions{PerTenant: 2})
	s.workWith(two, engine.WorkOptions{PerTenant: 2})
	keys := slices.Concat(s.startCounted(one, "a", 7), s.startCounted(two, "b", 7))
	<-time.After(walkStep + walkStep/2)
	stop() // its runs go back to the queue
	for _, key := range keys {
		s.endsWithin(key, time.Hour)
	}
	s.same("at once", c.peak("a", "b"), map[string]int{"a": 2, "b": 2})
}
