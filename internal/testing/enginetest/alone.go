package enginetest

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// aloneTest is the fixture of the cases about isolated runs.
type aloneTest struct{ *engineTest }

var aloneTests = map[string]func(s aloneTest){
	"CrashLoop": testAloneCrashLoop,
	"Others":    testAloneOthers,
	"Paused":    testAlonePaused,
	"Saved":     testAloneSaved,
	"Stopped":   testAloneStopped,
}

// deadly is a model whose answer to "bomb" kills the process that asks, until it is defused. Its
// answers to "slow" take a while.
type deadly struct {
	*spooltest.Model

	booms   chan struct{}
	defused atomic.Bool
	// slow counts the current answers to "slow", and most is the highest count.
	slow, most atomic.Int64
}

func newDeadly() *deadly {
	d := &deadly{booms: make(chan struct{})}
	d.Model = spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		prompt, step := "", spooltest.StepOf(r)
		for _, m := range r.Messages {
			if m.Role == spool.RoleUser {
				prompt = m.Text()
			}
		}
		switch {
		case strings.HasPrefix(prompt, "bomb") && !d.defused.Load():
			return spooltest.Turn{Before: d.kill}
		case strings.HasPrefix(prompt, "slow"):
			return spooltest.Turn{Before: d.wait, Text: []string{"well"}}
		case strings.HasPrefix(prompt, "two") && step == 0:
			return spooltest.Turn{Before: d.wait, Calls: []spooltest.Call{{ID: "c1", Name: "look"}}}
		case strings.HasPrefix(prompt, "two"):
			return spooltest.Turn{Text: []string{"on"}, Gate: make(chan struct{})}
		default:
			return spooltest.Say("hello")
		}
	})
	return d
}

// kill kills the process. The call then ends.
func (d *deadly) kill(ctx context.Context) error {
	select {
	case d.booms <- struct{}{}:
	case <-ctx.Done():
	}
	<-ctx.Done()
	return ctx.Err()
}

func (d *deadly) wait(ctx context.Context) error {
	if n := d.slow.Add(1); n > d.most.Load() {
		d.most.Store(n)
	}
	defer d.slow.Add(-1)
	select {
	case <-time.After(20 * time.Second):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// loop runs one process after another, each until the bomb kills it or done returns true. It returns
// how many processes died.
func (d *deadly) loop(s aloneTest, c engine.Config, done func() bool) (deaths int) {
	s.Helper()
	p := s.process(c)
	end := time.Now().Add(6 * time.Hour)
	for !done() {
		if time.Now().After(end) {
			s.Fatalf("it is not done after %d deaths", deaths)
		}
		select {
		case <-d.booms:
			p.kill()
			deaths++
			p = s.process(c)
		case <-time.After(time.Second):
		}
	}
	p.stop()
	return deaths
}

// testAlonePaused has a worker go on that was only paused, while its run waits to be executed alone and nobody
// has the lease.
func testAlonePaused(s aloneTest) {
	gate := make(chan struct{})
	first := s.config(spooltest.NewModel(spooltest.Turn{Text: []string{"of the first"}, Gate: gate}))
	second := s.config(spooltest.NewModel(spooltest.Say("of the second")))
	first.Retry.Deaths, second.Retry.Deaths = 1, 1
	paused, b := s.newStall()
	e := s.over(b, first)
	s.start(e, "r1", "go")
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = e.HandleJob(context.Background(), ticket("r1"))
	}()
	<-time.After(time.Second)
	paused.pause()
	<-time.After(40 * time.Second) // the lease lapses
	if r, err := s.engine(second).HandleJob(context.Background(), ticket("r1")); err != nil ||
		!strings.Contains(r.Reason, "isolated") {
		s.Fatalf("the second worker: %+v, %v", r, err)
	}
	before := s.all(chat, "r1")
	close(gate)
	paused.wake()
	receive(s, done, bubbleWait, "the end of the goroutine")
	s.same("the thread", s.all(chat, "r1"), before)
	s.working(second)
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user go", "assistant of the second")
	s.lines("record", s.record(), "RUN_STARTED r1:1", "RUN_ENDED r1:1 lost", "RUN_STARTED r1:2", "RUN_ENDED r1:2 finished")
}

// startOn starts a run on a thread of its own.
func (s aloneTest) startOn(e *engine.Engine, name, prompt string) spool.ThreadKey {
	s.Helper()
	key := spool.ThreadKey{Tenant: chat.Tenant, ID: spool.ThreadID(name)}
	s.startAs(e, key, wire.StartRequest{Prompt: prompt, RunID: spool.RunID("run-" + name)})
	return key
}

// firstRun returns the run that startOn has started.
func (s aloneTest) firstRun(key spool.ThreadKey) (run store.RunRow) {
	s.Helper()
	err := s.backend.Store.View(context.Background(), key, func(v store.View) (err error) {
		run, err = store.FindRun(v, spool.RunID("run-"+key.ID))
		return err
	})
	if err != nil {
		s.Fatal(err)
	}
	return run
}

// endOf returns the state of a thread's run, once it is an end state.
func (s aloneTest) endOf(key spool.ThreadKey) wire.State {
	s.Helper()
	if state := s.threadOf(key).State; state.Terminal() {
		return state
	}
	return ""
}

// testAloneCrashLoop has one run that kills each process that executes it. Only this run fails, and it
// can be redriven once the cause is fixed.
func testAloneCrashLoop(s aloneTest) {
	d := newDeadly()
	c := s.config(d)
	c.Retry.Deaths = 4
	e := s.engine(c)
	bomb := s.startOn(e, "bomb", "bomb")
	var others []spool.ThreadKey
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		others = append(others, s.startOn(e, name, "slow"))
	}
	deaths := d.loop(s, c, func() bool {
		for _, key := range append(others, bomb) {
			if s.endOf(key) == "" {
				return false
			}
		}
		return true
	})
	for _, key := range others {
		if state := s.endOf(key); state != wire.Completed {
			s.Errorf("the run of %s beside it ended as %s", key, state)
		}
	}
	run := s.firstRun(bomb)
	if run.State != wire.Failed || run.Deaths != 3 || run.IsolatedDeaths != 4 || deaths != 7 ||
		run.Error != "7 workers died in the same step" {
		s.Errorf("after %d deaths the run is %+v", deaths, run)
	}
	dead := s.deadJobs()
	if len(dead) != 1 || dead[0].RunID != "run-bomb" || dead[0].Attempts != 7 || dead[0].Cause != run.Error {
		s.Fatalf("the dead jobs are %+v", dead)
	}
	d.defused.Store(true)
	result, err := e.Redrive(context.Background(), chat.Tenant, dead[0].JobID)
	if err != nil || !result.Accepted {
		s.Fatalf("redrive: %+v, %v", result, err)
	}
	s.history.Started(bomb, result.RunID)
	s.work(e)
	s.until("the end of what was redriven", func() bool { return s.endOf(bomb) == wire.Completed })
}

// isolated starts runs, and lets three workers die in their first steps.
func (s aloneTest) isolated(d *deadly, c engine.Config, prompts ...string) (e *engine.Engine, keys []spool.ThreadKey) {
	s.Helper()
	e = s.engine(c)
	for i, prompt := range prompts {
		keys = append(keys, s.startOn(e, string(rune('a'+i)), prompt))
	}
	for range 3 {
		p := s.process(c)
		s.until("all at work", func() bool { return d.slow.Load() == int64(len(prompts)) })
		p.kill()
		s.until("their end", func() bool { return d.slow.Load() == 0 })
	}
	d.most.Store(0)
	return e, keys
}

// testAloneOthers checks that while a worker executes an isolated run, a prompt of another subject does
// not wait for it, but the next isolated run does.
func testAloneOthers(s aloneTest) {
	d := newDeadly()
	e, keys := s.isolated(d, s.config(d), "slow", "slow", "slow")
	s.work(e)
	s.until("the first isolated run", func() bool { return d.slow.Load() == 1 })
	hello := s.startOn(e, "hello", "hello")
	fairTest(s).endsWithin(hello, 2*time.Second)
	for _, key := range keys {
		fairTest(s).endsWithin(key, 5*time.Minute)
		if run := s.firstRun(key); run.Deaths != 0 || run.Isolated || run.IsolatedDeaths != 0 {
			s.Errorf("the run is %+v", run)
		}
	}
	if most := d.most.Load(); most != 1 {
		s.Errorf("%d isolated runs executed at once", most)
	}
}

// testAloneSaved checks that after an isolated run has saved a step, the next isolated run starts, even
// if the first one continues for long.
func testAloneSaved(s aloneTest) {
	d := newDeadly()
	c := s.config(d, plain("look", "1"))
	e, keys := s.isolated(d, c, "two", "two")
	s.work(e)
	for _, key := range keys {
		s.until("a saved step", func() bool {
			run := s.firstRun(key)
			return run.State == wire.Running && run.Steps == 1 && run.Deaths == 0
		})
	}
	for _, key := range keys {
		if r, err := e.Stop(context.Background(), key); err != nil || !r.Accepted {
			s.Errorf("stop: %+v, %v", r, err)
		}
		s.history.Stopped(key)
		s.until("its end", func() bool { return s.endOf(key) == wire.Cancelled })
	}
}

// testAloneStopped stops an isolated run while it waits for its turn.
func testAloneStopped(s aloneTest) {
	d := newDeadly()
	c := s.config(d)
	c.Retry.Backoff = time.Minute
	e, keys := s.isolated(d, c, "slow")
	stop := s.work(e)
	s.until("the wait", func() bool { return s.threadOf(keys[0]).State == wire.Queued })
	if r, err := e.Stop(context.Background(), keys[0]); err != nil || !r.Accepted {
		s.Errorf("stop: %+v, %v", r, err)
	}
	s.history.Stopped(keys[0])
	if state := s.endOf(keys[0]); state != wire.Cancelled {
		s.Errorf("the stopped run is %s", state)
	}
	<-time.After(5 * time.Minute)
	stop()
	if n := d.most.Load(); n != 0 {
		s.Error("the stopped run executed")
	}
}
