package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// questioning lets the work ask once, after its first look, and go on with the answer.
func questioning(work *remoteWork, resume json.RawMessage) {
	var asked atomic.Bool
	work.look = func(_ context.Context, c spool.ToolCall) (json.RawMessage, error) {
		switch {
		case c.Answer != nil && c.Resume != nil && !c.Looking && !c.Answer.Approved:
			return json.RawMessage(`"made without"`), nil
		case c.Looking && !asked.Load():
			return nil, spool.ParkFor("colour", nil, time.Hour) // only a segment asks
		case asked.CompareAndSwap(false, true):
			p := spool.ParkFor("colour", map[string]string{"ask": "which?"}, time.Hour)
			p.Resume = resume
			return nil, p
		}
		return nil, nil
	}
}

func testPendingQuestion(s pendingTest) {
	work := s.remote(5*time.Second, time.Second)
	questioning(work, json.RawMessage(`{"task":"c1"}`))
	call := work.tool("make")
	inner := call.Call
	call.Call = func(ctx context.Context, c spool.ToolCall) (json.RawMessage, error) {
		if c.Resume != nil && c.Answer != nil && !c.Looking { // the answer goes to the work, which goes on
			return nil, spool.Pending(time.Second, c.Resume)
		}
		return inner(ctx, c)
	}
	e := s.working(s.config(making("make"), call))
	s.start(e, "r1", "go")
	s.until("the question", func() bool {
		parks := s.parksOf(chat, "r1")
		return len(parks) == 1 && parks[0].State == wire.ParkOpen
	})
	if p := s.parksOf(chat, "r1")[0]; p.Occurrence > 1 || p.Reason != "colour" {
		s.Errorf("the question is %+v", p)
	}
	s.answer(e, "c1", true, `"red"`)
	s.made()
	work.did(1, 1)
	s.lines("record", s.record(), "RUN_STARTED r1:1", "CALL_PENDING c1", "RUN_ENDED r1:1 parked",
		"RUN_STARTED r1:2", "INPUT_REQUIRED c1 colour", "RUN_ENDED r1:2 parked", "HITL_RESPONSE c1 approved",
		"RUN_STARTED r1:3", "CALL_PENDING c1", "RUN_ENDED r1:3 parked", "RUN_STARTED r1:4", "RUN_ENDED r1:4 finished")
}

// testPendingQuestionKilled kills the process while the tool has the answer to a question of its work. The tool gets
// the same answer again, and nobody is asked.
func testPendingQuestionKilled(s pendingTest) { s.killedInAnswer(true) }

// testPendingQuestionUnsure does the same with a tool that must not get an answer twice: a person is asked.
func testPendingQuestionUnsure(s pendingTest) { s.killedInAnswer(false) }

func (s pendingTest) killedInAnswer(repeats bool) {
	s.Helper()
	work := s.remote(3*time.Second, time.Second)
	questioning(work, json.RawMessage(`{"task":"c1"}`))
	ask, called, gate := work.look, make(chan struct{}, 9), make(chan struct{})
	var answers []string
	work.look = func(ctx context.Context, c spool.ToolCall) (json.RawMessage, error) {
		if c.Answer == nil {
			return ask(ctx, c)
		}
		work.mu.Lock()
		answers = append(answers, string(c.Answer.Payload)+string(c.Pending)+string(c.Resume))
		first := len(answers) == 1
		work.mu.Unlock()
		if called <- struct{}{}; first {
			<-gate
		}
		return nil, spool.Pending(time.Second, c.Pending)
	}
	tool := work.tool("make")
	tool.PendingIdempotent = repeats
	c := s.config(making("make"), tool)
	p := s.process(c)
	s.start(p.Engine, "r1", "go")
	s.until("the question", func() bool {
		parks := s.parksOf(chat, "r1")
		return len(parks) == 1 && parks[0].State == wire.ParkOpen
	})
	s.answer(p.Engine, "c1", true, `"red"`)
	receive(s, called, bubbleWait, "the answer")
	p.kill()
	close(gate)
	e := s.working(c)
	if !repeats {
		s.becomes(wire.WaitingForInput)
		if got := s.parksOf(chat, "r1")[0]; got.Reason != wire.ParkOutcomeUnknown || got.State != wire.ParkOpen {
			s.Errorf("the park is %+v", got)
		}
		s.answer(e, "c1", true, "")
	}
	s.made()
	work.did(1, 1)
	same := `"red"{"task":"c1"}{"task":"c1"}`
	s.lines("answers", answers, same, same)
	asks := strings.Count(strings.Join(s.record(), " "), "INPUT_REQUIRED")
	if want := map[bool]int{true: 1, false: 2}[repeats]; asks != want {
		s.Errorf("asked %d times, want %d", asks, want)
	}
}

// testPendingQuestionTwice has a tool that answers an answer by another question. It goes on with the same work.
func testPendingQuestionTwice(s pendingTest) {
	work := s.remote(time.Second, time.Second)
	work.look = func(_ context.Context, c spool.ToolCall) (json.RawMessage, error) {
		resume := map[string]string{"": "1", "1": "2"}[string(c.Resume)]
		if resume == "" {
			return nil, nil
		}
		p := spool.ParkFor("colour", nil, time.Hour)
		p.Resume = json.RawMessage(resume)
		return nil, p
	}
	e := s.working(s.config(making("make"), work.tool("make")))
	s.start(e, "r1", "go")
	for n := range 2 {
		s.until("the question", func() bool {
			parks := s.parksOf(chat, "r1")
			return len(parks) == 1 && parks[0].State == wire.ParkOpen && max(parks[0].Occurrence, 1) == n+1
		})
		p := s.parksOf(chat, "r1")[0]
		if r, err := e.Respond(
			s.Context(), chat, wire.Response{ToolCallID: "c1", Approved: true, Digest: p.Digest},
		); err != nil || !r.Delivered {
			s.Fatalf("%+v, %v", r, err)
		}
	}
	s.made()
	work.did(1, 1)
}

// testPendingQuestionEnds stops a run whose pending call has asked: its work is cancelled too.
func testPendingQuestionEnds(s pendingTest) {
	work := s.remote(time.Hour, time.Second)
	questioning(work, json.RawMessage(`{"task":"c1"}`))
	e := s.working(s.config(making("make"), work.tool("make")))
	s.start(e, "r1", "go")
	s.until("the question", func() bool {
		parks := s.parksOf(chat, "r1")
		return len(parks) == 1 && parks[0].State == wire.ParkOpen
	})
	s.stop(e)
	s.ended(wire.Cancelled)
	work.did(1, 0, `c1{"task":"c1"}`)
}

// testPendingDenied denies the question of a work that does not want to know: it is cancelled.
func testPendingDenied(s pendingTest) {
	work := s.remote(time.Hour, time.Second)
	questioning(work, nil)
	e := s.working(s.config(making("make"), work.tool("make")))
	s.start(e, "r1", "go")
	s.until("the question", func() bool {
		parks := s.parksOf(chat, "r1")
		return len(parks) == 1 && parks[0].State == wire.ParkOpen
	})
	s.answer(e, "c1", false, "")
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user go", "assistant c1=make{}", `tool c1:{"denied":true}`, "assistant done")
	work.did(1, 0, `c1{"task":"c1"}`)
}

// testPendingUnknown loses the work. A person lets the call begin again.
func testPendingUnknown(s pendingTest) {
	work := s.remote(2*time.Second, time.Second)
	work.look = func(context.Context, spool.ToolCall) (json.RawMessage, error) {
		if work.starts == 1 {
			return nil, &spool.OutcomeUnknownError{Err: errors.New("no such task")}
		}
		return nil, nil
	}
	e := s.working(s.config(making("make"), work.tool("make")))
	s.start(e, "r1", "go")
	s.until("the question", func() bool {
		parks := s.parksOf(chat, "r1")
		return len(parks) == 1 && parks[0].State == wire.ParkOpen
	})
	if p := s.parksOf(chat, "r1")[0]; p.Reason != wire.ParkOutcomeUnknown {
		s.Errorf("the park is %+v", p)
	}
	s.answer(e, "c1", true, "")
	s.made()
	work.did(2, 1)
}

// testPendingApprovalFirst answers another call's question while the work goes on: that call is made at once.
func testPendingApprovalFirst(s pendingTest) {
	work := s.remote(15*time.Second, time.Second)
	e := s.working(s.config(making("make", "send"), work.tool("make"), approved("send", `"sent"`)))
	s.waits(e)
	s.answer(e, "c2", true, "")
	s.until("the approved call", func() bool { return s.executed() == 2 })
	if got := s.now().Sub(work.begun["c1"]); got > 5*time.Second {
		s.Errorf("the approved call has waited for %s", got)
	}
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user go", "assistant c1=make{} c2=send{}", `tool c2:"sent"`, `tool c1:"made"`,
		"assistant done")
	work.did(1, 1)
}

// testPendingApprovalLast lets the work end before another call's question is answered.
func testPendingApprovalLast(s pendingTest) {
	work := s.remote(3*time.Second, time.Second)
	e := s.working(s.config(making("make", "send"), work.tool("make"), approved("send", `"sent"`)))
	s.waits(e)
	s.until("the end of the work", func() bool { return s.parksOf(chat, "r1")[0].Pending.Ready })
	<-time.After(quiet)
	if s.thread().State != wire.WaitingForInput || s.run("r1").Segments != 1 {
		s.Errorf("the run does not wait for the answer: %+v", s.run("r1"))
	}
	s.answer(e, "c2", true, "")
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user go", "assistant c1=make{} c2=send{}", `tool c1:"made" c2:"sent"`,
		"assistant done")
	work.did(1, 1)
}

// stopped checks the end of a run that was stopped while its call was pending.
func (s pendingTest) stopped(work *remoteWork) {
	s.Helper()
	s.ended(wire.Cancelled)
	if got := s.script()[2]; !strings.Contains(got, `c1:{"cancelled":true,"outcome":"unknown","reason":"stopped"}`) {
		s.Errorf("the result is %s", got)
	}
	work.did(1, 0, `c1{"task":"c1"}`)
	if p := s.parksOf(chat, "r1")[0]; p.State != wire.ParkClosed || !p.Landed {
		s.Errorf("the park is %+v", p)
	}
}

func testPendingStop(s pendingTest) {
	work := s.remote(time.Hour, 5*time.Second)
	e := s.working(s.config(making("make"), work.tool("make")))
	s.waits(e)
	s.stop(e)
	s.stopped(work)
	<-time.After(quiet)
	s.lines("record", s.record(), "RUN_STARTED r1:1", "CALL_PENDING c1", "RUN_ENDED r1:1 parked")
	if jobs := s.jobs(); jobs.Ready+jobs.Delayed+jobs.InFlight+jobs.Dead != 0 {
		s.Errorf("jobs are left: %+v", jobs)
	}
}

// testPendingStopInStep stops the run while another call of the step runs.
func testPendingStopInStep(s pendingTest) {
	work := s.remote(time.Hour, 5*time.Second)
	hold, called := holding(make(chan struct{}))
	e := s.working(s.config(making("make", "hold"), work.tool("make"), hold))
	s.start(e, "r1", "go")
	receive(s, called, bubbleWait, "the call of the tool")
	s.until("the state", func() bool { return len(s.parksOf(chat, "r1")) == 1 })
	s.stop(e)
	s.stopped(work)
}

// testPendingStopInLook stops the run while a look is under way: the stop does not wait for it.
func testPendingStopInLook(s pendingTest) {
	work := s.remote(0, time.Second)
	called, gate := make(chan struct{}, 9), make(chan struct{})
	work.look = func(context.Context, spool.ToolCall) (json.RawMessage, error) {
		called <- struct{}{}
		<-gate
		return nil, nil
	}
	e := s.working(s.config(making("make"), work.tool("make")))
	s.start(e, "r1", "go")
	receive(s, called, bubbleWait, "the look")
	s.stop(e)
	s.stopped(work)
	close(gate)
	<-time.After(quiet)
	s.lines("record", s.record(), "RUN_STARTED r1:1", "CALL_PENDING c1", "RUN_ENDED r1:1 parked")
}

func testPendingStopSettled(s pendingTest) {
	work := s.remote(time.Hour, 5*time.Second)
	c, h := settleTest(s).settling(making("make"), work.tool("make"))
	e := s.working(c)
	s.waits(e)
	s.stop(e)
	s.stopped(work)
	if len(h.calls) != 1 || h.calls[0].State != wire.Cancelled {
		s.Errorf("settled: %+v", h.calls)
	}
}

// testPendingOverdue gives the work up when its time is over.
func testPendingOverdue(s pendingTest) {
	work := s.remote(time.Hour, time.Minute)
	t := work.tool("make")
	t.PendingTimeout = 150 * time.Second
	e := s.working(s.config(making("make"), t))
	begin := time.Now()
	s.waits(e)
	s.ended(wire.Completed)
	if took := time.Since(begin); took < 150*time.Second || took > 3*time.Minute {
		s.Errorf("it took %s", took)
	}
	s.lines("messages", s.script(), "user go", "assistant c1=make{}",
		`tool c1:{"error":"the work of the call was not done within 2m30s, and was given up"}`, "assistant done")
	work.did(1, 0, `c1{"task":"c1"}`)
}

func testPendingRollback(s pendingTest) {
	work := s.remote(time.Hour, 5*time.Second)
	m := spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		if r.Messages[len(r.Messages)-1].Text() == "go" {
			return spooltest.Use(spooltest.Call{ID: "c1", Name: "make"})
		}
		return spooltest.Say("done")
	})
	e := s.working(s.config(m, work.tool("make")))
	s.waits(e)
	s.startAs(e, chat, wire.StartRequest{Prompt: "other", RunID: "r2", WhenBusy: spool.BusyRollback})
	s.until("the next run", func() bool { return s.run("r2").State == wire.Completed })
	s.lines("messages", s.script(), "user other", "assistant done")
	work.did(1, 0, `c1{"task":"c1"}`)
}

// testPendingSteer steers a run that waits: the message is delivered at its next step.
func testPendingSteer(s pendingTest) {
	work := s.remote(8*time.Second, time.Second)
	m := spooltest.NewModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "make"}), spooltest.Say("done"))
	e := s.working(s.config(m, work.tool("make")))
	s.waits(e)
	steerTest(s).steer(e, "r2")
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user go", "assistant c1=make{}", `tool c1:"made"`, "user r2", "assistant done")
	work.did(1, 1)
}

// testPendingNested has a pending call in a nested run.
func testPendingNested(s pendingTest) {
	work := s.remote(5*time.Second, time.Second)
	m := casting(map[string][]spooltest.Turn{
		"go":   {spooltest.Use(spawn("c1", "helper", "mail")), spooltest.Say("done")},
		"mail": {spooltest.Use(spooltest.Call{ID: "c1", Name: "make"}), spooltest.Say("sent")},
	})
	t := work.tool("make")
	t.Call = func(ctx context.Context, c spool.ToolCall) (json.RawMessage, error) {
		if c.RunID == "r1" || c.Agent != "helper" {
			work.wrong = append(work.wrong, "the call is of run "+string(c.RunID))
		}
		return work.call(ctx, c)
	}
	e := s.working(nestedTest(s).treeConfig(m, t))
	s.waits(e)
	if p := s.parksOf(chat, "r1")[0]; p.AgentID == "" || p.State != wire.ParkPending {
		s.Errorf("the park is %+v", p)
	}
	s.ended(wire.Completed)
	work.did(1, 1)
	lines := nestedTest(s).tree()
	s.lines("messages", lines, "user go", "mail: user mail", "mail: assistant c1=make{}",
		`assistant c1=spawnSubagent{"instructions":"mail","name":"helper"}`, `mail: tool c1:"made"`, "mail: assistant sent",
		`tool c1:{"agentId":"ID","result":"sent"}`, "assistant done")
}

// testPendingSnapshot shows a pending call to clients as long as it is pending.
func testPendingSnapshot(s pendingTest) {
	work := s.remote(6*time.Second, time.Second)
	work.note = func(time.Duration) string { return "half" }
	e := s.working(s.config(making("make"), work.tool("make")))
	s.waits(e)
	pending := func() (notes []string) {
		snap, err := e.Snapshot(context.Background(), chat, nil)
		if err != nil {
			s.Fatal(err)
		}
		for _, entry := range snap.ActiveEvents {
			if entry.Type == wire.EntryCallPending {
				var p wire.CallPending
				_ = json.Unmarshal(entry.Payload, &p)
				notes = append(notes, string(p.ToolCallID)+" "+p.ToolName+" "+p.Note)
			}
		}
		return notes
	}
	s.until("the note", func() bool { notes := pending(); return len(notes) == 1 && notes[0] == "c1 make half" })
	s.made()
	s.lines("pending", pending())
}

// testPendingAwait waits for the outcome: a pending call is no reason to come back.
func testPendingAwait(s pendingTest) {
	work := s.remote(6*time.Second, time.Second)
	e := s.working(s.config(making("make"), work.tool("make")))
	s.start(e, "r1", "go")
	o, err := e.Await(context.Background(), chat, "r1")
	if err != nil || o.State != wire.Completed || o.Text != "done" {
		s.Errorf("the outcome is %+v, %v", o, err)
	}
}

// testPendingSource has a pending call of a source's tool, which the run keeps when the source changes.
func testPendingSource(s pendingTest) {
	work := s.remote(5*time.Second, time.Second)
	source := &source{s: sourceTest(s), name: "shop", names: []string{"make"}, ready: func(t *spool.Tool) {
		if t.Name == "make" {
			*t = spool.Tool{ToolSpec: t.ToolSpec, Call: work.call}
		}
	}}
	s.waits(s.working(sourceTest(s).sourced(making("make"), source)))
	source.set(nil, "other")
	s.made()
	work.did(1, 1)
	if source.lists() != 1 {
		s.Errorf("the source was asked %d times", source.lists())
	}
}
