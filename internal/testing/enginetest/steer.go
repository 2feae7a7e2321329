package enginetest

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// steerTest is the fixture of the cases about messages that are put into an active run.
type steerTest struct{ *engineTest }

var steerTests = map[string]func(s steerTest){
	"Delivered":  testSteerDelivered,
	"Several":    testSteerSeveral,
	"Queued":     testSteerQueued,
	"RunEnds":    testSteerRunEnds,
	"RunFails":   testSteerRunFails,
	"Stop":       testSteerStop,
	"StopRun":    testSteerStopRun,
	"Withdrawn":  testSteerWithdrawn,
	"Unblocked":  testSteerUnblocked,
	"Parked":     testSteerParked,
	"Nested":     testSteerNested,
	"DeadWorker": testSteerDeadWorker,
	"Key":        testSteerKey,
	"Edit":       testSteerEdit,
	"Edited":     testSteerEdited,
	"Rollback":   testSteerRollback,
	"Redriven":   testSteerRedriven,
	"Interrupt":  testSteerInterrupt,
	"Places":     testSteerPlaces,
	"Budget":     testSteerBudget,
	"BudgetRoom": testSteerBudgetRoom,
	"Settle":     testSteerSettle,
	"Live":       testSteerLive,
	"Snapshot":   testSteerSnapshot,
	"Prompt":     testSteerPrompt,
	"Compacted":  testSteerCompacted,
	"Paused":     testSteerPaused,
}

// steer starts a run that is a steer if the thread is busy. Its prompt is its id.
func (s steerTest) steer(e *engine.Engine, run spool.RunID) {
	s.Helper()
	s.startAs(e, chat, wire.StartRequest{Prompt: string(run), RunID: run, WhenBusy: spool.BusySteer})
}

// states returns the runs in the order of their starts, with their states.
func (s steerTest) states() string { return waitTest(s).states() }

// holdingModel returns a model that calls the tool "hold" for a turn that ends with an exclamation mark, and that
// repeats every other turn.
func holdingModel() *spooltest.Model {
	return spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		last := r.Messages[len(r.Messages)-1]
		if last.Role == spool.RoleUser && strings.HasSuffix(last.Text(), "!") {
			return spooltest.Use(spooltest.Call{ID: spool.ToolCallID("c-" + strings.TrimSuffix(last.Text(), "!")), Name: "hold"})
		}
		if last.Role == spool.RoleTool {
			return spooltest.Say("done")
		}
		return spooltest.Say("re: ", last.Text())
	})
}

// holding returns a tool that waits for its gate and says when it was called.
func holding(gate chan struct{}) (tool spool.Tool, called chan struct{}) {
	called = make(chan struct{}, 9)
	tool = plain("hold", "1")
	tool.Call = func(ctx context.Context, _ spool.ToolCall) (json.RawMessage, error) {
		called <- struct{}{}
		select {
		case <-gate:
			return json.RawMessage("1"), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return tool, called
}

// holds starts the run r1 and waits until its tool is called. The gate ends the tool.
func (s steerTest) holds(c func(tool spool.Tool) engine.Config) (e *engine.Engine, gate chan struct{}) {
	s.Helper()
	gate = make(chan struct{})
	tool, called := holding(gate)
	e = s.working(c(tool))
	s.start(e, "r1", "go!")
	receive(s, called, bubbleWait, "the call of the tool")
	return e, gate
}

func (s steerTest) plainly(tool spool.Tool) engine.Config { return s.config(holdingModel(), tool) }

// delivered returns where the message of a steer was put.
func (s steerTest) delivered(e *engine.Engine, run spool.RunID) spool.RunID {
	s.Helper()
	o, err := e.Await(context.Background(), chat, run)
	if err != nil || o.Delivered == nil {
		s.Fatalf("steer %s: %+v, %v", run, o, err)
	}
	return o.Delivered.RunID
}

// testSteerDelivered steers a run whose tool runs: the tool finishes, its result is saved, and then comes the
// message.
func testSteerDelivered(s steerTest) {
	e, gate := s.holds(s.plainly)
	r := s.startAs(e, chat, wire.StartRequest{
		Prompt: "no: left", RunID: "r2", ClientMessageID: "mine", WhenBusy: spool.BusySteer,
	})
	s.same("result", r, wire.RunResult{
		Accepted: true, ThreadID: "chat", RunID: "r2", State: wire.Queued, Position: 1, Steers: "r1",
	})
	s.same("the queue", waitTest(s).queue(e), "r2")
	close(gate)
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user go!", "assistant c-go=hold{}", "tool c-go:1", "user no: left",
		"assistant re: no: left")
	s.same("the runs", s.states(), "r1 COMPLETED, r2 COMPLETED")
	s.lines("record", s.record(), "RUN_STARTED r1:1", "STEERED", "RUN_ENDED r1:1 finished")
	turn := s.messagesOf(chat)[3]
	if turn.RunID != "r1" || turn.ClientMessageID != "mine" {
		s.Errorf("the message: %+v", turn)
	}
	var p wire.Steered
	if err := json.Unmarshal(s.entriesOf(chat)[1].Payload, &p); err != nil {
		s.Error(err)
	}
	s.same("the entry", p, wire.Steered{
		RunID: "r1", SteerRunID: "r2", MessageID: turn.ID, ClientMessageID: "mine", EnqueuedAt: s.run("r2").EnqueuedAt,
		Steps: 1,
	})
	if got := s.run("r2"); got.StopReason != wire.StopSteered || got.EndedAt.IsZero() || len(got.Wait.Content) > 0 {
		s.Errorf("the steer: %+v", got)
	}
	s.same("the run of the message", s.delivered(e, "r2"), spool.RunID("r1"))
	if d, err := e.RunDetail(context.Background(), chat.Tenant, "r2"); err != nil || d.Delivered == nil ||
		d.Delivered.MessageID != turn.ID {
		s.Errorf("the steer's detail: %+v, %v", d, err)
	}
}

// testSteerSeveral delivers three steers in their order. The fourth comes when the first three are delivered.
func testSteerSeveral(s steerTest) {
	e, gate := s.holds(s.plainly)
	s.steer(e, "r2")
	s.steer(e, "r3")
	s.startAs(e, chat, wire.StartRequest{Prompt: "r4!", RunID: "r4", WhenBusy: spool.BusySteer})
	gate <- struct{}{}
	s.until("the second call", func() bool { return len(s.history.Calls()) == 2 })
	s.steer(e, "r5")
	close(gate)
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user go!", "assistant c-go=hold{}", "tool c-go:1", "user r2", "user r3", "user r4!",
		"assistant c-r4=hold{}", "tool c-r4:1", "user r5", "assistant re: r5")
}

// testSteerQueued steers a run that no worker has begun: its first question has both messages.
func testSteerQueued(s steerTest) {
	m := echo()
	e := s.engine(s.config(m))
	s.start(e, "r1", "one")
	s.steer(e, "r2")
	s.work(e)
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user one", "user r2", "assistant re: r2")
	s.same("questions", m.Asked(), 1)
}

// testSteerRunEnds steers a run that gives its last answer: each steer that is left becomes a part of the next run.
func testSteerRunEnds(s steerTest) {
	gate := make(chan struct{})
	m := gated(gate)
	e := s.working(s.config(m))
	waitTest(s).talks(e, m)
	waitTest(s).busy(e, "r2", spool.BusyEnqueue)
	s.steer(e, "r3")
	s.steer(e, "r4")
	s.same("the queue", waitTest(s).queue(e), "r3 r4 r2")
	close(gate)
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user r1!", "assistant re: r1!", "user r3", "user r4", "assistant re: r4", "user r2",
		"assistant re: r2")
	s.same("the run of the second steer", s.delivered(e, "r4"), spool.RunID("r3"))
	if got := s.run("r3"); got.StopReason != wire.StopCompleted || got.Wait.Delivered != nil {
		s.Errorf("the first steer: %+v", got)
	}
}

func testSteerRunFails(s steerTest) {
	m := spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		if r.Messages[len(r.Messages)-1].Text() == "go" {
			t := spooltest.Turn{Err: &spool.ModelError{Status: 400, Message: "no"}}
			t.Before = func(context.Context) error {
				<-time.After(5 * time.Second)
				return nil
			}
			return t
		}
		return spooltest.Say("yes")
	})
	e := s.working(s.config(m))
	s.start(e, "r1", "go")
	s.until("the question", func() bool { return m.Asked() == 1 })
	s.steer(e, "r2")
	s.ended(wire.Completed)
	s.same("the runs", s.states(), "r1 FAILED, r2 COMPLETED")
	s.lines("messages", s.script(), "user go", "user r2", "assistant yes")
}

// testSteerStop stops the thread: that withdraws the steers, as it cancels all waiting runs.
func testSteerStop(s steerTest) {
	e, _ := s.holds(s.plainly)
	s.steer(e, "r2")
	s.stop(e)
	s.ended(wire.Cancelled)
	<-time.After(time.Minute)
	s.same("the runs", s.states(), "r1 CANCELLED, r2 CANCELLED")
	if got := s.script(); slices.Contains(got, "user r2") {
		s.Errorf("messages: %v", got)
	}
}

// testSteerStopRun stops only the run: the steer is the next turn.
func testSteerStopRun(s steerTest) {
	e, _ := s.holds(s.plainly)
	s.steer(e, "r2")
	if r, err := e.StopRun(context.Background(), chat, "r1"); err != nil || !r.Accepted {
		s.Errorf("stop: %+v, %v", r, err)
	}
	s.ended(wire.Completed)
	s.same("the runs", s.states(), "r1 CANCELLED, r2 COMPLETED")
	if got := s.script(); got[len(got)-2] != "user r2" || got[len(got)-1] != "assistant re: r2" {
		s.Errorf("messages: %v", got)
	}
}

// testSteerWithdrawn withdraws a steer that waits, and one that does not any more.
func testSteerWithdrawn(s steerTest) {
	e, gate := s.holds(s.plainly)
	s.steer(e, "r2")
	s.steer(e, "r3")
	if r, err := e.StopRun(context.Background(), chat, "r2"); err != nil || !r.Accepted {
		s.Errorf("withdraw: %+v, %v", r, err)
	}
	close(gate)
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user go!", "assistant c-go=hold{}", "tool c-go:1", "user r3", "assistant re: r3")
	s.same("the runs", s.states(), "r1 COMPLETED, r2 CANCELLED, r3 COMPLETED")
	if r, err := e.StopRun(context.Background(), chat, "r3"); err != nil || r.Accepted {
		s.Errorf("withdraw what was delivered: %+v, %v", r, err)
	}
}

// testSteerUnblocked withdraws a steer that may not direct the run, after a step before which it was in the way. The
// steer behind it is delivered.
func testSteerUnblocked(s steerTest) {
	gate := make(chan struct{})
	tool, called := holding(gate)
	m := spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		switch last := r.Messages[len(r.Messages)-1]; {
		case last.Role == spool.RoleTool && spooltest.StepOf(r) > 1:
			return spooltest.Say("done")
		case last.Role == spool.RoleUser && last.Text() != "go!":
			return spooltest.Say("re: ", last.Text())
		default:
			return spooltest.Use(spooltest.Call{ID: spool.ToolCallID("c" + string(rune('1'+spooltest.StepOf(r)))), Name: "hold"})
		}
	})
	e := s.working(s.config(m, tool))
	s.start(e, "r1", "go!")
	receive(s, called, bubbleWait, "the first call")
	s.startAs(e, chat, wire.StartRequest{Prompt: "r2", RunID: "r2", By: "bob", WhenBusy: spool.BusySteer})
	s.steer(e, "r3")
	gate <- struct{}{}
	receive(s, called, bubbleWait, "the second call")
	if r, err := e.StopRun(context.Background(), chat, "r2"); err != nil || !r.Accepted {
		s.Errorf("withdraw: %+v, %v", r, err)
	}
	close(gate)
	s.ended(wire.Completed)
	s.same("the run of the message", s.delivered(e, "r3"), spool.RunID("r1"))
}

// testSteerParked steers a parked run: the message comes after the answer and the result of the call.
func testSteerParked(s steerTest) {
	m := spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		if last := r.Messages[len(r.Messages)-1]; last.Role == spool.RoleUser && last.Text() == "go" {
			return spooltest.Use(spooltest.Call{ID: "c1", Name: "send"})
		}
		return spooltest.Say("yes")
	})
	e := s.working(s.config(m, approved("send", "1")))
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	s.steer(e, "r2")
	<-time.After(time.Minute)
	s.same("the runs", s.states(), "r1 WAITING_FOR_INPUT, r2 QUEUED")
	s.answer(e, "c1", true, "")
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user go", "assistant c1=send{}", "tool c1:1", "user r2", "assistant yes")
}

// testSteerNested steers a run that waits for a nested run: only the dispatched run gets the message.
func testSteerNested(s steerTest) {
	gate := make(chan struct{})
	tool, called := holding(gate)
	m := spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		switch last := r.Messages[len(r.Messages)-1]; last.Text() {
		case "go":
			return spooltest.Use(spawn("c1", "helper", "help"))
		case "help":
			return spooltest.Use(spooltest.Call{ID: "c2", Name: "hold"})
		case "r2":
			return spooltest.Say("yes")
		default:
			return spooltest.Say("helped")
		}
	})
	e := s.working(nestedTest(s).treeConfig(m, tool))
	s.start(e, "r1", "go")
	receive(s, called, bubbleWait, "the call of the tool")
	s.steer(e, "r2")
	close(gate)
	s.ended(wire.Completed)
	var main []string
	for _, msg := range s.messagesOf(chat) {
		if msg.AgentID == "" {
			main = append(main, string(msg.Role)+" "+msg.Text())
		}
	}
	s.lines("messages", main, "user go", "assistant ", "tool ", "user r2", "assistant yes")
}

// testSteerDeadWorker kills the worker of a steered run: the next one delivers the message after the call's result.
func testSteerDeadWorker(s steerTest) {
	gate := make(chan struct{})
	tool, called := holding(gate)
	tool.Idempotent = true
	c := s.config(holdingModel(), tool)
	p := s.process(c)
	s.start(p.Engine, "r1", "go!")
	receive(s, called, bubbleWait, "the call of the tool")
	s.steer(p.Engine, "r2")
	p.kill()
	close(gate)
	s.working(c)
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user go!", "assistant c-go=hold{}", "tool c-go:1", "user r2", "assistant re: r2")
}

// testSteerKey repeats a steer with its key, before and after the delivery.
func testSteerKey(s steerTest) {
	e, gate := s.holds(s.plainly)
	steer := wire.StartRequest{Prompt: "left", RunID: "r2", IdempotencyKey: "k", WhenBusy: spool.BusySteer}
	first := s.startAs(e, chat, steer)
	s.same("a repeated steer", s.startAs(e, chat, steer), first)
	close(gate)
	s.ended(wire.Completed)
	s.same("a steer that is repeated later", s.startAs(e, chat, steer), first)
	s.lines("messages", s.script(), "user go!", "assistant c-go=hold{}", "tool c-go:1", "user left", "assistant re: left")
}

// testSteerEdit edits a turn with a steer: no active run can take that, so it waits.
func testSteerEdit(s steerTest) {
	e, gate := s.holds(s.plainly)
	turn := s.messagesOf(chat)[0].ID
	r := s.startAs(e, chat, wire.StartRequest{Prompt: "new", RunID: "r2", EditMessageID: turn, WhenBusy: spool.BusySteer})
	if r.Steers != "" || s.run("r2").Wait.WhenBusy != spool.BusyEnqueue {
		s.Errorf("result: %+v, %+v", r, s.run("r2").Wait)
	}
	close(gate)
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user new", "assistant re: new")
}

// testSteerEdited edits the message of a steer, and then shows the branch again.
func testSteerEdited(s steerTest) {
	e, gate := s.holds(s.plainly)
	s.steer(e, "r2")
	close(gate)
	s.ended(wire.Completed)
	turn := s.messagesOf(chat)[3].ID
	s.startAs(e, chat, wire.StartRequest{Prompt: "right", RunID: "r3", EditMessageID: turn})
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user go!", "assistant c-go=hold{}", "tool c-go:1", "user right",
		"assistant re: right")
	branch := s.branchesOf(chat)[0]
	if r, err := e.RestoreBranch(context.Background(), chat, branch.ID); err != nil || !r.Accepted {
		s.Fatalf("restore: %+v, %v", r, err)
	}
	s.lines("messages", s.script(), "user go!", "assistant c-go=hold{}", "tool c-go:1", "user r2", "assistant re: r2")
}

// testSteerRollback rolls back a run that was steered: its own turn goes too.
func testSteerRollback(s steerTest) {
	gate := make(chan struct{})
	tool, called := holding(gate)
	e := s.working(s.config(holdingModel(), tool))
	s.start(e, "r1", "go!")
	receive(s, called, bubbleWait, "the call of the tool")
	s.startAs(e, chat, wire.StartRequest{Prompt: "r2!", RunID: "r2", WhenBusy: spool.BusySteer})
	gate <- struct{}{}
	receive(s, called, bubbleWait, "the second call")
	waitTest(s).busy(e, "r3", spool.BusyRollback)
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user r3", "assistant re: r3")
}

// testSteerInterrupt interrupts a run that has a steer: the steer comes after the interrupting turn.
func testSteerInterrupt(s steerTest) {
	gate := make(chan struct{})
	m := deaf(gate)
	e := s.working(s.config(m))
	s.start(e, "r1", "go!")
	s.until("the question", func() bool { return m.Asked() == 1 })
	s.steer(e, "r2")
	waitTest(s).busy(e, "r3", spool.BusyInterrupt)
	s.steer(e, "r4")
	s.same("the queue", waitTest(s).queue(e), "r3 r2 r4")
	close(gate)
	s.ended(wire.Completed)
	s.lines("messages", waitTest(s).scriptBut("assistant re: go!"), "user go!", "user r3", "user r2", "user r4",
		"assistant re: r4")
	s.same("the runs", s.states(), "r1 CANCELLED, r2 COMPLETED, r3 COMPLETED, r4 COMPLETED")
}

// testSteerPlaces mixes steers with all other waiting runs.
func testSteerPlaces(s steerTest) {
	gate := make(chan struct{})
	m := deaf(gate)
	e := s.working(s.config(m))
	s.start(e, "r", "one!")
	s.until("the question", func() bool { return m.Asked() == 1 })
	for _, start := range []struct {
		id spool.RunID
		w  spool.WhenBusy
	}{
		{"e1", spool.BusyEnqueue},
		{"s1", spool.BusySteer},
		{"l1", spool.BusyLatest},
		{"s2", spool.BusySteer},
		{"i1", spool.BusyInterrupt},
		{"e2", spool.BusyEnqueue},
	} {
		waitTest(s).busy(e, start.id, start.w)
	}
	s.same("the queue", waitTest(s).queue(e), "i1 s1 s2 l1 e2")
	close(gate)
	s.ended(wire.Completed)
}

// testSteerBudget steers a run whose budget is used up: the message gets a run of its own.
func testSteerBudget(s steerTest) { s.steerIntoBudget(spooltest.Tokens(60, 40)) }

// testSteerBudgetRoom steers a run whose budget is not used up, but has no room for another question: the message
// gets a run of its own.
func testSteerBudgetRoom(s steerTest) { s.steerIntoBudget(spooltest.Tokens(60, 10)) }

// steerIntoBudget steers a run with a budget of 100 tokens, each of whose answers uses some, and which ends without
// the message.
func (s steerTest) steerIntoBudget(use spool.Usage) {
	gate := make(chan struct{})
	tool, called := holding(gate)
	m := spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		t := spooltest.Say("yes")
		if last := r.Messages[len(r.Messages)-1]; last.Text() == "go" {
			t = spooltest.Use(spooltest.Call{ID: "c1", Name: "hold"})
		}
		t.Usage = use
		return t
	})
	e := s.working(s.config(m, tool))
	s.startAs(e, chat, wire.StartRequest{Prompt: "go", RunID: "r1", Budget: spool.Budget{Tokens: 100}})
	receive(s, called, bubbleWait, "the call of the tool")
	s.steer(e, "r2")
	close(gate)
	s.ended(wire.Completed)
	s.same("the reason", s.run("r1").StopReason, wire.StopTokenBudget)
	s.lines("messages", s.script(), "user go", "assistant c1=hold{}", "tool c1:1", "user r2", "assistant yes")
	s.same("the reason", s.run("r2").StopReason, wire.StopCompleted)
}

// testSteerSettle calls the settle hook once for a run whose message was delivered.
func testSteerSettle(s steerTest) {
	h := &settled{runs: make(map[spool.RunID]string)}
	e, gate := s.holds(func(tool spool.Tool) engine.Config {
		c := s.plainly(tool)
		c.OnSettle = h.hook
		return c
	})
	s.steer(e, "r2")
	close(gate)
	s.ended(wire.Completed)
	s.until("the hook for the steer", func() bool { return h.of("r2") != "" })
	<-time.After(time.Minute)
	s.same("the hook was told of the run", h.of("r1"), "COMPLETED")
	s.same("the hook was told of the steer", h.of("r2"), "COMPLETED")
}

// testSteerLive follows the thread: the message comes after the step before it, and before its entry.
func testSteerLive(s steerTest) {
	e, gate := s.holds(s.plainly)
	live := s.watch(e, &spooltest.Client{Name: "live"}, wire.FollowOptions{})
	<-time.After(time.Second)
	s.startAs(e, chat, wire.StartRequest{Prompt: "left", RunID: "r2", ClientMessageID: "mine", WhenBusy: spool.BusySteer})
	<-time.After(time.Second)
	close(gate)
	s.ended(wire.Completed)
	<-time.After(quiet)
	var got []string
	for _, f := range live() {
		switch {
		case f.Item != nil && (f.Item.Type == wire.ItemStepFinished || f.Item.Type == wire.ItemToolResult ||
			f.Item.Type == wire.ItemTextStart):
			got = append(got, string(f.Item.Type))
		case f.Event != nil && (f.Event.Type == wire.NoticeMessageAppended &&
			strings.Contains(string(f.Event.Payload), "mine") || f.Event.Type == wire.EntrySteered):
			got = append(got, string(f.Event.Type))
		}
	}
	s.lines("frames", got, "TOOL_CALL_RESULT", "STEP_FINISHED", "MESSAGE_APPENDED", "STEERED", "TEXT_MESSAGE_START",
		"STEP_FINISHED")
}

// testSteerSnapshot shows a steer in the queue, with its turn.
func testSteerSnapshot(s steerTest) {
	e, gate := s.holds(s.plainly)
	s.startAs(e, chat, wire.StartRequest{Prompt: "left", RunID: "r2", ClientMessageID: "mine", WhenBusy: spool.BusySteer})
	snap, err := e.Snapshot(context.Background(), chat, nil)
	if err != nil || len(snap.Queue) != 1 || snap.Queue[0].WhenBusy != spool.BusySteer ||
		snap.Queue[0].ClientMessageID != "mine" ||
		snap.Queue[0].Content.Preview() != "left" {
		s.Errorf("the queue: %+v, %v", snap.Queue, err)
	}
	d, err := e.RunDetail(context.Background(), chat.Tenant, "r1")
	if err != nil || len(d.Queue) != 1 || d.Queue[0].RunID != "r2" || d.Queue[0].WhenBusy != spool.BusySteer ||
		d.Queue[0].Content != nil {
		s.Errorf("the queue in the run's detail: %+v, %v", d.Queue, err)
	}
	close(gate)
	s.ended(wire.Completed)
	if d, err := e.RunDetail(context.Background(), chat.Tenant, "r1"); err != nil || len(d.Queue) != 0 {
		s.Errorf("the queue at the end: %+v, %v", d.Queue, err)
	}
}

// testSteerPrompt checks what the model is asked after a steer.
func testSteerPrompt(s steerTest) {
	var m *spooltest.Model
	e, gate := s.holds(func(tool spool.Tool) engine.Config {
		m = holdingModel()
		return s.config(m, tool)
	})
	s.steer(e, "r2")
	s.steer(e, "r3")
	close(gate)
	s.ended(wire.Completed)
	var got []string
	for _, msg := range m.Requests()[1].Messages {
		got = append(got, messageLine(msg))
	}
	s.lines("the prompt", got, "user go!", "assistant c-go=hold{}", "tool c-go:1", "user r2", "user r3")
}

// testSteerCompacted summarises a history whose end are two steers: the model still reads both, and the turn of the
// run.
func testSteerCompacted(s steerTest) {
	long := strings.Repeat("long ", 100)
	m := spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		last := r.Messages[len(r.Messages)-1]
		switch {
		case strings.HasPrefix(r.Instructions, "You write the memory"):
			return spooltest.Say("a summary")
		case last.Role == spool.RoleUser && strings.HasSuffix(last.Text(), "go!"):
			return spooltest.Use(spooltest.Call{ID: "c1", Name: "hold"})
		default:
			return spooltest.Say(long)
		}
	})
	e, gate := s.holds(func(tool spool.Tool) engine.Config {
		c := s.config(m, tool)
		c.Context.Windows = map[string]int{"m": 300}
		return c
	})
	s.steer(e, "r2")
	s.startAs(e, chat, wire.StartRequest{Prompt: "r3 " + long, RunID: "r3", WhenBusy: spool.BusySteer})
	close(gate)
	s.ended(wire.Completed)
	requests := m.Requests()
	last := requests[len(requests)-1].Messages
	var text strings.Builder
	for _, msg := range last {
		text.WriteString(messageLine(msg) + "\n")
	}
	for _, want := range []string{"go!", "user r2\n", "user r3 long"} {
		if !strings.Contains(text.String(), want) {
			s.Errorf("the last prompt lacks %q:\n%s", want, text.String())
		}
	}
}

// testSteerPaused steers a run whose provider pauses its answer: the message comes after the whole step.
func testSteerPaused(s steerTest) {
	m := spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		last := r.Messages[len(r.Messages)-1]
		switch {
		case last.Text() == "go":
			t := spooltest.Say("half")
			t.FinishReason = spool.FinishPause
			t.Before = func(context.Context) error {
				<-time.After(5 * time.Second)
				return nil
			}
			return t
		case last.Text() == "half":
			return spooltest.Turn{Text: []string{"whole"}, Calls: []spooltest.Call{{ID: "c1", Name: "look"}}}
		default:
			return spooltest.Say("yes")
		}
	})
	e := s.working(s.config(m, plain("look", "1")))
	s.start(e, "r1", "go")
	s.until("the question", func() bool { return m.Asked() == 1 })
	s.steer(e, "r2")
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user go", "assistant half", "assistant whole c1=look{}", "tool c1:1", "user r2",
		"assistant yes")
}
