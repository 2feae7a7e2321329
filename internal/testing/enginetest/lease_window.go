package enginetest

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/wire"
)

// In these cases a worker is paused after the store has confirmed that a call is about to begin, and before the call:
// when the worker goes on, it knows nothing of its pause.

// testLeaseWindowTaken has another worker take the run over meanwhile.
func testLeaseWindowTaken(s *engineTest) {
	c, called := windowConfig(s)
	wake := windowPaused(s, c)
	<-time.After(time.Minute)
	e := s.working(c)
	s.becomes(wire.WaitingForInput)
	wake()
	if p := s.shown("c1"); p.Reason != wire.ParkOutcomeUnknown {
		s.Errorf("the park is %+v", p)
	}
	s.answer(e, "c1", true, "")
	s.ended(wire.Completed)
	if got := called(); len(got) != 1 || got[0].Fence != s.thread().Fence {
		s.Errorf("the calls are %+v, and the fence is %d", got, s.thread().Fence)
	}
}

// testLeaseWindowStopped has the run stopped and ended meanwhile.
func testLeaseWindowStopped(s *engineTest) {
	c, called := windowConfig(s)
	wake := windowPaused(s, c)
	e := s.engine(c)
	s.stop(e)
	<-time.After(time.Minute)
	s.work(e)
	s.ended(wire.Cancelled)
	wake()
	s.lines("messages", s.script(), "user go", `assistant c1=send{"to":"bob"}`,
		`tool c1:{"cancelled":true,"outcome":"unknown","reason":"stopped"}`)
	if got := called(); len(got) != 0 {
		s.Errorf("after the end of the run, its tool was called: %+v", got)
	}
}

// testLeaseWindowStopOnly has the run stopped meanwhile, and no other worker. The worker that goes on finds the stop.
func testLeaseWindowStopOnly(s *engineTest) {
	c, called := windowConfig(s)
	wake := windowPaused(s, c)
	s.stop(s.engine(c))
	<-time.After(time.Minute)
	wake()
	s.ended(wire.Cancelled)
	if got := called(); len(got) != 0 {
		s.Errorf("after the stop, the tool was called: %+v", got)
	}
}

// testLeaseWindowAlone has nobody take the run meanwhile. The worker renews its lease and makes the call.
func testLeaseWindowAlone(s *engineTest) {
	c, called := windowConfig(s)
	wake := windowPaused(s, c)
	<-time.After(time.Minute)
	wake()
	s.ended(wire.Completed)
	if got := called(); len(got) != 1 {
		s.Errorf("the calls are %+v", got)
	}
	s.lines("record", s.record(), "RUN_STARTED r1:1", "RUN_ENDED r1:1 finished")
}

// windowConfig returns an engine with a tool, and the calls that the tool gets.
func windowConfig(s *engineTest) (c engine.Config, called func() []spool.ToolCall) {
	var mu sync.Mutex
	var calls []spool.ToolCall
	send := plain("send", "")
	send.Call = func(_ context.Context, call spool.ToolCall) (json.RawMessage, error) {
		mu.Lock()
		defer mu.Unlock()
		calls = append(calls, call)
		return json.RawMessage(`"sent"`), nil
	}
	return s.config(sending(), send), func() []spool.ToolCall {
		mu.Lock()
		defer mu.Unlock()
		return calls
	}
}

// windowPaused starts a run at a worker and returns when the worker is paused. Wake lets it go on, and waits for it.
func windowPaused(s *engineTest, c engine.Config) (wake func()) {
	s.Helper()
	paused, b := s.newStall()
	hit, done := make(chan struct{}), make(chan struct{})
	b.Store = pendingStore{b.Store, sync.OnceFunc(func() {
		paused.pause()
		close(hit)
		paused.wait()
	})}
	e := s.over(b, c)
	s.start(e, "r1", "go")
	go func() {
		defer close(done)
		_, _ = e.HandleJob(context.Background(), ticket("r1"))
	}()
	receive(s, hit, bubbleWait, "the pause")
	return func() {
		s.Helper()
		paused.wake()
		receive(s, done, bubbleWait, "the end of the paused worker")
	}
}
