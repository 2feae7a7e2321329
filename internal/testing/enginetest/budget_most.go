package enginetest

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

var mostTests = map[string]func(s budgetTest){
	"Answer":   testMostAnswer,
	"Ends":     testMostEnds,
	"Time":     testMostTime,
	"Lowered":  testMostLowered,
	"Distinct": testMostDistinct,
	"NoStop":   testMostNoStop,
	"Latest":   testMostLatest,
	"DeleteOf": testMostDeleteIdle,
}

// testMostAnswer has a person who raises the budget of a run up to the largest allowed budget, and
// tries to go beyond it. When it is used up, the run ends without a question.
func testMostAnswer(s budgetTest) {
	c := s.asksForMore(spool.Budget{Tokens: 230}, frugal(40, looking))
	c.Agents[0].MaxSteps = 100
	c.Budget.Max = spool.Budget{Tokens: 1000, ToolCalls: 50}
	e := s.working(c)
	s.start(e, "r1", "go")
	park := s.budgetPark()
	before := s.all(chat, "r1")
	for payload, want := range map[string]string{
		`{"tokenBudget":1001}`:                      "payload.tokenBudget may be 1000 at the most",
		`{"tokenBudget":1000,"toolCallBudget":51}`:  "payload.toolCallBudget may be 50 at the most",
		`{"tokenBudget":9000000,"wallTimeMs":1000}`: "payload.tokenBudget may be 1000 at the most",
	} {
		if _, err := s.respond(e, park.ToolCallID, true, payload); spool.CodeOf(err) != spool.Invalid ||
			spool.MessageOf(err) != want {
			s.Errorf("the answer %s: %v, want %s", payload, err, want)
		}
	}
	s.history.Answers = nil // the answers were refused
	s.same("after answers that ask for too much", s.all(chat, "r1"), before)
	s.answer(e, park.ToolCallID, true, `{"tokenBudget":1000}`)
	var told wire.TokenBudgetExhausted
	s.endsBy(wire.StopTokenBudget, wire.EntryTokenBudgetExhausted, &told)
	if r := s.run("r1"); told.TokenBudget != 1000 || r.Allowance.Parks != 1 || r.TotalTokens > 1000 {
		s.Errorf("the record says %+v of %+v", told, r)
	}
	s.wellFormed()
}

// testMostEnds has runs that begin with the largest allowed budget, for each kind.
func testMostEnds(s budgetTest) {
	for id, most := range map[spool.RunID]spool.Budget{
		"r1": {Tokens: 230}, "r2": {CostMicros: 600, Currency: "USD"}, "r3": {ToolCalls: 1},
	} {
		c := s.asksForMore(spool.Budget{}, frugal(40, looking))
		c.Budget.Max = most
		e := s.engine(c)
		stop := s.work(e)
		s.start(e, id, "go")
		s.ended(wire.Completed)
		stop()
		if r := s.run(id); r.Allowance.Parks != 0 || !strings.HasSuffix(string(r.StopReason), "_budget") {
			s.Errorf("with %+v: %+v, %+v", most, r, r.Allowance)
		}
	}
	s.wellFormed()
}

func testMostTime(s budgetTest) {
	c := s.asksForMore(spool.Budget{}, spooltest.NewModel(spooltest.Turn{
		Text: []string{"so far"}, Gate: make(chan struct{}),
	}))
	c.Budget.Max.WallTime = 10 * time.Second
	s.start(s.working(c), "r1", "go")
	var told wire.TimeBudgetExhausted
	s.endsBy(wire.StopTimeBudget, wire.EntryTimeBudgetExhausted, &told)
	s.lines("messages", s.script(), "user go", "assistant so far")
}

// testMostLowered lowers the largest allowed budget while a run waits. The run's question stays, but no
// answer can raise the budget. A denial ends the run.
func testMostLowered(s budgetTest) {
	c := s.asksForMore(spool.Budget{Tokens: 230}, frugal(40, looking))
	first := s.engine(c)
	stop := s.work(first)
	s.start(first, "r1", "go")
	park := s.budgetPark()
	stop()
	c.Budget.Max.Tokens = 100
	e := s.working(c)
	if _, err := s.respond(e, park.ToolCallID, true, `{"tokenBudget":231}`); spool.CodeOf(err) != spool.Invalid {
		s.Errorf("more than the most: %v", err)
	}
	s.history.Answers = nil
	s.answer(e, park.ToolCallID, false, "")
	var told wire.TokenBudgetExhausted
	s.endsBy(wire.StopTokenBudget, wire.EntryTokenBudgetExhausted, &told)
}

// testMostDistinct has a subject that asks for more for its own run, while another subject has to
// approve.
func testMostDistinct(s budgetTest) {
	c := s.asksForMore(spool.Budget{Tokens: 230}, frugal(40, func(r spool.ModelRequest, step int) spooltest.Turn {
		if step < 3 {
			return looking(r, step)
		}
		return spooltest.Say("done")
	}))
	c.Agents[0].DistinctApprover = true
	e := s.working(c)
	s.startAs(e, chat, wire.StartRequest{Prompt: "go", RunID: "r1", By: "ann"})
	park := s.budgetPark()
	snapshot, err := e.Snapshot(context.Background(), chat, nil)
	if err != nil {
		s.Fatal(err)
	}
	var asked wire.InputRequired
	for _, entry := range snapshot.ActiveEvents {
		if entry.Type == wire.EntryInputRequired {
			err = json.Unmarshal(entry.Payload, &asked)
		}
	}
	if err != nil || !asked.DistinctApprover {
		s.Errorf("the question is %+v, %v", asked, err)
	}
	more := wire.Response{
		ToolCallID: park.ToolCallID, Approved: true, Payload: json.RawMessage(`{"tokenBudget":9000}`), By: "ann",
	}
	approveTest(s).refused(e, more, wire.ReasonSameApprover)
	more.By = "bob"
	approveTest(s).delivered(e, more)
	s.ended(wire.Completed)
	if r := s.run("r1"); r.StopReason != wire.StopCompleted {
		s.Errorf("the run: %+v", r)
	}
}

// testMostNoStop has a subject that may not stop runs. It starts a run on an agent whose starts
// interrupt. The start is refused while the thread is busy, and accepted when it is not.
func testMostNoStop(s budgetTest) {
	for _, policy := range []spool.WhenBusy{spool.BusyInterrupt, spool.BusyRollback} {
		c := s.config(echo())
		c.Agents[0].WhenBusy = policy
		e := s.engine(c)
		stop := s.work(e)
		weak := wire.StartRequest{Prompt: "go", MayNotStop: true}
		s.startAs(e, chat, weak)
		s.ended(wire.Completed)
		stop()
		s.startAs(e, chat, wire.StartRequest{Prompt: "go"})
		for _, asked := range []spool.WhenBusy{"", policy} {
			weak.WhenBusy = asked
			if r, err := e.Run(context.Background(), chat, weak); err != nil || r.Accepted || r.Reason != wire.ReasonActiveRun {
				s.Errorf("%s, asked for %q: %+v, %v", policy, asked, r, err)
			}
		}
		weak.WhenBusy = spool.BusyEnqueue
		s.startAs(e, chat, weak)
		s.stop(e)
	}
}

// testMostLatest has a subject that may not stop runs and that replaces waiting runs: only its own
// waiting runs are replaced.
func testMostLatest(s budgetTest) {
	c := s.config(echo())
	c.Agents[0].WhenBusy = spool.BusyLatest
	e := s.engine(c)
	s.start(e, "r1", "go")
	start := func(run spool.RunID, by string, weak bool) {
		s.startAs(e, chat, wire.StartRequest{Prompt: "go", RunID: run, By: by, MayNotStop: weak})
	}
	waiting := func(want string) {
		s.Helper()
		s.view(func(v store.View) error {
			line, err := v.Runs(wire.RunQuery{Waiting: true, Whole: true})
			s.same("the line", compare.Spaced(line, func(r store.RunRow) spool.RunID { return r.ID }), want)
			return err
		})
	}
	start("ann1", "ann", true)
	start("ben1", "ben", true)
	waiting("ann1 ben1")
	start("ann2", "ann", true)
	waiting("ben1 ann2")
	if r := s.run("ann1"); r.State != wire.Cancelled {
		s.Errorf("what was replaced is %s", r.State)
	}
	start("ann3", "ann", false)
	waiting("ann3")
	s.work(e)
	s.until("the end", func() bool { return s.run("ann3").State == wire.Completed })
}

// testMostDeleteIdle has a subject that deletes threads but may not stop runs.
func testMostDeleteIdle(s budgetTest) {
	e := approveTest(s).parked(sending(), checked())
	if r, err := e.DeleteIdleThread(context.Background(), chat); err != nil || r.Accepted ||
		r.Reason != wire.ReasonActiveRun {
		s.Errorf("a parked thread: %+v, %v", r, err)
	}
	if state := s.thread().State; state != wire.WaitingForInput {
		s.Errorf("the thread is %s", state)
	}
	s.stop(e)
	if r, err := e.DeleteIdleThread(context.Background(), chat); err != nil || !r.Accepted {
		s.Errorf("an idle thread: %+v, %v", r, err)
	}
	s.history.Starts = nil
}
