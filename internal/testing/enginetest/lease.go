package enginetest

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

var leaseTests = map[string]func(s *engineTest){
	"Renewed":       testLeaseRenewed,
	"Paused":        testLeasePaused,
	"PausedInTool":  testLeasePausedInTool,
	"DeadWorker":    testLeaseDeadWorker,
	"TooManyDeaths": testLeaseTooManyDeaths,
	"TwoWorkers":    testLeaseTwoWorkers,
	"CannotRenew":   testLeaseCannotRenew,

	"WindowAlone":    testLeaseWindowAlone,
	"WindowStopOnly": testLeaseWindowStopOnly,
	"WindowStopped":  testLeaseWindowStopped,
	"WindowTaken":    testLeaseWindowTaken,
}

// testLeaseRenewed executes a run for far longer than a lease lasts.
func testLeaseRenewed(s *engineTest) {
	m := spooltest.NewModel(spooltest.Turn{Text: []string{"hi"}, Before: func(context.Context) error {
		<-time.After(10 * time.Minute)
		return nil
	}})
	c := s.config(m)
	s.work(s.engine(c))
	e := s.working(c)
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	if m.Asked() != 1 {
		s.Errorf("the model was asked %d times", m.Asked())
	}
	s.lines("record", s.record(), "RUN_STARTED r1:1", "RUN_ENDED r1:1 finished")
}

// testLeasePaused pauses a worker in the middle of an answer until another worker has ended the run,
// and then lets it continue.
func testLeasePaused(s *engineTest) {
	gate := make(chan struct{})
	first := s.config(spooltest.NewModel(spooltest.Turn{Text: []string{"of the first"}, Gate: gate}))
	second := s.config(spooltest.NewModel(spooltest.Say("of the second")))
	paused, b := s.newStall()
	e := s.over(b, first)
	s.start(e, "r1", "go")
	client := s.watch(s.engine(second), &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{})
	done := make(chan wire.JobResult)
	go func() {
		r, err := e.HandleJob(context.Background(), ticket("r1"))
		if err != nil {
			s.Error(err)
		}
		done <- r
	}()
	<-time.After(time.Second)
	paused.pause()
	close(gate)
	<-time.After(time.Minute)
	s.working(second)
	s.ended(wire.Completed)
	before := s.all(chat, "r1")
	paused.wake()
	if r := receive(s, done, bubbleWait, "the end of the goroutine"); !r.Accepted {
		s.Errorf("the first worker: %+v", r)
	}
	<-time.After(quiet)
	client()
	s.same("the thread", s.all(chat, "r1"), before)
	s.lines("messages", s.script(), "user go", "assistant of the second")
	s.lines("record", s.record(), "RUN_STARTED r1:1", "RUN_ENDED r1:1 lost", "RUN_STARTED r1:2", "RUN_ENDED r1:2 finished")
}

// testLeasePausedInTool pauses a worker whose tool returns when another worker has the run.
func testLeasePausedInTool(s *engineTest) {
	gate := make(chan struct{})
	var calls atomic.Int64
	slow := plain("slow", "")
	slow.Idempotent = true
	slow.Call = func(context.Context, spool.ToolCall) (json.RawMessage, error) {
		if calls.Add(1) == 1 {
			<-gate
			return json.RawMessage(`"late"`), nil
		}
		return json.RawMessage(`"again"`), nil
	}
	c := s.config(
		spooltest.NewReplayModel(
			spooltest.Use(spooltest.Call{ID: "c1", Name: "slow"}, spooltest.Call{ID: "c2", Name: "look"}), spooltest.Say("done"),
		),
		slow, plain("look", "1"),
	)
	paused, b := s.newStall()
	e := s.over(b, c)
	s.start(e, "r1", "go")
	done := make(chan struct{})
	go func() {
		defer close(done)
		if r, err := e.HandleJob(context.Background(), ticket("r1")); err != nil || !r.Accepted {
			s.Errorf("the first worker: %+v, %v", r, err)
		}
	}()
	s.until("the tool", func() bool { return s.executed() == 2 })
	<-time.After(time.Second)
	paused.pause()
	<-time.After(time.Minute)
	s.working(c)
	s.ended(wire.Completed)
	close(gate)
	paused.wake()
	receive(s, done, bubbleWait, "the end of the goroutine")
	s.lines("messages", s.script(), "user go", "assistant c1=slow{} c2=look{}", `tool c1:"again" c2:1`, "assistant done")
}

func testLeaseDeadWorker(s *engineTest) {
	m := spooltest.NewModel(spooltest.Turn{Text: []string{"half"}, Gate: make(chan struct{})}, spooltest.Say("whole"))
	c := s.config(m)
	e := s.engine(c)
	s.start(e, "r1", "go")
	client := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{})
	p := s.process(c)
	s.until("the question", func() bool { return m.Asked() == 1 })
	<-time.After(time.Second)
	p.kill()
	killed := time.Now()
	s.work(e)
	s.until("the next worker", func() bool { return m.Asked() == 2 })
	if took := time.Since(killed); took > 40*time.Second {
		s.Errorf("it took %s to move again", took)
	}
	s.ended(wire.Completed)
	<-time.After(quiet)
	client()
	s.lines("messages", s.script(), "user go", "assistant whole")
	s.lines("record", s.record(), "RUN_STARTED r1:1", "RUN_ENDED r1:1 lost", "RUN_STARTED r1:2", "RUN_ENDED r1:2 finished")
	if r := s.run("r1"); r.Deaths != 0 || r.Attempts != 0 {
		s.Errorf("the run: %+v", r)
	}
}

// testLeaseTooManyDeaths has a run that kills each of its workers.
func testLeaseTooManyDeaths(s *engineTest) {
	m := spooltest.NewModelFunc(func(context.Context, spool.ModelRequest) spooltest.Turn {
		return spooltest.Turn{Text: []string{"x"}, Gate: make(chan struct{})}
	})
	c := s.config(m)
	c.Retry.Deaths = 3
	e := s.engine(c)
	s.start(e, "r1", "go")
	for i := range 6 { // three deaths among other runs, and three alone
		p := s.process(c)
		s.until("the question", func() bool { return m.Asked() == i+1 })
		p.kill()
	}
	s.work(e)
	s.ended(wire.Failed)
	if r := s.run("r1"); r.Error != "6 workers died in the same step" || m.Asked() != 6 {
		s.Errorf("asked %d times: %+v", m.Asked(), r)
	}
}

// testLeaseTwoWorkers has two processes race for each of many runs.
func testLeaseTwoWorkers(s *engineTest) {
	m := spooltest.NewReplayModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "look"}), spooltest.Say("done"))
	c := s.config(m, plain("look", "1"))
	engines := []*engine.Engine{s.working(c), s.working(c)}
	const runs = 10
	var group sync.WaitGroup
	for i := range runs {
		key := spool.ThreadKey{Tenant: "acme", ID: spool.ThreadID("t" + string(rune('a'+i)))}
		id := spool.RunID("r" + string(rune('a'+i)))
		s.startAs(engines[0], key, wire.StartRequest{Prompt: "go", RunID: id})
		for _, e := range engines {
			group.Go(func() {
				if _, err := e.HandleJob(
					context.Background(), wire.Job{Tenant: "acme", ThreadID: key.ID, RunID: id, Agent: "a"},
				); err != nil {
					s.Error(err)
				}
			})
		}
	}
	group.Wait()
	for _, key := range s.keys[1:] {
		s.until("the end of "+key.String(), func() bool { return s.threadOf(key).State == wire.Completed })
	}
	if m.Asked() != 2*runs || s.executed() != runs {
		s.Errorf("%d questions, %d calls of tools", m.Asked(), s.executed())
	}
}
