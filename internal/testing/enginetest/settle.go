package enginetest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// settleTest is the fixture of the cases about the settle hook.
type settleTest struct{ *engineTest }

var settleTests = map[string]func(s settleTest){
	"Completed":       testSettleCompleted,
	"Failed":          testSettleFailed,
	"StoppedQueued":   testSettleStoppedQueued,
	"StoppedParked":   testSettleStoppedParked,
	"StoppedRunning":  testSettleStoppedRunning,
	"Dead":            testSettleDead,
	"HookFails":       testSettleHookFails,
	"HookFailsOnStop": testSettleHookFailsOnStop,
	"WorkerDies":      testSettleWorkerDies,
	"HookRemoved":     testSettleHookRemoved,
	"StopWhile":       testSettleStopWhile,
	"StoppedAndLost":  testSettleStoppedAndLost,
	"StoppedTwice":    testSettleStoppedTwice,
	"Claimed":         testSettleClaimed,
	"Again":           testSettleAgain,
}

// settlements records the calls of a settle hook.
type settlements struct {
	s     *engineTest
	mu    sync.Mutex
	calls []wire.Settlement
	// err returns the hook's result for the n-th call.
	err func(n int) error
}

func (h *settlements) hook(_ context.Context, settled wire.Settlement) error {
	h.mu.Lock()
	h.calls = append(h.calls, settled)
	n := len(h.calls)
	h.mu.Unlock()
	if r := h.s.run(settled.RunID); r.SettledAt.IsZero() && r.State.Terminal() && h.err == nil {
		h.s.Errorf("run %s settles after its end", r.ID)
	}
	if h.err != nil {
		return h.err(n)
	}
	return nil
}

// settling returns a configuration with a settle hook.
func (s settleTest) settling(m spool.Model, tools ...spool.Tool) (engine.Config, *settlements) {
	h := &settlements{s: s.engineTest}
	c := s.config(m, tools...)
	c.OnSettle = h.hook
	return c, h
}

// once reports an error unless the hook was called once, with the given end.
func (h *settlements) once(state wire.State, reason wire.StopReason) {
	h.s.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.calls) != 1 || h.calls[0].State != state || h.calls[0].StopReason != reason || h.calls[0].RunID != "r1" ||
		h.calls[0].Thread != chat {
		h.s.Errorf("settlements: %+v", h.calls)
	}
	if r := h.s.run("r1"); r.SettledAt.IsZero() || r.State != state || r.Ending != nil {
		h.s.Errorf("the run: %+v", r)
	}
}

func testSettleCompleted(s settleTest) {
	c, h := s.settling(
		spooltest.NewModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "look"}),
			spooltest.Turn{Text: []string{"hi"}, Usage: spooltest.Tokens(3, 4)}),
		plain("look", "1"),
	)
	e := s.engine(c)
	s.start(e, "r1", "go")
	client := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{})
	s.work(e)
	s.ended(wire.Completed)
	<-time.After(quiet)
	client()
	h.once(wire.Completed, wire.StopCompleted)
	if got := h.calls[0]; got.Steps != 2 || got.Usage.TotalTokens != 7 || got.Agent != "a" {
		s.Errorf("settlement: %+v", got)
	}
}

func testSettleFailed(s settleTest) {
	c, h := s.settling(spooltest.NewModel())
	e := s.working(c)
	s.start(e, "r1", "go")
	s.ended(wire.Failed)
	h.once(wire.Failed, wire.StopFailed)
	if h.calls[0].Error == "" {
		s.Error("the hook was not told why")
	}
}

func testSettleStoppedQueued(s settleTest) {
	c, h := s.settling(spooltest.NewModel())
	e := s.engine(c)
	s.start(e, "r1", "go")
	s.stop(e)
	h.once(wire.Cancelled, wire.StopCancelled)
	s.work(e)
	<-time.After(5 * time.Minute)
	h.once(wire.Cancelled, wire.StopCancelled)
}

func testSettleStoppedParked(s settleTest) {
	c, h := s.settling(sending(), approved("send", "1"))
	e := s.working(c)
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	s.stop(e)
	h.once(wire.Cancelled, wire.StopCancelled)
	<-time.After(20 * time.Minute)
	h.once(wire.Cancelled, wire.StopCancelled)
	s.lines("messages", s.script(), "user go", `assistant c1=send{"to":"bob"}`,
		`tool c1:{"cancelled":true,"reason":"stopped"}`)
}

func testSettleStoppedRunning(s settleTest) {
	m := spooltest.NewModel(spooltest.Turn{Text: []string{"half"}, Gate: make(chan struct{})})
	c, h := s.settling(m)
	e := s.engine(c)
	s.start(e, "r1", "go")
	client := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{})
	s.work(e)
	s.until("the question", func() bool { return m.Asked() == 1 })
	<-time.After(time.Second)
	s.stop(e)
	s.ended(wire.Cancelled)
	<-time.After(quiet)
	client()
	h.once(wire.Cancelled, wire.StopCancelled)
}

func testSettleDead(s settleTest) {
	c, h := s.settling(spooltest.NewModel())
	e := s.engine(c)
	s.start(e, "r1", "go")
	if err := e.HandleDeadJob(context.Background(), ticket("r1"), 7, "it burned"); err != nil {
		s.Error(err)
	}
	h.once(wire.Failed, wire.StopFailed)
}

func testSettleHookFails(s settleTest) {
	c, h := s.settling(spooltest.NewModel(spooltest.Say("hi")))
	h.err = func(n int) error {
		if n <= 3 {
			return errors.New("no money")
		}
		return nil
	}
	e := s.working(c)
	s.start(e, "r1", "go")
	s.ended(wire.Failed)
	if r := s.run("r1"); len(h.calls) != 3 || !r.SettledAt.IsZero() || r.Error == "" {
		s.Errorf("%d calls: %+v", len(h.calls), r)
	}
	s.lines("messages", s.script(), "user go", "assistant hi")
	s.until("the late settlement", func() bool { return !s.run("r1").SettledAt.IsZero() })
	if last := h.calls[len(h.calls)-1]; len(h.calls) != 4 || last.State != wire.Failed {
		s.Errorf("settlements: %+v", h.calls)
	}
	<-time.After(30 * time.Minute)
	if len(h.calls) != 4 {
		s.Errorf("settlements: %+v", h.calls)
	}
}

func testSettleHookFailsOnStop(s settleTest) {
	c, h := s.settling(spooltest.NewModel())
	h.err = func(int) error { return errors.New("no money") }
	e := s.engine(c)
	s.start(e, "r1", "go")
	s.stop(e)
	if r := s.run("r1"); r.State != wire.Cancelled || !r.SettledAt.IsZero() {
		s.Errorf("the run: %+v", r)
	}
}

// testSettleWorkerDies kills the worker in the hook.
func testSettleWorkerDies(s settleTest) {
	c, h := s.settling(spooltest.NewModel(spooltest.Say("hi"), spooltest.Say("never")))
	called, gate := make(chan struct{}), make(chan struct{})
	h.err = func(n int) error {
		if n == 1 {
			close(called)
			<-gate
		}
		return nil
	}
	e := s.engine(c)
	s.start(e, "r1", "go")
	client := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{})
	p := s.process(c)
	receive(s, called, bubbleWait, "the call")
	go p.kill()
	<-time.After(time.Second)
	close(gate)
	s.work(e)
	s.ended(wire.Completed)
	<-time.After(quiet)
	client()
	if len(h.calls) != 2 || s.run("r1").SettledAt.IsZero() {
		s.Errorf("settlements: %+v", h.calls)
	}
	s.lines("record", s.record(), "RUN_STARTED r1:1", "RUN_ENDED r1:1 finished")
}

// testSettleHookRemoved kills the worker in the hook. The next worker has no hook, and ends the run as it
// was to end.
func testSettleHookRemoved(s settleTest) {
	c, h := s.settling(spooltest.NewModel(spooltest.Say("hi"), spooltest.Say("never")))
	called, gate := make(chan struct{}), make(chan struct{})
	h.err = func(int) error {
		close(called)
		<-gate
		return nil
	}
	p := s.process(c)
	s.start(p.Engine, "r1", "go")
	receive(s, called, bubbleWait, "the call")
	go p.kill()
	<-time.After(time.Second)
	close(gate)
	c.OnSettle = nil
	s.work(s.engine(c))
	s.ended(wire.Completed)
	s.lines("record", s.record(), "RUN_STARTED r1:1", "RUN_ENDED r1:1 finished")
}

// testSettleStopWhile stops a run whose ending is already decided: the stop comes too late.
func testSettleStopWhile(s settleTest) {
	c, h := s.settling(spooltest.NewModel(spooltest.Say("hi")))
	called, gate := make(chan struct{}), make(chan struct{})
	h.err = func(int) error {
		close(called)
		<-gate
		return nil
	}
	e := s.working(c)
	s.start(e, "r1", "go")
	receive(s, called, bubbleWait, "the call")
	r, err := e.Stop(context.Background(), chat)
	if err != nil || r.Accepted || r.Reason != wire.ReasonNotActive {
		s.Errorf("stop: %+v, %v", r, err)
	}
	close(gate)
	s.ended(wire.Completed)
}

// testSettleStoppedAndLost has a worker that dies after a stop and before it could end the run.
func testSettleStoppedAndLost(s settleTest) {
	m := spooltest.NewModel(spooltest.Turn{Before: func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}})
	c, h := s.settling(m)
	p := s.process(c)
	p.faulty.DropWakes(true)
	s.start(p.Engine, "r1", "go")
	s.until("the question", func() bool { return m.Asked() == 1 })
	<-time.After(100 * time.Millisecond)
	e := s.engine(c)
	s.stop(e)
	p.kill()
	s.work(e)
	s.ended(wire.Cancelled)
	h.once(wire.Cancelled, wire.StopCancelled)
	s.lines("record", s.record(), "RUN_STARTED r1:1", "RUN_ENDED r1:1 lost")
}

// testSettleStoppedTwice stops a run whose worker died. The stopping process then dies in the hook, and
// the run is stopped again.
func testSettleStoppedTwice(s settleTest) {
	m := spooltest.NewModel(spooltest.Turn{Text: []string{"half"}, Gate: make(chan struct{})})
	c, h := s.settling(m)
	p := s.process(c)
	s.start(p.Engine, "r1", "go")
	s.until("the question", func() bool { return m.Asked() == 1 })
	p.kill()
	<-time.After(time.Minute)

	called, gate := make(chan struct{}), make(chan struct{})
	h.err = func(n int) error {
		if n == 1 {
			close(called)
			<-gate
		}
		return nil
	}
	f := spooltest.NewFaulty(s.join())
	dying := s.over(f.Backend(), c)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if _, err := dying.Stop(context.Background(), chat); err == nil {
			s.Error("the stop of a dead process was accepted")
		}
	}()
	receive(s, called, bubbleWait, "the call")
	f.Plan(spooltest.Fault{Call: f.Calls() + 1, Kind: spooltest.CrashBefore})
	close(gate)
	receive(s, done, bubbleWait, "the end of the goroutine")
	<-time.After(time.Minute)
	e := s.engine(c)
	s.stop(e)
	s.work(e)
	s.ended(wire.Cancelled)
	s.lines("record", s.record(), "RUN_STARTED r1:1", "RUN_ENDED r1:1 lost")
}
