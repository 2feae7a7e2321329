package enginetest

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// finalTest is the fixture of the cases about the answer behind the last step.
type finalTest struct{ *engineTest }

var finalTests = map[string]func(s finalTest){
	"Answers": testFinalAnswers,
	"Off":     testFinalOff,
	"Calls":   testFinalCalls,
	"Pauses":  testFinalPauses,
	"Retried": testFinalRetried,
	"Refused": testFinalRefused,
	"Stopped": testFinalStopped,
	"Budget":  testFinalBudget,
	"NoRoom":  testFinalNoRoom,
	"Time":    testFinalTime,
	"Steer":   testFinalSteer,
	"Output":  testFinalOutput,
}

// twoSteps returns a model that calls a tool in each step, and then answers with turns. The bound of the agent is two
// steps.
func (s finalTest) twoSteps(turns ...spooltest.Turn) (*spooltest.Model, engine.Config) {
	asked := 0
	m := spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		if !r.NoCalls {
			t := looking(r, spooltest.StepOf(r))
			t.Usage = spooltest.Tokens(promptTokens, 100)
			return t
		}
		asked++
		return turns[min(asked, len(turns))-1]
	})
	c := s.config(m, plain("look", "1"))
	c.Agents[0].MaxSteps = 2
	return m, c
}

// looked are the messages of the two steps.
var looked = []string{"user go", "assistant c0=look{}", "tool c0:1", "assistant c1=look{}", "tool c1:1"}

// ends waits for the end of the run, which is that of its steps.
func (s finalTest) ends(messages ...string) {
	s.Helper()
	s.ended(wire.Completed)
	emptyTest(s).tellsEnd(wire.StopMaxSteps)
	if run := s.run("r1"); run.Steps != 2 {
		s.Errorf("the run has had %d steps", run.Steps)
	}
	s.lines("messages", s.script(), append(slices.Clone(looked), messages...)...)
}

func testFinalAnswers(s finalTest) {
	m, c := s.twoSteps(spooltest.Turn{Text: []string{"enough"}, Usage: spooltest.Tokens(promptTokens, 7)})
	e := s.engine(c)
	s.start(e, "r1", "go")
	stop := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{})
	s.work(e)
	s.ends("assistant enough")
	<-time.After(quiet)
	stop()
	if o, err := e.Outcome(context.Background(), chat, "r1"); err != nil || o.Text != "enough" || o.Steps != 2 {
		s.Errorf("the outcome is %+v, %v", o, err)
	}
	asked := m.Requests()
	last := asked[len(asked)-1]
	if prompt := last.Messages[len(last.Messages)-1]; len(asked) != 3 || len(last.Tools) != 1 ||
		prompt.Role != spool.RoleUser || asked[1].NoCalls {
		s.Errorf("asked %d times, and last with %d tools and %+v", len(asked), len(last.Tools), prompt)
	}
	rows := s.usage(wire.UsageQuery{})
	run := s.run("r1")
	if len(rows) != 3 || !slices.ContainsFunc(rows, func(r wire.UsageRow) bool { return r.Step == 3 }) ||
		run.OutputTokens != 100+100+7 {
		s.Errorf("the ledger has %+v, and the run %+v", rows, run.TokenCount)
	}
}

func testFinalOff(s finalTest) {
	m, c := s.twoSteps()
	c.Agents[0].NoFinalAnswer = true
	s.start(s.working(c), "r1", "go")
	s.ends()
	if m.Asked() != 2 {
		s.Errorf("asked %d times", m.Asked())
	}
}

// testFinalCalls has a model that calls a tool although it may not. The call does not run.
func testFinalCalls(s finalTest) {
	m, c := s.twoSteps(spooltest.Use(spooltest.Call{ID: "c9", Name: "look"}))
	s.start(s.working(c), "r1", "go")
	s.ends("assistant c9=look{}", `tool c9:{"cancelled":true,"reason":"the answer ended before its calls could run"}`)
	if m.Asked() != 3 || s.executed() != 2 {
		s.Errorf("asked %d times, with %d calls", m.Asked(), s.executed())
	}
}

// testFinalPauses has a provider that pauses for ever. The run does not go on with it.
func testFinalPauses(s finalTest) {
	m, c := s.twoSteps(spooltest.Turn{Text: []string{"so far"}, FinishReason: spool.FinishPause})
	s.start(s.working(c), "r1", "go")
	s.ends("assistant so far")
	if m.Asked() != 3 {
		s.Errorf("asked %d times", m.Asked())
	}
}

// testFinalRetried has an answer that fails at first, and is asked for again in another segment.
func testFinalRetried(s finalTest) {
	m, c := s.twoSteps(spooltest.Turn{Text: []string{"en"}, Err: &spool.ModelError{Status: 503, Message: "down"}},
		spooltest.Say("enough"))
	s.start(s.working(c), "r1", "go")
	s.ends("assistant enough")
	if run := s.run("r1"); m.Asked() != 4 || run.Segments != 2 {
		s.Errorf("asked %d times in %d segments", m.Asked(), run.Segments)
	}
}

// testFinalRefused has an answer that fails for good. What the steps have done is not lost with it.
func testFinalRefused(s finalTest) {
	m, c := s.twoSteps(spooltest.Turn{Err: &spool.ModelError{Status: 400, Message: "no"}})
	s.start(s.working(c), "r1", "go")
	s.ends()
	if run := s.run("r1"); m.Asked() != 3 || run.Error != "" {
		s.Errorf("asked %d times, and the run has the error %q", m.Asked(), run.Error)
	}
}

func testFinalStopped(s finalTest) {
	m, c := s.twoSteps(spooltest.Turn{Text: []string{"half"}, Gate: make(chan struct{})})
	e := s.working(c)
	s.start(e, "r1", "go")
	s.until("the last question", func() bool { return m.Asked() == 3 })
	<-time.After(time.Second)
	s.stop(e)
	s.ended(wire.Cancelled)
	s.lines("messages", s.script(), append(slices.Clone(looked), "assistant half")...)
	if run := s.run("r1"); run.Steps != 2 || run.StopReason != wire.StopCancelled {
		s.Errorf("the run is %+v", run.Run)
	}
}

// testFinalBudget has a run whose last step uses its budget up. It ends by the budget, without an answer.
func testFinalBudget(s finalTest) {
	m, c := s.twoSteps()
	c.Budget.Default = spool.Budget{Tokens: 2 * (promptTokens + 100)}
	s.start(s.working(c), "r1", "go")
	var told wire.TokenBudgetExhausted
	budgetTest(s).endsBy(wire.StopTokenBudget, wire.EntryTokenBudgetExhausted, &told)
	if m.Asked() != 2 {
		s.Errorf("asked %d times", m.Asked())
	}
}

// testFinalNoRoom has a budget with no room for the answer. The run ends by its steps, as without the answer.
func testFinalNoRoom(s finalTest) {
	m, c := s.twoSteps()
	c.Budget.Default = spool.Budget{Tokens: 2*(promptTokens+100) + 1}
	s.start(s.working(c), "r1", "go")
	s.ends()
	if m.Asked() != 2 {
		s.Errorf("asked %d times", m.Asked())
	}
}

func testFinalTime(s finalTest) {
	_, c := s.twoSteps(spooltest.Turn{Text: []string{"half"}, Gate: make(chan struct{})})
	c.Limits.WallTime = time.Minute
	s.start(s.working(c), "r1", "go")
	budgetTest(s).limited(time.Minute)
	s.lines("messages", s.script(), append(slices.Clone(looked), "assistant half")...)
	if run := s.run("r1"); run.Steps != 2 {
		s.Errorf("the run has had %d steps", run.Steps)
	}
}

// testFinalSteer has a message that comes too late for a step. A run of its own answers it.
func testFinalSteer(s finalTest) {
	m, c := s.twoSteps(spooltest.Say("enough"))
	var e *engine.Engine
	look := &c.Agents[0].Tools[0]
	call := look.Call
	look.Call = func(ctx context.Context, at spool.ToolCall) (json.RawMessage, error) {
		if at.RunID == "r1" && at.Step == 2 {
			s.startAs(e, chat, wire.StartRequest{Prompt: "and?", RunID: "r2", WhenBusy: spool.BusySteer})
		}
		return call(ctx, at)
	}
	e = s.working(c)
	s.start(e, "r1", "go")
	s.until("the end of the second run",
		func() bool { return len(s.runsOf(chat)) == 2 && s.run("r2").State == wire.Completed })
	if first, second := s.run("r1"), s.run("r2"); first.StopReason != wire.StopMaxSteps ||
		second.StopReason != wire.StopMaxSteps || m.Asked() != 6 {
		s.Errorf("asked %d times, and the runs are %+v and %+v", m.Asked(), first.Run, second.Run)
	}
}

// testFinalOutput has runs that answer with a JSON value. The answer behind the last step is checked like any other.
func testFinalOutput(s finalTest) {
	m, c := s.twoSteps(spooltest.Say(goodReport), spooltest.Say(wrongReport))
	c.Agents[0].Output = report()
	e := s.working(c)
	s.start(e, "r1", "go")
	s.ends("assistant " + goodReport)
	outputTest(s).hasValue(e, goodReport)
	s.start(e, "r2", "go")
	s.ended(wire.Failed)
	if run := s.run("r2"); run.StopReason != wire.StopOutput || m.Asked() != 6 || m.Requests()[5].Output == nil {
		s.Errorf("asked %d times, and the run is %+v", m.Asked(), run.Run)
	}
}

// finalScript does a run that uses all its steps, and answers behind them. The worker can die at each point of it.
func finalScript(t *engineTest, own bool, faults ...spooltest.Fault) int {
	s := finalTest{t}
	m := spooltest.NewModelFunc(byAnswers(
		spooltest.Use(spooltest.Call{ID: "c0", Name: "look"}), spooltest.Use(spooltest.Call{ID: "c1", Name: "look"}),
		spooltest.Say("enough"),
	))
	look := plain("look", "1")
	look.Idempotent = true
	config := s.config(m, look)
	config.Agents[0].MaxSteps = 2
	c := newCampaign(s.engineTest, config, 1, own)
	first, stop := c.survive(faults, []string{"a"}, func(n *node) {
		c.answerAll(n.Engine, func(store.Park) wire.Response { return wire.Response{Approved: true} })
	})
	calls := first.faulty.Calls()
	run := s.run("r1")
	if run.State != wire.Completed || run.StopReason != wire.StopMaxSteps || run.Steps != 2 {
		s.Errorf("the run: %+v", run)
	}
	if got := s.script(); len(got) != len(looked)+1 || got[len(looked)] != "assistant enough" {
		s.Errorf("the messages are %q", got)
	}
	for _, r := range m.Requests() {
		if r.NoCalls != (answersOf(r) == 2) {
			s.Errorf("a request with %d answers forbids calls: %t", answersOf(r), r.NoCalls)
		}
	}
	c.finish(stop)
	return calls
}
