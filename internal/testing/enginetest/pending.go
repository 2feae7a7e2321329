package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// pendingTest is the fixture of the cases about calls whose work goes on elsewhere.
type pendingTest struct{ *engineTest }

var pendingTests = map[string]func(s pendingTest){
	"Done":           testPendingDone,
	"Several":        testPendingSeveral,
	"Bounds":         testPendingBounds,
	"Notes":          testPendingNotes,
	"TakesLong":      testPendingTakesLong,
	"Killed":         testPendingKilled,
	"KilledInStep":   testPendingKilledInStep,
	"KilledInLook":   testPendingKilledInLook,
	"HandedBack":     testPendingHandedBack,
	"Swept":          testPendingSwept,
	"Question":       testPendingQuestion,
	"QuestionEnds":   testPendingQuestionEnds,
	"QuestionKilled": testPendingQuestionKilled,
	"QuestionUnsure": testPendingQuestionUnsure,
	"QuestionTwice":  testPendingQuestionTwice,
	"Denied":         testPendingDenied,
	"Unknown":        testPendingUnknown,
	"ApprovalFirst":  testPendingApprovalFirst,
	"ApprovalLast":   testPendingApprovalLast,
	"Stop":           testPendingStop,
	"StopInStep":     testPendingStopInStep,
	"StopInLook":     testPendingStopInLook,
	"StopSettled":    testPendingStopSettled,
	"Overdue":        testPendingOverdue,
	"Rollback":       testPendingRollback,
	"Steer":          testPendingSteer,
	"Nested":         testPendingNested,
	"Snapshot":       testPendingSnapshot,
	"Await":          testPendingAwait,
	"Source":         testPendingSource,
}

// remoteWork does the work of a tool outside the engine's processes.
type remoteWork struct {
	s *engineTest
	// takes is how long the work takes, and every how long to wait between two looks.
	takes, every time.Duration
	// note describes the work that has gone on for a while.
	note func(d time.Duration) string
	// look replaces the answer to a look, unless it returns nothing.
	look func(ctx context.Context, c spool.ToolCall) (json.RawMessage, error)

	mu       sync.Mutex
	begun    map[spool.ToolCallID]time.Time
	starts   int
	looks    int
	results  int
	canceled []string
	wrong    []string
}

func (s pendingTest) remote(takes, every time.Duration) *remoteWork {
	return &remoteWork{s: s.engineTest, takes: takes, every: every, begun: make(map[spool.ToolCallID]time.Time)}
}

// tool returns the tool of the work.
func (r *remoteWork) tool(name string) spool.Tool {
	t := plain(name, "")
	t.Call = r.call
	t.Cancel = func(_ context.Context, c spool.ToolCall) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.canceled = append(r.canceled, string(c.ID)+string(c.Pending))
		return errors.New("this is only logged")
	}
	return t
}

func (r *remoteWork) call(ctx context.Context, c spool.ToolCall) (json.RawMessage, error) {
	if c.Pending != nil && r.look != nil {
		if result, err := r.look(ctx, c); result != nil || err != nil {
			return result, err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.Pending == nil {
		r.starts++
		r.begun[c.ID] = r.s.now()
		return nil, spool.Pending(r.every, json.RawMessage(`{"task":"`+c.ID+`"}`))
	}
	if string(c.Pending) != `{"task":"`+string(c.ID)+`"}` {
		r.wrong = append(r.wrong, "the state of "+string(c.ID)+" is "+string(c.Pending))
	}
	passed := r.s.now().Sub(r.begun[c.ID])
	if c.Looking {
		r.looks++
	}
	if passed < r.takes {
		still := spool.Pending(r.every, c.Pending)
		if r.note != nil {
			still.Note = r.note(passed)
		}
		return nil, still
	}
	if !c.Looking {
		r.results++
	}
	return json.RawMessage(`"made"`), nil
}

// did checks how often the work was begun and fetched, and which works were cancelled.
func (r *remoteWork) did(starts, results int, canceled ...string) {
	r.s.Helper()
	if len(canceled) > 0 {
		r.s.until("the cancellation", func() bool {
			r.mu.Lock()
			defer r.mu.Unlock()
			return len(r.canceled) >= len(canceled)
		})
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.starts != starts || r.results != results {
		r.s.Errorf("%d starts and %d results, want %d and %d", r.starts, r.results, starts, results)
	}
	r.s.lines("cancelled", r.canceled, canceled...)
	r.s.lines("wrong", r.wrong)
}

// making returns a model that calls the tools and then says so. The n-th call is cn.
func making(names ...string) *spooltest.Model {
	calls := make([]spooltest.Call, len(names))
	for i, name := range names {
		calls[i] = spooltest.Call{ID: spool.ToolCallID("c" + string(rune('1'+i))), Name: name}
	}
	return spooltest.NewReplayModel(spooltest.Use(calls...), spooltest.Say("done"))
}

// waits starts a run and waits until it waits.
func (s pendingTest) waits(e *engine.Engine) {
	s.Helper()
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
}

// made checks the messages of a run whose one call was pending.
func (s pendingTest) made() {
	s.Helper()
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user go", "assistant c1=make{}", `tool c1:"made"`, "assistant done")
}

func testPendingDone(s pendingTest) {
	work := s.remote(8*time.Second, 3*time.Second)
	e := s.working(s.config(making("make"), work.tool("make")))
	s.waits(e)
	if thread := s.thread(); !thread.LeaseUntil.IsZero() {
		s.Errorf("a run that waits holds a worker: %+v", thread)
	}
	p := s.parksOf(chat, "r1")[0]
	if p.State != wire.ParkPending || p.Reason != wire.ParkToolPending ||
		p.Pending.NextAt.Sub(p.CreatedAt) != 3*time.Second || p.Pending.Until.Sub(p.CreatedAt) != 24*time.Hour {
		s.Errorf("the park is %+v, %+v", p, p.Pending)
	}
	if r, err := s.respond(e, "c1", true, "1"); err != nil || r.Reason != wire.ReasonNoPark {
		s.Errorf("an answer: %+v, %v", r, err)
	}
	s.made()
	s.lines("record", s.record(), "RUN_STARTED r1:1", "CALL_PENDING c1", "RUN_ENDED r1:1 parked", "RUN_STARTED r1:2",
		"RUN_ENDED r1:2 finished")
	work.did(1, 1)
	if work.looks < 3 || work.looks > 4 {
		s.Errorf("%d looks", work.looks)
	}
	p = s.parksOf(chat, "r1")[0]
	if p.State != wire.ParkDone || !p.Landed || s.run("r1").WallTime > 2*time.Second {
		s.Errorf("the park is %+v, the run took %s", p, s.run("r1").WallTime)
	}
	if jobs := s.jobs(); jobs.Ready+jobs.Delayed+jobs.InFlight+jobs.Dead != 0 {
		s.Errorf("jobs are left: %+v", jobs)
	}
}

// testPendingSeveral has calls of one step that take different times.
func testPendingSeveral(s pendingTest) {
	quick, slow := s.remote(2*time.Second, time.Second), s.remote(20*time.Second, 5*time.Second)
	e := s.working(s.config(making("quick", "slow", "look"), quick.tool("quick"), slow.tool("slow"),
		plain("look", `"seen"`)))
	s.waits(e)
	s.until("the result of the quick one", func() bool { return len(s.script()) == 4 })
	s.until("the wait", func() bool { return s.thread().State == wire.WaitingForInput })
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user go", "assistant c1=quick{} c2=slow{} c3=look{}", `tool c3:"seen"`,
		`tool c1:"made"`, `tool c2:"made"`, "assistant done")
	quick.did(1, 1)
	slow.did(1, 1)
	if slow.looks > 6 {
		s.Errorf("%d looks at the slow one", slow.looks)
	}
	record := s.record()
	slices.Sort(record[1:3]) // the calls run at the same time
	s.lines("record", record, "RUN_STARTED r1:1", "CALL_PENDING c1", "CALL_PENDING c2", "RUN_ENDED r1:1 parked",
		"RUN_STARTED r1:2", "RUN_ENDED r1:2 parked", "RUN_STARTED r1:3", "RUN_ENDED r1:3 finished")
}

func testPendingBounds(s pendingTest) {
	soon, late := s.remote(time.Minute, 0), s.remote(2*time.Hour, 10*time.Hour)
	e := s.engine(s.config(making("soon", "late"), soon.tool("soon"), late.tool("late")))
	stop := s.work(e)
	s.waits(e)
	stop()
	for _, p := range s.parksOf(chat, "r1") {
		want := map[string]time.Duration{"soon": spool.MinPending, "late": spool.MaxPending}[p.ToolName]
		if got := p.Pending.NextAt.Sub(p.CreatedAt).Round(100 * time.Millisecond); got != want {
			s.Errorf("%s is looked at after %s, want %s", p.ToolName, got, want)
		}
	}
	wrong := work(s, "bad")
	wrong.PendingTimeout = -1
	if _, err := engine.New(s.backend, s.config(sending(), wrong)); spool.CodeOf(err) != spool.Invalid {
		s.Errorf("a negative time: %v", err)
	}
}

func work(s pendingTest, name string) spool.Tool {
	return s.remote(time.Second, time.Second).tool(name)
}

// testPendingNotes tells clients how far the work is, once for each change.
func testPendingNotes(s pendingTest) {
	work := s.remote(8*time.Second, time.Second)
	work.note = func(d time.Duration) string {
		if d < 4*time.Second {
			return "half"
		}
		return strings.Repeat("n", 600)
	}
	e := s.engine(s.config(making("make"), work.tool("make")))
	s.start(e, "r1", "go")
	client := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{})
	s.work(e)
	s.made()
	<-time.After(quiet)
	client()
	s.lines("record", s.record(), "RUN_STARTED r1:1", "CALL_PENDING c1", "RUN_ENDED r1:1 parked", "CALL_PENDING c1 half",
		"CALL_PENDING c1 "+strings.Repeat("n", 500), "RUN_STARTED r1:2", "RUN_ENDED r1:2 finished")
}

// testPendingTakesLong looks often, and the record does not grow.
func testPendingTakesLong(s pendingTest) {
	work := s.remote(time.Hour, 10*time.Second)
	c := s.config(making("make"), work.tool("make"))
	c.Worker.Poll, c.Worker.SweepEvery = time.Hour, time.Hour // otherwise the worker would poll each second too
	s.waits(s.working(c))
	s.made()
	if got := len(s.record()); got != 5 || work.looks < 300 {
		s.Errorf("%d entries after %d looks", got, work.looks)
	}
	if r := s.run("r1"); r.Segments != 2 || r.WallTime > 2*time.Second {
		s.Errorf("%d segments, %s", r.Segments, r.WallTime)
	}
}

// testPendingKilled kills the process while the run waits. Another one goes on.
func testPendingKilled(s pendingTest) {
	work := s.remote(8*time.Second, 2*time.Second)
	c := s.config(making("make"), work.tool("make"))
	p := s.process(c)
	s.waits(p.Engine)
	p.kill()
	s.working(c)
	s.made()
	work.did(1, 1)
}

// testPendingKilledInStep kills the process while another call of the step runs. The work was begun and is not
// begun again.
func testPendingKilledInStep(s pendingTest) {
	work, d := s.remote(time.Second, time.Second), newDying(1)
	d.Idempotent = true
	c := s.config(making("make", "send"), work.tool("make"), d.Tool)
	p := s.process(c)
	s.start(p.Engine, "r1", "go")
	receive(s, d.called, bubbleWait, "the call of the tool")
	s.until("the state", func() bool { return len(s.parksOf(chat, "r1")) == 1 })
	p.kill()
	close(d.gate)
	s.working(c)
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user go", "assistant c1=make{} c2=send{}", `tool c2:"sent"`, `tool c1:"made"`,
		"assistant done")
	work.did(1, 1)
}

// testPendingKilledInLook kills the process in a look, and then in the call for the result. Both are repeated.
func testPendingKilledInLook(s pendingTest) {
	work := s.remote(time.Second, time.Second)
	called, gate := make(chan struct{}, 2), make(chan struct{})
	deaths := map[bool]bool{}
	var mu sync.Mutex
	work.look = func(_ context.Context, c spool.ToolCall) (json.RawMessage, error) {
		mu.Lock()
		first := !deaths[c.Looking]
		deaths[c.Looking] = true
		mu.Unlock()
		if first {
			called <- struct{}{}
			<-gate
		}
		return nil, nil
	}
	c := s.config(making("make"), work.tool("make"))
	for range 2 {
		p := s.process(c)
		if s.history.Starts == nil {
			s.start(p.Engine, "r1", "go")
		}
		receive(s, called, 5*time.Minute, "the look")
		p.kill()
	}
	close(gate)
	s.working(c)
	s.made()
	if work.starts != 1 {
		s.Errorf("%d starts", work.starts)
	}
	s.lines("parks", []string{string(s.parksOf(chat, "r1")[0].State)}, "done")
}

// testPendingHandedBack shuts the worker down in a look. The look is repeated at once.
func testPendingHandedBack(s pendingTest) {
	work := s.remote(3*time.Second, time.Second)
	called := make(chan struct{}, 9)
	var once sync.Once
	work.look = func(ctx context.Context, _ spool.ToolCall) (_ json.RawMessage, err error) {
		once.Do(func() {
			called <- struct{}{}
			<-ctx.Done()
			err = ctx.Err()
		})
		return nil, err
	}
	e := s.engine(s.config(making("make"), work.tool("make")))
	stop := s.work(e)
	s.start(e, "r1", "go")
	receive(s, called, bubbleWait, "the look")
	stop()
	if p := s.parksOf(chat, "r1")[0]; p.Pending.Ready || p.State != wire.ParkPending {
		s.Errorf("the park is %+v", p.Pending)
	}
	s.work(e)
	s.made()
	work.did(1, 1)
}

// testPendingSwept loses the job that would look.
func testPendingSwept(s pendingTest) {
	work := s.remote(time.Minute, 10*time.Second)
	e := s.engine(s.config(making("make"), work.tool("make")))
	stop := s.work(e)
	s.waits(e)
	stop()
	err := s.backend.Store.Update(context.Background(), chat, 0,
		func(tx store.Tx) error { return tx.Write(store.Changes{CancelJobs: []string{"poll:r1:c1"}}) })
	if err != nil {
		s.Fatal(err)
	}
	s.work(e)
	s.made()
	work.did(1, 1)
}
