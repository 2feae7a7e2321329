package enginetest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// fairTest is the fixture of the cases about fairness between tenants.
type fairTest struct{ *engineTest }

var fairTests = map[string]func(s fairTest){
	"BesideManySlow":    testFairBesideManySlow,
	"BesideOwnSlow":     testFairBesideOwnSlow,
	"LoneTenant":        testFairLoneTenant,
	"OneSlot":           testFairOneSlot,
	"RunningPerTenant":  testFairRunningPerTenant,
	"DepthPerTenant":    testFairDepthPerTenant,
	"BesideTwoSlow":     func(s fairTest) { testFairBesideSlow(s, 2) },
	"BesideThreeSlow":   func(s fairTest) { testFairBesideSlow(s, 3) },
	"RoomForTheNext":    testFairRoomForTheNext,
	"RoomByShare":       testFairRoomByShare,
	"RoomInTurn":        testFairRoomInTurn,
	"RoomBesideMany":    testFairRoomBesideMany,
	"RoomNotPerTenant":  testFairRoomNotPerTenant,
	"RoomStopped":       testFairRoomStopped,
	"ConcurrencyEach":   testFairConcurrencyEach,
	"PerTenantTogether": testFairPerTenantTogether,
	"BesideEvents":      testFairBesideEvents,
}

// crowd is a model whose answers to "slow" last until they are released.
type crowd struct {
	*spooltest.Model

	gate       chan struct{}
	mu         sync.Mutex
	busy, most int
	asked      atomic.Int64
}

func newCrowd() *crowd {
	c := &crowd{gate: make(chan struct{})}
	c.Model = spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn { return c.turn(r) })
	return c
}

func (c *crowd) turn(r spool.ModelRequest) spooltest.Turn {
	if !strings.HasPrefix(r.Messages[len(r.Messages)-1].Text(), "slow") {
		return spooltest.Say("hello")
	}
	return spooltest.Turn{Text: []string{"slow"}, Before: func(ctx context.Context) error {
		c.count(1)
		defer c.count(-1)
		select {
		case <-c.gate:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}}
}

func (c *crowd) count(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy += n
	c.most = max(c.most, c.busy)
	if n > 0 {
		c.asked.Add(1)
	}
}

func (c *crowd) now() (busy, most int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.busy, c.most
}

// startMany starts slow runs of a tenant, each on a thread of its own.
func (s fairTest) startMany(e *engine.Engine, tenant spool.Tenant, n int) []spool.ThreadKey {
	s.Helper()
	keys := make([]spool.ThreadKey, n)
	for i := range keys {
		keys[i] = spool.ThreadKey{Tenant: tenant, ID: spool.ThreadID(fmt.Sprint("t", i))}
		s.startAs(e, keys[i], wire.StartRequest{Prompt: "slow", RunID: spool.RunID(fmt.Sprint("r", i))})
	}
	return keys
}

// endsWithin waits for the end of a thread's run, at most for the given time.
func (s fairTest) endsWithin(key spool.ThreadKey, within time.Duration) {
	s.Helper()
	begin := time.Now()
	s.until("the end of "+string(key.Tenant)+"'s run", func() bool { return s.threadOf(key).State == wire.Completed })
	if took := time.Since(begin); took > within {
		s.Errorf("the run of %s took %s, want at most %s", key, took, within)
	}
}

// testFairBesideManySlow has 200 slow runs of one tenant. The prompts of other tenants are still
// answered at once, one after another.
func testFairBesideManySlow(s fairTest) {
	m := newCrowd()
	e := s.working(s.config(m))
	many := s.startMany(e, "many", 200)
	s.until("a full worker", func() bool { busy, _ := m.now(); return busy == 16 })
	for _, tenant := range []spool.Tenant{"small", "other"} {
		key := spool.ThreadKey{Tenant: tenant, ID: "t"}
		s.startAs(e, key, wire.StartRequest{Prompt: "hello", RunID: "r"})
		s.endsWithin(key, 2*time.Second)
	}
	close(m.gate)
	for _, key := range many {
		s.endsWithin(key, time.Minute)
	}
	if _, most := m.now(); most != 16 {
		s.Errorf("%d runs of one tenant ran at once, want 16", most)
	}
}

// testFairBesideOwnSlow fills a worker with the long steps of one subject. Another tenant, and another subject of the
// same tenant, each have a run with a long step. Their next prompts are answered at once.
func testFairBesideOwnSlow(s fairTest) {
	m := newCrowd()
	e := s.working(s.config(m))
	many := s.startMany(e, "many", 20)
	s.until("a full worker", func() bool { busy, _ := m.now(); return busy == 16 })
	say := func(tenant spool.Tenant, by string, id spool.RunID, prompt string) spool.ThreadKey {
		key := spool.ThreadKey{Tenant: tenant, ID: spool.ThreadID(by + string(id))}
		s.startAs(e, key, wire.StartRequest{Prompt: prompt, RunID: spool.RunID(by) + id, By: by})
		return key
	}
	var slow []spool.ThreadKey
	for i, of := range [][2]string{{"many", "ben"}, {"small", "ann"}} {
		slow = append(slow, say(spool.Tenant(of[0]), of[1], "slow", "slow"))
		s.until("a slow run of "+of[1], func() bool { busy, _ := m.now(); return busy == 17+i })
		s.endsWithin(say(spool.Tenant(of[0]), of[1], "hello", "hello"), 2*time.Second)
	}
	close(m.gate)
	for _, key := range append(many, slow...) {
		s.endsWithin(key, time.Minute)
	}
}

// testFairLoneTenant checks that a single tenant gets as many slots as the worker's concurrency, and none of the
// reserved ones.
func testFairLoneTenant(s fairTest) {
	m := newCrowd()
	e := s.engine(s.config(m))
	s.workWith(e, engine.WorkOptions{Concurrency: 4})
	s.startMany(e, "many", 6)
	<-time.After(time.Minute)
	if busy, _ := m.now(); busy != 4 {
		s.Errorf("%d runs are at work, want 4", busy)
	}
	close(m.gate)
	s.until("all ends", func() bool { busy, _ := m.now(); return busy == 0 && m.asked.Load() == 6 })
}

// testFairOneSlot has a worker with one slot, which all tenants share.
func testFairOneSlot(s fairTest) {
	m := newCrowd()
	close(m.gate)
	e := s.engine(s.config(m))
	s.workWith(e, engine.WorkOptions{Concurrency: 1})
	for _, key := range s.startMany(e, "many", 3) {
		s.endsWithin(key, time.Minute)
	}
}

// testFairRunningPerTenant limits how many segments each tenant may have.
func testFairRunningPerTenant(s fairTest) {
	m := newCrowd()
	e := s.engine(s.config(m))
	s.workWith(e, engine.WorkOptions{PerTenant: 2})
	s.startMany(e, "many", 5)
	<-time.After(time.Minute)
	if busy, _ := m.now(); busy != 2 {
		s.Errorf("%d runs are at work, want 2", busy)
	}
	s.startMany(e, "other", 3)
	<-time.After(time.Minute)
	if busy, _ := m.now(); busy != 4 {
		s.Errorf("%d runs are at work, want 4", busy)
	}
	close(m.gate)
	s.until("all ends", func() bool { busy, _ := m.now(); return busy == 0 && m.asked.Load() == 8 })
}

// testFairDepthPerTenant fills one tenant's part of the queue: its next start is refused, but another
// tenant's is not.
func testFairDepthPerTenant(s fairTest) {
	c := s.config(newCrowd())
	c.Limits.QueueDepth, c.Limits.TenantDepth = 5, 2
	e := s.engine(c)
	start := func(tenant spool.Tenant) wire.RunResult {
		s.Helper()
		r, err := e.Run(context.Background(), spool.ThreadKey{Tenant: tenant}, wire.StartRequest{Prompt: "hello"})
		if err != nil {
			s.Fatal(err)
		}
		return r
	}
	for i, want := range []string{"", "", wire.ReasonQueueFull, wire.ReasonQueueFull} {
		if r := start("many"); r.Reason != want || want != "" && r.RetryAfter <= 0 {
			s.Errorf("start %d: %+v, want the reason %q", i, r, want)
		}
	}
	for _, want := range []string{"", "", wire.ReasonQueueFull} {
		if r := start("small"); r.Reason != want {
			s.Errorf("a start of another tenant: %+v, want the reason %q", r, want)
		}
	}
	<-time.After(time.Minute) // the jobs are counted again
	for tenant, want := range map[spool.Tenant]string{"many": wire.ReasonQueueFull, "third": ""} {
		if r := start(tenant); r.Reason != want {
			s.Errorf("a start of %s later: %+v, want the reason %q", tenant, r, want)
		}
	}
	if r := start("fourth"); r.Reason != wire.ReasonQueueFull {
		s.Errorf("a start beyond the bound of all: %+v", r)
	}
}
