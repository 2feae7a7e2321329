package enginetest

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

var stopTests = map[string]func(s *engineTest){
	"Streaming":     testStopStreaming,
	"Reasoning":     testStopReasoning,
	"InTool":        testStopInTool,
	"Ended":         testStopEnded,
	"Twice":         testStopTwice,
	"LostWake":      testStopLostWake,
	"DeadWorker":    testStopDeadWorker,
	"RacesFinish":   testStopRacesFinish,
	"RacesHandBack": testStopRacesHandBack,
}

func testStopStreaming(s *engineTest) {
	m := spooltest.NewModel(
		spooltest.Turn{
			Reasoning: []string{"hm"}, Text: []string{"half ", "an answer"}, Gate: make(chan struct{}),
			Usage: spooltest.Tokens(7, 3),
		},
		spooltest.Say("more"),
	)
	e := s.engine(s.config(m))
	s.start(e, "r1", "go")
	stop := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{})
	s.work(e)
	s.until("the model's text", func() bool { return m.Asked() == 1 })
	<-time.After(time.Second)
	began := time.Now()
	s.stop(e)
	s.ended(wire.Cancelled)
	if took := time.Since(began); took > 100*time.Millisecond {
		s.Errorf("the stop took %s", took)
	}
	<-time.After(quiet)
	frames := stop()
	s.lines("messages", s.script(), "user go", "assistant (hm) half an answer")
	s.lines("record", s.record(), "RUN_STARTED r1:1", "RUN_ENDED r1:1 stopped")
	lines := frameLines(frames)
	if n := len(lines); n < 3 || lines[n-2][len("1 r1:1 1-"):] == "" {
		s.Errorf("frames: %v", lines)
	}
	if last := frames[len(frames)-1]; last.Cursor != nil || entryLine(*last.Event) != "STATE_CHANGE CANCELLED" {
		s.Errorf("the last frame is %s", frameLine(last))
	}
	// The next run continues after the kept messages.
	s.start(e, "r2", "and?")
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user go", "assistant (hm) half an answer", "user and?", "assistant more")
}

// testStopReasoning stops a run whose output so far is not worth keeping.
func testStopReasoning(s *engineTest) {
	m := spooltest.NewModel(spooltest.Turn{Reasoning: []string{"hm"}, Gate: make(chan struct{})})
	e := s.working(s.config(m))
	s.start(e, "r1", "go")
	s.until("the model's thoughts", func() bool { return m.Asked() == 1 })
	<-time.After(time.Second)
	s.stop(e)
	s.ended(wire.Cancelled)
	s.lines("messages", s.script(), "user go")
}

func testStopInTool(s *engineTest) {
	running := make(chan struct{}, 2)
	slow := spool.Tool{
		ToolSpec: spool.ToolSpec{Name: "slow"},
		Call: func(ctx context.Context, _ spool.ToolCall) (json.RawMessage, error) {
			running <- struct{}{}
			<-ctx.Done()
			return nil, ctx.Err()
		},
	}
	e := s.engine(s.config(spooltest.NewModel(
		spooltest.Turn{
			Text:  []string{"wait"},
			Calls: []spooltest.Call{{ID: "c1", Name: "slow"}, {ID: "c2", Name: "quick"}, {ID: "c3", Name: "send"}},
		},
	), slow, plain("quick", "1"), approved("send", "2")))
	s.start(e, "r1", "go")
	stop := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{})
	s.work(e)
	receive(s, running, bubbleWait, "the call of the tool")
	<-time.After(time.Second)
	s.stop(e)
	s.ended(wire.Cancelled)
	<-time.After(quiet)
	stop()
	s.lines("messages", s.script(), "user go", "assistant wait c1=slow{} c2=quick{} c3=send{}",
		`tool c1:{"cancelled":true,"outcome":"unknown","reason":"stopped"} c2:1 c3:{"cancelled":true,"reason":"stopped"}`)
	s.lines("record", s.record(), "RUN_STARTED r1:1", "RUN_ENDED r1:1 stopped")
}

func testStopEnded(s *engineTest) {
	e := s.working(s.config(spooltest.NewModel(spooltest.Say("hi"))))
	if r, err := e.Stop(context.Background(), chat); err != nil || r.Accepted ||
		r.Error != "Cannot stop thread in state unknown" {
		s.Errorf("no thread: %+v, %v", r, err)
	}
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	r, err := e.Stop(context.Background(), chat)
	if err != nil || r.Accepted || r.Reason != wire.ReasonNotActive || r.Error != "Cannot stop thread in state COMPLETED" {
		s.Errorf("an ended run: %+v, %v", r, err)
	}
}

// testStopTwice stops a run whose model ignores the cancellation.
func testStopTwice(s *engineTest) {
	gate := make(chan struct{})
	m := spooltest.NewModel(spooltest.Turn{Before: func(context.Context) error {
		<-gate
		return nil
	}, Text: []string{"x"}})
	e := s.working(s.config(m))
	s.start(e, "r1", "go")
	s.until("the question", func() bool { return m.Asked() == 1 })
	s.stop(e)
	s.stop(e)
	<-time.After(time.Second)
	if s.thread().State != wire.Running {
		s.Errorf("the thread is %s", s.thread().State)
	}
	close(gate)
	s.ended(wire.Cancelled)
}

// testStopLostWake stops from another process, whose wake-up is lost.
func testStopLostWake(s *engineTest) {
	m := spooltest.NewModel(spooltest.Turn{Text: []string{"half"}, Gate: make(chan struct{})})
	c := s.config(m)
	p := s.process(c)
	p.faulty.DropWakes(true)
	s.start(p.Engine, "r1", "go")
	s.until("the question", func() bool { return m.Asked() == 1 })
	begin := time.Now()
	s.stop(s.engine(c))
	s.ended(wire.Cancelled)
	if took := time.Since(begin); took > 600*time.Millisecond {
		s.Errorf("the stop took %s", took)
	}
}

// testStopDeadWorker stops a run whose worker has died: before the lease lapses, and after that.
func testStopDeadWorker(s *engineTest) {
	m := spooltest.NewModelFunc(func(context.Context, spool.ModelRequest) spooltest.Turn {
		return spooltest.Turn{Text: []string{"half"}, Gate: make(chan struct{})}
	})
	c := s.config(m)
	e := s.engine(c)
	for i, wait := range []time.Duration{time.Second, time.Minute} {
		id := spool.RunID("r" + string(rune('1'+i)))
		p := s.process(c)
		s.start(e, id, "go")
		s.until("the question", func() bool { return m.Asked() == i+1 })
		<-time.After(time.Second)
		p.kill()
		<-time.After(wait)
		began := time.Now()
		s.stop(e)
		again := s.work(e)
		s.ended(wire.Cancelled)
		if took := time.Since(began); took > 40*time.Second || wait > time.Second && took > 0 {
			s.Errorf("the stop took %s", took)
		}
		again()
	}
	s.lines("record", s.record(), "RUN_STARTED r1:1", "RUN_ENDED r1:1 lost", "RUN_STARTED r2:1", "RUN_ENDED r2:1 lost")
}

func testStopRacesFinish(s *engineTest) {
	var gate chan struct{}
	e := s.working(s.config(spooltest.NewModelFunc(func(context.Context, spool.ModelRequest) spooltest.Turn {
		return spooltest.Turn{Text: []string{"x"}, Gate: gate}
	})))
	for i := range 20 {
		gate = make(chan struct{})
		id := spool.RunID("r" + string(rune('a'+i)))
		s.start(e, id, "go")
		s.becomes(wire.Running)
		<-time.After(time.Second)
		var stopped wire.StopResult
		var group sync.WaitGroup
		group.Go(func() { close(gate) })
		group.Go(func() {
			var err error
			if stopped, err = e.Stop(context.Background(), chat); err != nil {
				s.Error(err)
			}
		})
		group.Wait()
		s.until("the end", func() bool { return s.thread().State.Terminal() })
		want := wire.Completed
		if stopped.Accepted {
			want = wire.Cancelled
			s.history.Stopped(chat)
		}
		if got := s.thread().State; got != want {
			s.Errorf("the run ended as %s, want %s", got, want)
		}
	}
}

// testStopRacesHandBack stops a run while its worker shuts down: the output so far is kept.
func testStopRacesHandBack(s *engineTest) {
	gate := make(chan struct{})
	m := spooltest.NewModel(spooltest.Turn{Text: []string{"half"}, Gate: gate})
	c := s.config(m)
	f := spooltest.NewFaulty(s.join())
	f.DropWakes(true)
	e := s.over(f.Backend(), c)
	s.start(s.engine(c), "r1", "go")
	client := s.watch(s.engine(c), &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{})
	stop := s.work(e)
	s.until("the question", func() bool { return m.Asked() == 1 })
	<-time.After(time.Second + 100*time.Millisecond) // between two polls
	s.stop(s.engine(c))
	stop()
	s.ended(wire.Cancelled)
	<-time.After(quiet)
	client()
	s.lines("messages", s.script(), "user go", "assistant half")
}
