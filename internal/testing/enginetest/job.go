package enginetest

import (
	"context"
	"encoding/json"
	"errors"
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

var jobTests = map[string]func(s *engineTest){
	"InProcess":         testJobInProcess,
	"TwiceAtOnce":       testJobTwiceAtOnce,
	"Outlived":          testJobOutlived,
	"UnknownAgent":      testJobUnknownAgent,
	"HandBack":          testJobHandBack,
	"HandBackInTool":    testJobHandBackInTool,
	"HandBackUnrun":     testJobHandBackUnrun,
	"Dead":              testJobDead,
	"DeadRunning":       testJobDeadRunning,
	"DeadMovedOn":       testJobDeadMovedOn,
	"DeliveredTooOften": testJobDeliveredTooOften,
	"MaxDeliveries":     testJobMaxDeliveries,
	"KilledTooOften":    testJobKilledTooOften,
}

// ticket returns the job with which a host executes the run in its own process.
func ticket(run spool.RunID) wire.Job {
	return wire.Job{Tenant: chat.Tenant, ThreadID: chat.ID, RunID: run, Agent: "a"}
}

func testJobInProcess(s *engineTest) {
	m := spooltest.NewModel(spooltest.Say("hi"))
	e := s.engine(s.config(m))
	s.start(e, "r1", "go")
	for i := range 2 { // the second delivery finds the run ended
		r, err := e.HandleJob(context.Background(), ticket("r1"))
		if err != nil || !r.Accepted || i == 1 && r.Reason == "" {
			s.Errorf("delivery %d: %+v, %v", i, r, err)
		}
	}
	s.ended(wire.Completed)
	s.work(e) // the queue still has its own ticket
	<-time.After(quiet)
	if m.Asked() != 1 {
		s.Errorf("the model was asked %d times", m.Asked())
	}
}

func testJobTwiceAtOnce(s *engineTest) {
	gate := make(chan struct{})
	m := spooltest.NewModel(spooltest.Turn{Text: []string{"hi"}, Gate: gate})
	e := s.engine(s.config(m))
	s.start(e, "r1", "go")
	results := make([]wire.JobResult, 4)
	var group sync.WaitGroup
	for i := range results {
		group.Go(func() {
			var err error
			if results[i], err = e.HandleJob(context.Background(), ticket("r1")); err != nil {
				s.Error(err)
			}
		})
	}
	<-time.After(time.Second)
	close(gate)
	group.Wait()
	carried := 0
	for _, r := range results {
		switch {
		case r.Accepted && r.Reason == "":
			carried++
		case r.Accepted || r.Reason == "" || r.RetryAfter <= 0 || r.RetryAfter > 30*time.Second:
			s.Errorf("the other worker got %+v", r)
		}
	}
	if carried != 1 || m.Asked() != 1 {
		s.Errorf("%d workers executed the run, and the model was asked %d times", carried, m.Asked())
	}
	s.ended(wire.Completed)
	s.lines("record", s.record(), "RUN_STARTED r1:1", "RUN_ENDED r1:1 finished")
}

// testJobOutlived delivers tickets late, twice, and for runs and threads that do not exist.
func testJobOutlived(s *engineTest) {
	m := spooltest.NewModel(spooltest.Turn{Err: overloaded()}, spooltest.Say("hi"), spooltest.Say("two"))
	e := s.engine(s.config(m))
	nothing := func(what string, j wire.Job) {
		s.Helper()
		if r, err := e.HandleJob(context.Background(), j); err != nil || !r.Accepted || r.Reason == "" {
			s.Errorf("%s: %+v, %v", what, r, err)
		}
	}
	nothing("no thread", ticket("r1"))
	s.start(e, "r1", "go")
	first := ticket("r1")
	first.Segment = 1
	if r, err := e.HandleJob(context.Background(), first); err != nil || !r.Accepted {
		s.Errorf("the first: %+v, %v", r, err)
	}
	nothing("the first again", first)
	s.work(e)
	s.ended(wire.Completed)
	nothing("an ended run", ticket("r1"))
	s.start(e, "r2", "more")
	nothing("a run of before", ticket("r1"))
	s.ended(wire.Completed)
	if m.Asked() != 3 {
		s.Errorf("the model was asked %d times", m.Asked())
	}
}

func testJobUnknownAgent(s *engineTest) {
	knows := s.config(spooltest.NewModel(spooltest.Say("hi")))
	knows.Agents = append(knows.Agents, spool.Agent{Name: "b", Model: "m"})
	lacks := s.config(spooltest.NewModel())
	e := s.engine(lacks)
	stop := s.work(e)
	other := s.engine(knows)
	s.startAs(other, chat, wire.StartRequest{Prompt: "go", RunID: "r1", StartOptions: wire.StartOptions{Agent: "b"}})
	s.same("who has which agent", []bool{e.HasAgent(""), e.HasAgent("b"), other.HasAgent("b")}, []bool{true, false, true})
	j := ticket("r1")
	for _, j.Agent = range []string{"b", ""} { // a ticket without an agent is for the run's agent
		if _, err := e.HandleJob(context.Background(), j); !errors.Is(err, wire.ErrUnknownAgent) {
			s.Errorf("agent %q: %v", j.Agent, err)
		}
	}
	<-time.After(10 * time.Minute) // far longer than a job may be delivered without success
	stats := s.jobs()
	if stats.Dead != 0 || stats.Ready+stats.Delayed+stats.InFlight != 1 {
		s.Errorf("queue: %+v", stats)
	}
	if s.thread().State != wire.Queued {
		s.Errorf("the thread is %s", s.thread().State)
	}
	stop()
	s.working(knows)
	s.ended(wire.Completed)
}

// testJobHandBack shuts a worker down while the model streams.
func testJobHandBack(s *engineTest) {
	m := spooltest.NewModel(
		spooltest.Turn{Text: []string{"half"}, Gate: make(chan struct{}), Usage: spooltest.Tokens(1, 1)},
		spooltest.Say("whole"),
	)
	c := s.config(m)
	e := s.engine(c)
	s.start(e, "r1", "go")
	client := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var r wire.JobResult
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		r, err = e.HandleJob(ctx, ticket("r1"))
	}()
	s.until("the question", func() bool { return m.Asked() == 1 })
	<-time.After(time.Second)
	begin := time.Now()
	cancel()
	receive(s, done, bubbleWait, "the end of the goroutine")
	if took := time.Since(begin); err != nil || !r.Accepted || took > time.Millisecond {
		s.Errorf("%+v, %v, took %s", r, err, took)
	}
	run := s.run("r1")
	if run.State != wire.Queued || run.Attempts != 0 || run.Deaths != 0 || !s.thread().LeaseUntil.IsZero() {
		s.Errorf("the run: %+v", run)
	}
	s.working(c)
	s.ended(wire.Completed)
	if took := time.Since(begin); took > 2*time.Second {
		s.Errorf("the next worker took %s", took)
	}
	<-time.After(quiet)
	client()
	s.lines("messages", s.script(), "user go", "assistant whole")
	s.lines("record", s.record(), "RUN_STARTED r1:1", "RUN_ENDED r1:1 lost", "RUN_STARTED r1:2", "RUN_ENDED r1:2 finished")
}

// testJobHandBackInTool shuts a worker down while an idempotent tool and another tool run.
func testJobHandBackInTool(s *engineTest) {
	slow := func(name string) spool.Tool {
		var calls atomic.Int64
		t := plain(name, "")
		t.Call = func(ctx context.Context, _ spool.ToolCall) (json.RawMessage, error) {
			if calls.Add(1) == 1 {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return json.RawMessage(`"` + name + `"`), nil
		}
		return t
	}
	again := slow("again")
	again.Idempotent = true
	m := spooltest.NewReplayModel(
		spooltest.Turn{
			Text:  []string{"x"},
			Calls: []spooltest.Call{{ID: "c1", Name: "once"}, {ID: "c2", Name: "again"}, {ID: "c3", Name: "look"}},
		},
		spooltest.Say("done"),
	)
	c := s.config(m, slow("once"), again, plain("look", `"seen"`))
	e := s.engine(c)
	s.start(e, "r1", "go")
	client := s.watch(s.engine(c), &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{})
	stop := s.work(e)
	s.until("the tools", func() bool { return s.executed() == 3 })
	<-time.After(time.Second)
	stop()
	if r := s.run("r1"); r.State != wire.Queued || r.Attempts != 0 || r.Draft == nil {
		s.Errorf("the run: %+v", r)
	}
	e = s.working(c)
	s.becomes(wire.WaitingForInput)
	s.answer(e, "c1", true, "")
	s.ended(wire.Completed)
	<-time.After(quiet)
	client()
	s.lines("messages", s.script(), "user go", "assistant x c1=once{} c2=again{} c3=look{}", `tool c2:"again" c3:"seen"`,
		`tool c1:"once"`, "assistant done")
	if m.Asked() != 2 || s.executed() != 5 {
		s.Errorf("%d questions, %d calls of tools", m.Asked(), s.executed())
	}
}

func testJobDead(s *engineTest) {
	c := s.config(sending(), approved("send", "1"))
	e := s.engine(c)
	dead := func() {
		s.Helper()
		if err := e.HandleDeadJob(context.Background(), ticket(s.thread().RunID), 7, "it burned"); err != nil {
			s.Error(err)
		}
		r := s.run(s.thread().RunID)
		if r.State != wire.Failed || r.StopReason != wire.StopFailed || !strings.Contains(r.Error, "dropped by the queue") ||
			!strings.Contains(r.Error, "it burned") {
			s.Errorf("the run: %+v", r)
		}
	}
	s.start(e, "r1", "go")
	dead()
	stop := s.work(e)
	s.start(e, "r2", "go")
	s.becomes(wire.WaitingForInput)
	stop()
	dead()
	last := s.script()
	if got := last[len(last)-1]; got != `tool c1:{"cancelled":true,"reason":"failed"}` {
		s.Errorf("the last message is %s", got)
	}
}

// testJobDeadRunning gives up the job of a run whose worker died.
func testJobDeadRunning(s *engineTest) {
	m := spooltest.NewModel(spooltest.Turn{Text: []string{"half"}, Gate: make(chan struct{})})
	c := s.config(m)
	e := s.engine(c)
	s.start(e, "r1", "go")
	client := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{})
	p := s.process(c)
	s.until("the question", func() bool { return m.Asked() == 1 })
	<-time.After(time.Second)
	p.kill()
	<-time.After(time.Minute)
	if err := e.HandleDeadJob(context.Background(), ticket("r1"), 7, "it burned"); err != nil {
		s.Error(err)
	}
	s.ended(wire.Failed)
	<-time.After(quiet)
	client()
	s.lines("record", s.record(), "RUN_STARTED r1:1", "RUN_ENDED r1:1 lost")
}

func testJobDeadMovedOn(s *engineTest) {
	gate := make(chan struct{})
	m := spooltest.NewModel(spooltest.Turn{Err: overloaded()}, spooltest.Turn{Text: []string{"hi"}, Gate: gate},
		spooltest.Say("two"))
	e := s.working(s.config(m))
	alone := func(what string, j wire.Job) {
		s.Helper()
		before := s.all(chat, "r1")
		if err := e.HandleDeadJob(context.Background(), j, 7, "it burned"); err != nil {
			s.Errorf("%s: %v", what, err)
		}
		s.same(what, s.all(chat, "r1"), before)
	}
	first := ticket("r1")
	first.Segment = 1
	alone("no thread", first)
	s.start(e, "r1", "go")
	s.until("the failure", func() bool { return m.Asked() == 1 && s.thread().State == wire.Queued })
	alone("a later ticket exists", first)
	s.until("the second attempt", func() bool { return m.Asked() == 2 })
	alone("a worker holds the run", ticket("r1"))
	close(gate)
	s.ended(wire.Completed)
	alone("the run has ended", ticket("r1"))
	s.start(e, "r2", "more")
	s.ended(wire.Completed)
	alone("another run has the thread", ticket("r1"))
}

// testJobDeliveredTooOften has a job whose execution fails each time.
func testJobDeliveredTooOften(s *engineTest) {
	c := s.config(spooltest.NewModel(spooltest.Say("hi")))
	f := spooltest.NewFaulty(s.join())
	b := f.Backend()
	b.Store = noClaims{b.Store}
	e := s.over(b, c)
	s.start(s.engine(c), "r1", "go")
	s.workWith(e, engine.WorkOptions{MaxDeliveries: 20})
	s.ended(wire.Failed)
	if r := s.run("r1"); !strings.Contains(r.Error, "dropped by the queue after 20 attempts") {
		s.Errorf("the run: %+v", r)
	}
	s.until("the dead job", func() bool {
		dead := s.deadJobs()
		return len(dead) == 1 && dead[0].RunID == "r1"
	})
}

// noClaims fails every transaction that makes a run RUNNING.
type noClaims struct{ store.Store }

func (n noClaims) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(store.Tx) error) error {
	return n.Store.Update(ctx, key, fence, func(tx store.Tx) error { return fn(noClaimsTx{tx}) })
}

type noClaimsTx struct{ store.Tx }

func (n noClaimsTx) Write(c store.Changes) error {
	if c.Thread != nil && c.Thread.State == wire.Running {
		return spool.Errorf(spool.Unavailable, "not today")
	}
	return n.Tx.Write(c)
}
