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
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// walkers is a crowd whose answers to "walk" come in steps of ten seconds: four steps that call a tool,
// and a last one.
type walkers struct {
	*spooltest.Model

	crowd *crowd
	mu    sync.Mutex
	busy  map[string]int // by the prompt's second word
	// ended has the prompts in the order in which their runs ended.
	ended []string
	steps map[string]int
}

const (
	walkSteps = 5
	walkStep  = 10 * time.Second
)

func newWalkers() *walkers {
	w := &walkers{crowd: newCrowd(), busy: make(map[string]int), steps: make(map[string]int)}
	w.Model = spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		prompt := promptOf(r)
		if !strings.HasPrefix(prompt, "walk") {
			return w.crowd.turn(r)
		}
		step := spooltest.StepOf(r)
		t := spooltest.Use(spooltest.Call{ID: spool.ToolCallID(fmt.Sprint("c", step)), Name: "look"})
		if step == walkSteps-1 {
			t = spooltest.Say("done")
		}
		t.Before = func(ctx context.Context) error { return w.walk(ctx, prompt, step) }
		return t
	})
	return w
}

// promptOf returns the text of the last turn of a user.
func promptOf(r spool.ModelRequest) (prompt string) {
	for _, m := range r.Messages {
		if m.Role == spool.RoleUser {
			prompt = m.Text()
		}
	}
	return prompt
}

func (w *walkers) walk(ctx context.Context, prompt string, step int) error {
	of := strings.Fields(prompt)[1]
	w.note(func() {
		w.busy[of]++
		w.steps[prompt]++
	})
	defer w.note(func() {
		w.busy[of]--
		if step == walkSteps-1 {
			w.ended = append(w.ended, prompt)
		}
	})
	select {
	case <-time.After(walkStep):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *walkers) note(fn func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fn()
}

// atWork returns how many runs of a tenant are waiting for the model.
func (w *walkers) atWork(of spool.Tenant) (n int) {
	w.note(func() { n = w.busy[string(of)] })
	return n
}

// startWalks starts runs of a tenant in steps, one after the other, each on a thread of its own.
func (s fairTest) startWalks(e *engine.Engine, tenant spool.Tenant, n int) []spool.ThreadKey {
	s.Helper()
	keys := make([]spool.ThreadKey, n)
	for i := range keys {
		keys[i] = spool.ThreadKey{Tenant: tenant, ID: spool.ThreadID(fmt.Sprint("w", i))}
		s.startAs(e, keys[i], wire.StartRequest{
			Prompt: fmt.Sprintf("walk %s %d", tenant, i), RunID: spool.RunID(fmt.Sprint("r", i)),
		})
		<-time.After(time.Millisecond)
	}
	return keys
}

// arrived checks that the runs end, and that no step was done twice. It returns how often they were
// handed back.
func (s fairTest) arrived(w *walkers, keys []spool.ThreadKey) (times int) {
	s.Helper()
	for i, key := range keys {
		s.endsWithin(key, time.Hour)
		c := s.all(key, spool.RunID(fmt.Sprint("r", i)))
		run := c.Runs[0]
		if run.Steps != walkSteps || run.Attempts != 0 || run.Deaths != 0 {
			s.Errorf("the run of %s: %+v", key, run)
		}
		times += run.Segments - 1
		prompt := fmt.Sprintf("walk %s %d", key.Tenant, i)
		w.note(func() {
			if w.steps[prompt] != walkSteps {
				s.Errorf("%q was asked %d times, want %d", prompt, w.steps[prompt], walkSteps)
			}
		})
	}
	return times
}

// hello starts a run of a tenant that has to be answered in time.
func (s fairTest) hello(e *engine.Engine, tenant spool.Tenant, within time.Duration) {
	s.Helper()
	key := spool.ThreadKey{Tenant: tenant, ID: "hello"}
	s.startAs(e, key, wire.StartRequest{Prompt: "hello", RunID: "h"})
	s.endsWithin(key, within)
}

// testFairBesideSlow has several tenants with a slow run of one step each: no other tenant waits for
// them, neither one after another nor at once.
func testFairBesideSlow(s fairTest, slow int) {
	m := newCrowd()
	e := s.working(s.config(m))
	keys := s.startMany(e, "many", 20)
	s.until("a full worker", func() bool { busy, _ := m.now(); return busy == 16 })
	for i := range slow - 1 {
		keys = append(keys, s.startMany(e, spool.Tenant(fmt.Sprint("slow", i)), 1)...)
	}
	s.until("the slow runs of the others", func() bool { busy, _ := m.now(); return busy == 16+slow-1 })
	for _, tenant := range []spool.Tenant{"c", "d", "e", "f"} {
		s.hello(e, tenant, 2*time.Second)
	}
	var small []spool.ThreadKey
	for _, tenant := range []spool.Tenant{"c", "d", "e"} {
		key := spool.ThreadKey{Tenant: tenant, ID: "t"}
		s.startAs(e, key, wire.StartRequest{Prompt: "hello", RunID: "r"})
		small = append(small, key)
	}
	for _, key := range small {
		s.endsWithin(key, 2*time.Second)
	}
	close(m.gate)
	for _, key := range keys {
		s.endsWithin(key, time.Minute)
	}
}

// testFairRoomForTheNext has so many slow tenants that no slot is left. The tenant with the most
// segments releases slots after its steps, until the next new tenant finds a slot at once.
func testFairRoomForTheNext(s fairTest) {
	w := newWalkers()
	e := s.working(s.config(w, plain("look", `"seen"`)))
	many := s.startWalks(e, "acme", 30)
	chatKey := spool.ThreadKey{Tenant: "acme", ID: "w0"}
	client := s.watch(e, &spooltest.Client{Name: "live", Thread: chatKey, FromStart: true}, wire.FollowOptions{})
	s.until("a full worker", func() bool { return w.atWork("acme") == 16 })
	var slow []spool.ThreadKey
	for _, tenant := range []spool.Tenant{"b", "c", "d", "e", "f"} {
		slow = append(slow, s.startMany(e, tenant, 1)...)
	}
	s.hello(e, "g", walkStep+time.Second)
	<-time.After(walkStep)
	for _, tenant := range []spool.Tenant{"h", "i", "j"} {
		s.hello(e, tenant, 2*time.Second)
	}
	if n := w.atWork("acme"); n < 11 {
		s.Errorf("%d runs of the tenant are at work, want 11 or more", n)
	}
	close(w.crowd.gate)
	for _, key := range slow {
		s.endsWithin(key, time.Minute)
	}
	if times := s.arrived(w, many); times == 0 || times > 10 {
		s.Errorf("runs were handed back %d times, want a few", times)
	}
	<-time.After(quiet)
	client()
}

// testFairRoomByShare has two tenants with more runs than slots. The second tenant gets as many slots
// as the first, and runs that were handed back continue before later runs of their tenant.
func testFairRoomByShare(s fairTest) {
	w := newWalkers()
	e := s.working(s.config(w, plain("look", `"seen"`)))
	many := s.startWalks(e, "acme", 40)
	s.until("a full worker", func() bool { return w.atWork("acme") == 16 })
	other := s.startWalks(e, "other", 40)
	<-time.After(4 * walkStep)
	s.until("a fair share", func() bool { return w.atWork("other") >= 8 })
	// the second tenant may have it in reserved slots: the first one gives back at the end of its steps
	<-time.After(walkStep)
	if n := w.atWork("acme"); n > 9 {
		s.Errorf("%d runs of the first tenant are at work, want 9 at the most", n)
	}
	times := s.arrived(w, many) + s.arrived(w, other)
	if times == 0 || times > 12 {
		s.Errorf("runs were handed back %d times, want a few", times)
	}
	place := make(map[string]int)
	for i, prompt := range w.ended {
		place[prompt] = i
	}
	for i := range 15 {
		for j := 24; j < 40; j++ {
			first, last := fmt.Sprint("walk acme ", i), fmt.Sprint("walk acme ", j)
			if place[first] > place[last] {
				s.Errorf("%q ended after %q", first, last)
			}
		}
	}
}

// testFairRoomInTurn has a worker with one slot, which a tenant with one run of many steps uses.
// Another tenant's prompt waits for the end of a step, not for the end of the run.
func testFairRoomInTurn(s fairTest) {
	w := newWalkers()
	e := s.engine(s.config(w, plain("look", `"seen"`)))
	s.workWith(e, engine.WorkOptions{Concurrency: 1})
	walk := s.startWalks(e, "acme", 1)
	s.until("the first step", func() bool { return w.atWork("acme") == 1 })
	s.hello(e, "small", walkStep+time.Second)
	if times := s.arrived(w, walk); times != 1 {
		s.Errorf("the run was handed back %d times, want once", times)
	}
}

// testFairRoomBesideMany has a worker with one slot. One tenant has a run of many steps, and another
// tenant has started many such runs before. Neither the first tenant's run nor the prompt of a third
// tenant waits for more than one step of each other tenant.
func testFairRoomBesideMany(s fairTest) {
	w := newWalkers()
	e := s.engine(s.config(w, plain("look", `"seen"`)))
	many := s.startWalks(e, "many", 10)
	one := s.startWalks(e, "one", 1)
	s.workWith(e, engine.WorkOptions{Concurrency: 1})
	s.until("the first step", func() bool { return w.atWork("many") == 1 })
	s.hello(e, "small", 2*walkStep+time.Second)
	s.endsWithin(one[0], 2*(walkSteps+1)*walkStep)
	s.arrived(w, many)
	s.arrived(w, one)
	for i, prompt := range w.ended[:3] { // runs of one tenant end in order
		if want := []string{"walk many 0", "walk one 0", "walk many 1"}[i]; prompt != want {
			s.Errorf("%q has ended, want %q", prompt, want)
		}
	}
}

// testFairRoomNotPerTenant checks that no slot is released for a tenant that already has its maximum of
// segments, or for the same tenant.
func testFairRoomNotPerTenant(s fairTest) {
	w := newWalkers()
	e := s.engine(s.config(w, plain("look", `"seen"`)))
	s.workWith(e, engine.WorkOptions{Concurrency: 4, PerTenant: 2})
	keys := s.startWalks(e, "acme", 5)
	<-time.After(time.Second)
	keys2 := s.startWalks(e, "other", 5)
	if times := s.arrived(w, keys) + s.arrived(w, keys2); times > 0 {
		s.Errorf("runs were handed back %d times, want none", times)
	}
}

// lookingStore is a store that calls a function before it lists the waiting tenants, once it is armed.
type lookingStore struct {
	store.Store

	armed atomic.Bool
	look  func()
}

func (l *lookingStore) Stats(ctx context.Context, q wire.StatsQuery) (wire.Stats, error) {
	if q.Waiting && l.armed.Load() {
		l.look()
	}
	return l.Store.Stats(ctx, q)
}

// testFairRoomStopped stops a run at the moment at which it would be handed back. The run must end at
// once, and not go back to the queue.
func testFairRoomStopped(s fairTest) {
	w := newWalkers()
	b := s.join()
	db := &lookingStore{Store: b.Store}
	b.Store = db
	e := s.over(b, s.config(w, plain("look", `"seen"`)))
	db.look = sync.OnceFunc(func() {
		if r, err := e.Stop(context.Background(), chat); err != nil || !r.Accepted {
			s.Errorf("stop: %+v, %v", r, err)
		}
	})
	s.workWith(e, engine.WorkOptions{Concurrency: 1})
	s.start(e, "r1", "walk acme 0")
	s.until("the first step", func() bool { return w.atWork("acme") == 1 })
	db.armed.Store(true) // the worker also looks when it begins
	s.hello(e, "small", walkStep+2*time.Second)
	s.ended(wire.Cancelled)
	s.lines("record", s.record(), "RUN_STARTED r1:1", "RUN_ENDED r1:1 stopped")
}
