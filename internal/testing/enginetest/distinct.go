package enginetest

import (
	"context"
	"encoding/json"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

var distinctTests = map[string]func(s approveTest){
	"Tool":          testDistinctTool,
	"Cold":          testDistinctCold,
	"Agent":         testDistinctAgent,
	"Question":      testDistinctQuestion,
	"Unknown":       testDistinctUnknown,
	"AfterApproval": testDistinctAfterApproval,
	"Edit":          testDistinctEdit,
	"Queued":        testDistinctQueued,
	"Repeated":      testDistinctRepeated,
	"Nested":        testDistinctNested,
}

// by returns an approval of c1 by a subject.
func by(subject string) wire.Response {
	return wire.Response{ToolCallID: "c1", Approved: true, By: subject}
}

// distinct returns a tool whose calls need the approval of another subject.
func distinct() spool.Tool {
	t := approved("send", `{"sent":true}`)
	t.DistinctApprover = true
	return t
}

// parkedByAnn starts a run of "ann" whose first call waits, in a process that then has
// no worker.
func (s approveTest) parkedByAnn(c engine.Config) *engine.Engine {
	s.Helper()
	e := s.engine(c)
	stop := s.work(e)
	s.startAs(e, chat, wire.StartRequest{Prompt: "go", RunID: "r1", By: "ann"})
	s.becomes(wire.WaitingForInput)
	stop()
	return e
}

// anonymous gives an answer without a subject, which must be refused.
func (s approveTest) anonymous(e *engine.Engine, r wire.Response) {
	s.Helper()
	if result, err := e.Respond(context.Background(), chat, r); err != nil || result.Delivered ||
		result.Reason != wire.ReasonSameApprover {
		s.Errorf("the answer of nobody: %+v, %v", result, err)
	}
}

// asked returns the last question in the record.
func (s approveTest) asked() (asked wire.InputRequired) {
	s.Helper()
	for _, e := range s.entriesOf(chat) {
		if e.Type == wire.EntryInputRequired {
			asked = wire.InputRequired{}
			_ = json.Unmarshal(e.Payload, &asked)
		}
	}
	return asked
}

func testDistinctTool(s approveTest) {
	e := s.parkedByAnn(s.config(sending(), distinct()))
	if run := s.run("r1"); run.StartedBy != "ann" {
		s.Errorf("the run was started by %q", run.StartedBy)
	}
	if !s.asked().DistinctApprover || !s.park().DistinctApprover {
		s.Error("nobody says that somebody else is to answer")
	}
	denied := by("ann")
	denied.Approved = false
	for range 2 {
		s.refused(e, by("ann"), wire.ReasonSameApprover)
		s.refused(e, denied, wire.ReasonSameApprover)
		s.anonymous(e, by(""))
	}
	if p := s.park(); p.State != wire.ParkOpen || p.Answer != nil || len(s.answers()) != 0 {
		s.Errorf("a refused answer has changed something: %+v", p)
	}
	s.delivered(e, by("bob"))
	s.refused(e, by("ann"), wire.ReasonAnswered)
	s.work(e)
	s.ended(wire.Completed)
	if s.executed() != 1 {
		s.Errorf("the tool was called %d times", s.executed())
	}
}

// testDistinctCold answers in a process that does not know the rule.
func testDistinctCold(s approveTest) {
	s.parkedByAnn(s.config(sending(), distinct()))
	e := s.engine(s.config(sending(), checked()))
	edited := edit(`{"to":"eve"}`)
	edited.By = "ann"
	s.refused(e, edited, wire.ReasonSameApprover)
	s.refused(e, by("ann"), wire.ReasonSameApprover)
	s.delivered(e, by("bob"))
}

// testDistinctAgent has an agent that requires another subject for all approvals, but not for a tool's
// own questions.
func testDistinctAgent(s approveTest) {
	c := s.config(spooltest.NewModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "send"}),
		spooltest.Use(spooltest.Call{ID: "c2", Name: "job"}), spooltest.Say("done")),
		approved("send", `{"sent":true}`), outside(func(a *spool.Answer) (json.RawMessage, error) { return a.Payload, nil }))
	c.Agents[0].DistinctApprover = true
	e := s.parkedByAnn(c)
	s.refused(e, by("ann"), wire.ReasonSameApprover)
	s.delivered(e, by("bob"))
	s.work(e)
	s.until("the question", func() bool { return len(s.parksOf(chat, "r1")) == 2 })
	if s.asked().DistinctApprover {
		s.Error("the question of a tool is not for who started the run")
	}
	s.delivered(e, wire.Response{ToolCallID: "c2", Approved: true, Payload: json.RawMessage(`1`), By: "ann"})
	s.ended(wire.Completed)
}

// testDistinctQuestion has a tool whose own questions must be answered by another subject.
func testDistinctQuestion(s approveTest) {
	tool := outside(func(a *spool.Answer) (json.RawMessage, error) { return a.Payload, nil })
	tool.DistinctApprover = true
	e := s.parkedByAnn(
		s.config(spooltest.NewModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "job"}), spooltest.Say("done")), tool),
	)
	s.refused(e, by("ann"), wire.ReasonSameApprover)
	s.delivered(e, by("bob"))
}

// testDistinctUnknown lets a worker die in a call. The call may run again only if another subject says
// so.
func testDistinctUnknown(s approveTest) {
	d := newDying(1)
	c := s.config(sending(), d.Tool)
	c.Agents[0].DistinctApprover = true
	p := s.process(c)
	s.startAs(p.Engine, chat, wire.StartRequest{Prompt: "go", RunID: "r1", By: "ann"})
	receive(s, d.called, bubbleWait, "the call of the tool")
	p.kill()
	close(d.gate)
	e := s.working(c)
	s.becomes(wire.WaitingForInput)
	s.refused(e, by("ann"), wire.ReasonSameApprover)
	s.delivered(e, by("bob"))
	s.ended(wire.Completed)
}

// testDistinctAfterApproval lets a worker die in a call that another subject has approved. The next
// worker does not know the rule, but the question about the outcome keeps it.
func testDistinctAfterApproval(s approveTest) {
	d := newDying(1)
	d.Approval = spool.AlwaysApprove
	plain := s.config(sending(), d.Tool)
	strict := s.config(sending(), d.Tool)
	strict.Agents[0].DistinctApprover = true
	p := s.process(strict)
	s.startAs(p.Engine, chat, wire.StartRequest{Prompt: "go", RunID: "r1", By: "ann"})
	s.becomes(wire.WaitingForInput)
	s.delivered(p.Engine, by("bob"))
	receive(s, d.called, bubbleWait, "the call of the tool")
	p.kill()
	close(d.gate)
	e := s.working(plain)
	s.becomes(wire.WaitingForInput)
	s.refused(e, by("ann"), wire.ReasonSameApprover)
	r := by("bob")
	r.Digest = s.shown("c1").Digest
	s.delivered(e, r)
	s.ended(wire.Completed)
}

// testDistinctEdit edits another subject's turn: the new run belongs to the subject that edits.
func testDistinctEdit(s approveTest) {
	c := s.config(
		spooltest.NewModel(spooltest.Say("hello"), spooltest.Use(spooltest.Call{ID: "c1", Name: "send"}),
			spooltest.Say("done")),
		distinct(),
	)
	e := s.working(c)
	s.startAs(e, chat, wire.StartRequest{Prompt: "hi", RunID: "r0", By: "ann"})
	s.ended(wire.Completed)
	turn := s.messagesOf(chat)[0]
	s.startAs(e, chat, wire.StartRequest{Prompt: "go", RunID: "r1", EditMessageID: turn.ID, By: "bob"})
	s.becomes(wire.WaitingForInput)
	s.refused(e, by("bob"), wire.ReasonSameApprover)
	s.delivered(e, by("ann"))
	s.ended(wire.Completed)
}

// testDistinctQueued has a run that waits for its thread: it still belongs to the subject that started
// it.
func testDistinctQueued(s approveTest) {
	c := s.config(
		spooltest.NewModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "send"}), spooltest.Say("one"),
			spooltest.Use(spooltest.Call{ID: "c1", Name: "send"}), spooltest.Say("two")),
		distinct(),
	)
	e := s.engine(c)
	s.startAs(e, chat, wire.StartRequest{Prompt: "first", RunID: "r0", By: "ann"})
	s.startAs(e, chat, wire.StartRequest{Prompt: "second", RunID: "r1", By: "bob", WhenBusy: spool.BusyEnqueue})
	s.work(e)
	s.becomes(wire.WaitingForInput)
	s.delivered(e, by("bob"))
	s.until("the second question", func() bool {
		return len(s.parksOf(chat, "r1")) == 1 && s.thread().State == wire.WaitingForInput
	})
	r := wire.Response{ToolCallID: s.parksOf(chat, "r1")[0].ToolCallID, Approved: true, By: "bob"}
	s.refused(e, r, wire.ReasonSameApprover)
	r.By = "ann"
	s.delivered(e, r)
	s.ended(wire.Completed)
}

// testDistinctRepeated repeats a start under its idempotency key: the run belongs to the subject of the
// first start.
func testDistinctRepeated(s approveTest) {
	e := s.engine(s.config(sending(), distinct()))
	start := wire.StartRequest{Prompt: "go", RunID: "r1", IdempotencyKey: "key", By: "ann"}
	s.startAs(e, chat, start)
	start.RunID, start.By = "r2", "bob"
	if r, err := e.Run(context.Background(), chat, start); err != nil || r.RunID != "r1" {
		s.Errorf("the start again: %+v, %v", r, err)
	}
	s.work(e)
	s.becomes(wire.WaitingForInput)
	s.refused(e, by("ann"), wire.ReasonSameApprover)
	s.delivered(e, by("bob"))
	s.ended(wire.Completed)
}

// testDistinctNested has a call that waits in a nested run: the main agent's requirement applies there
// too.
func testDistinctNested(s approveTest) {
	c := nestedTest(s).treeConfig(mailing(), plain("look", `"seen"`), approved("send", `"sent"`))
	c.Agents[0].DistinctApprover = true
	e := s.parkedByAnn(c)
	if run := nestedTest(s).nested()["mail"]; run.StartedBy != "ann" {
		s.Errorf("the nested run was started by %q", run.StartedBy)
	}
	r := by("ann")
	r.ToolCallID = nestedTest(s).waiting()["mail:send"].ToolCallID
	s.refused(e, r, wire.ReasonSameApprover)
	r.By = "bob"
	s.delivered(e, r)
	s.work(e)
	s.ended(wire.Completed)
}
