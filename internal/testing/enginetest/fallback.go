package enginetest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// fallbackTest is the fixture of the cases about runs that go on with another model.
type fallbackTest struct{ *engineTest }

var fallbackTests = map[string]func(s fallbackTest){
	"Down":       testFallbackDown,
	"Midway":     testFallbackMidway,
	"MidCall":    testFallbackMidCall,
	"After":      testFallbackAfter,
	"AllDown":    testFallbackAllDown,
	"OwnChoice":  testFallbackOwnChoice,
	"Background": testFallbackBackground,
	"Stopped":    testFallbackStopped,
	"Killed":     testFallbackKilled,
	"Nested":     testFallbackNested,
	"Output":     testFallbackOutput,
	"Pinned":     testFallbackPinned,
	"Rejected":   testFallbackRejected,
}

// configOf returns a configuration whose agent has the model m and the fallbacks "spare", "last" and so on.
func (s fallbackTest) configOf(m spool.Model, fallbacks ...spool.Model) engine.Config {
	c := s.config(m, plain("look", `"seen"`))
	for i, model := range fallbacks {
		name := []string{"spare", "last"}[i]
		c.Models[name], c.Agents[0].Fallbacks = model, append(c.Agents[0].Fallbacks, name)
	}
	return c
}

// moves checks the moves of the thread's runs: "step from>to cause".
func (s fallbackTest) moves(want ...string) {
	s.Helper()
	var all []string
	for _, e := range s.entriesOf(chat) {
		var m wire.ModelFallback
		if e.Type == wire.EntryModelFallback && json.Unmarshal(e.Payload, &m) == nil {
			all = append(all, fmt.Sprintf("%d %s>%s %s", m.Step, m.From, m.To, m.Cause))
		}
	}
	s.lines("moves", all, want...)
}

// ledger checks the rows of the ledger, sorted: the model, the outcome and the output tokens.
func (s fallbackTest) ledger(want ...string) {
	s.Helper()
	var rows []string
	for _, r := range s.usage(wire.UsageQuery{}) {
		line := fmt.Sprintf("%s %s", r.Model, r.Outcome)
		if r.Usage.Output != nil {
			line += fmt.Sprintf(" %d", *r.Usage.Output)
		}
		rows = append(rows, line)
	}
	slices.Sort(rows)
	s.lines("ledger", rows, want...)
}

// fails returns a turn that ends with an error.
func fails(err error, text ...string) spooltest.Turn {
	return spooltest.Turn{Text: text, Usage: spooltest.Tokens(5, int64(len(text))), Err: err}
}

// testFallbackDown has a model that is down before it answers. The other one answers in the same segment, at once,
// and has the run's further steps. The next run begins with the first model.
func testFallbackDown(s fallbackTest) {
	m := spooltest.NewModel(fails(overloaded()), spooltest.Say("back"))
	spare := spooltest.NewModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "look"}), spooltest.Say("done"))
	e := s.engine(s.configOf(m, spare))
	begin := time.Now()
	s.start(e, "r1", "go")
	client := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{})
	s.work(e)
	s.ended(wire.Completed)
	if took := time.Since(begin); took > 4*time.Second {
		s.Errorf("it took %s", took)
	}
	s.lines("record", s.record(), "RUN_STARTED r1:1", "MODEL_FALLBACK", "RUN_ENDED r1:1 finished")
	s.moves("1 m>spare down")
	s.ledger("m error 0", "spare finished", "spare finished")
	s.lines("messages", s.script(), "user go", "assistant c1=look{}", "tool c1:\"seen\"", "assistant done")
	if r := s.run("r1"); r.Model != "m" || r.ModelInUse() != "spare" || len(r.Fallback.Failed) > 0 || r.Attempts != 0 {
		s.Errorf("the run is %+v with %+v", r, r.Fallback)
	}
	s.start(e, "r2", "again")
	s.ended(wire.Completed)
	<-time.After(quiet)
	client()
	if m.Asked() != 2 || spare.Asked() != 2 {
		s.Errorf("asked %d and %d times", m.Asked(), spare.Asked())
	}
}

// testFallbackMidway has a model that breaks off after a part that clients have seen. The segment ends, which they
// know, and the next one begins at once.
func testFallbackMidway(s fallbackTest) {
	m := spooltest.NewModel(fails(overloaded(), "half ", "an answer"))
	spare := spooltest.NewModel(fails(&spool.ModelError{Status: 400, Message: "no"}, "an"), spooltest.Say("no"))
	last := spooltest.NewModel(spooltest.Turn{Text: []string{"whole"}, Usage: spooltest.Tokens(3, 7)})
	e := s.engine(s.configOf(m, spare, last))
	s.start(e, "r1", "go")
	client := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{})
	begin := time.Now()
	s.work(e)
	s.ended(wire.Completed)
	if took := time.Since(begin); took > 4*time.Second {
		s.Errorf("it took %s", took)
	}
	<-time.After(quiet)
	client() // the history checks that the client shows what is saved
	s.lines("record", s.record(),
		"RUN_STARTED r1:1", "MODEL_FALLBACK", "RUN_ENDED r1:1 error",
		"RUN_STARTED r1:2", "MODEL_FALLBACK", "RUN_ENDED r1:2 error", "RUN_STARTED r1:3", "RUN_ENDED r1:3 finished")
	s.moves("1 m>spare down", "1 spare>last refused")
	s.ledger("last finished 7", "m error 2", "spare error 1")
	s.lines("messages", s.script(), "user go", "assistant whole")
	if r := s.run("r1"); r.Attempts != 0 || r.TotalTokens != 10+7+6 {
		s.Errorf("the run is %+v", r)
	}
}

// testFallbackMidCall has a model that breaks off in a call. The call does not run.
func testFallbackMidCall(s fallbackTest) {
	m := spooltest.NewModel(spooltest.Turn{Calls: []spooltest.Call{{ID: "c1", Name: "look"}}, Err: overloaded()})
	e := s.working(s.configOf(m, spooltest.NewModel(spooltest.Say("done"))))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user go", "assistant done")
	if n := s.executed(); n != 0 {
		s.Errorf("%d calls ran", n)
	}
	if n := s.run("r1").Segments; n != 2 {
		s.Errorf("%d segments", n)
	}
}

// testFallbackAfter gives each model two attempts, unless it refuses.
func testFallbackAfter(s fallbackTest) {
	m, spare, last := spooltest.NewModel(fails(overloaded()), fails(overloaded())),
		spooltest.NewModel(fails(&spool.ModelError{Status: 403, Message: "no"})),
		spooltest.NewModel(fails(overloaded()), spooltest.Say("done"))
	c := s.configOf(m, spare, last)
	c.Agents[0].FallbackAfter = 2
	e := s.working(c)
	begin := time.Now()
	s.start(e, "r1", "go")
	s.until("the last model", func() bool { return last.Asked() == 1 && s.thread().State == wire.Queued })
	if took := time.Since(begin); took < 5*time.Second || took > 8*time.Second { // m was retried
		s.Errorf("it took %s", took)
	}
	if r := s.run("r1"); r.Attempts != 1 || r.Fallback != nil {
		s.Errorf("after the last model: %+v, %+v", r, r.Fallback)
	}
	s.ended(wire.Completed) // the scripts of the other two are over, so they refuse
	s.moves("1 m>spare down", "1 spare>last refused", "1 m>spare refused", "1 spare>last refused")
}

// testFallbackAllDown has models that are all down. The run is retried later, from its own model on, and fails
// after as many attempts as a run with one model.
func testFallbackAllDown(s fallbackTest) {
	down := func(context.Context, spool.ModelRequest) spooltest.Turn {
		return fails(&spool.ModelError{Status: 503, Message: "down"})
	}
	m, spare := spooltest.NewModelFunc(down), spooltest.NewModelFunc(down)
	c := s.configOf(m, spare)
	c.Retry.Attempts = 3
	e := s.working(c)
	s.start(e, "r1", "go")
	s.ended(wire.Failed)
	if m.Asked() != 3 || spare.Asked() != 3 {
		s.Errorf("asked %d and %d times", m.Asked(), spare.Asked())
	}
	r := s.run("r1")
	if want := "all models failed: m: down (status 503); spare: down (status 503)"; r.Error != want || r.Attempts != 3 ||
		r.StopReason != wire.StopFailed {
		s.Errorf("the run is %+v", r)
	}
	s.moves("1 m>spare down", "1 m>spare down", "1 m>spare down")
}

// testFallbackOwnChoice has a start that asks for one of the fallbacks. The run goes on with those behind it.
func testFallbackOwnChoice(s fallbackTest) {
	m, spare, last := spooltest.NewModel(), spooltest.NewModel(fails(overloaded())),
		spooltest.NewModel(spooltest.Say("done"))
	e := s.working(s.configOf(m, spare, last))
	s.startAs(e, chat, wire.StartRequest{RunID: "r1", Prompt: "go", StartOptions: wire.StartOptions{Model: "spare"}})
	s.ended(wire.Completed)
	s.moves("1 spare>last down")
	if m.Asked() != 0 {
		s.Errorf("m was asked")
	}
}

// testFallbackBackground has an answer that can be asked for again. It is, once, and is charged when the run moves on.
func testFallbackBackground(s fallbackTest) {
	m := spooltest.NewModel(background("one", overloaded(), overloaded()))
	spare := spooltest.NewModel(spooltest.Say("done"))
	e := s.working(s.configOf(m, spare))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	if m.Asked() != 2 || m.Fresh() != 1 || spare.Asked() != 1 {
		s.Errorf("asked %d (%d new) and %d times", m.Asked(), m.Fresh(), spare.Asked())
	}
	s.ledger("m error 1", "spare finished")
	s.moves("1 m>spare down")
}

// testFallbackStopped stops a run that another model answers.
func testFallbackStopped(s fallbackTest) {
	gate := make(chan struct{})
	m := spooltest.NewModel(fails(overloaded()))
	e := s.working(s.configOf(m, spooltest.NewModel(spooltest.Turn{Text: []string{"slow"}, Gate: gate})))
	s.start(e, "r1", "go")
	s.until("the move", func() bool { return s.run("r1").Fallback != nil })
	s.stop(e)
	s.ended(wire.Cancelled)
}

// testFallbackKilled kills the process while the other model answers. The next process asks that model again.
func testFallbackKilled(s fallbackTest) {
	gate := make(chan struct{})
	m := spooltest.NewModel(fails(overloaded()))
	spare := spooltest.NewModel(spooltest.Turn{Text: []string{"slow"}, Gate: gate}, spooltest.Say("done"))
	c := s.configOf(m, spare)
	p := s.process(c)
	s.start(p.Engine, "r1", "go")
	s.until("the other model", func() bool { return spare.Asked() == 1 })
	p.kill()
	close(gate)
	s.work(s.engine(c))
	s.ended(wire.Completed)
	if m.Asked() != 1 || spare.Asked() != 2 {
		s.Errorf("asked %d and %d times", m.Asked(), spare.Asked())
	}
	s.moves("1 m>spare down")
}

// testFallbackNested has nested runs whose model fails before and in the middle of their answers.
func testFallbackNested(s fallbackTest) {
	failed := func(text ...string) []spooltest.Turn { return []spooltest.Turn{fails(overloaded(), text...)} }
	m := casting(map[string][]spooltest.Turn{
		"go":   {spooltest.Use(spawn("c1", "helper", "find"), spawn("c2", "helper", "half")), spooltest.Say("done")},
		"find": failed(), "half": failed("half"),
	})
	spare := casting(map[string][]spooltest.Turn{"find": {spooltest.Say("found")}, "half": {spooltest.Say("whole")}})
	c := nestedTest(s).treeConfig(m)
	c.Models["spare"], c.Agents[0].Fallbacks = spare, []string{"spare"}
	e := s.engine(c)
	s.start(e, "r1", "go")
	client := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{})
	begin := time.Now()
	s.work(e)
	s.ended(wire.Completed)
	if took := time.Since(begin); took > 4*time.Second {
		s.Errorf("it took %s", took)
	}
	<-time.After(quiet)
	client()
	if askedAs(spare, "find") != 1 || askedAs(spare, "half") != 1 || askedAs(spare, "go") != 0 {
		s.Errorf("the spare model was asked for %d", spare.Asked())
	}
	s.moves("1 m>spare down", "1 m>spare down")
	if r := s.run("r1"); r.Segments != 2 || r.Fallback != nil || r.Attempts != 0 {
		s.Errorf("the run is %+v", r)
	}
}

// testFallbackOutput has a run with a schema. The other model gets it too.
func testFallbackOutput(s fallbackTest) {
	m := spooltest.NewModel(fails(overloaded()))
	spare := spooltest.NewModel(spooltest.Say(`{"degrees":"warm"}`), spooltest.Say(`{"degrees":21}`))
	c := s.configOf(m, spare)
	c.Agents[0].Output = &spool.OutputSchema{
		Name:   "weather",
		Schema: json.RawMessage(`{"type":"object","properties":{"degrees":{"type":"integer"}},"required":["degrees"]}`),
	}
	e := s.working(c)
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	if r := s.run("r1"); string(r.OutputValue()) != `{"degrees":21}` || m.Asked() != 1 || spare.Asked() != 2 {
		s.Errorf("the run is %+v with %s", r, r.OutputValue())
	}
}

// testFallbackPinned has a pinned run that waits for an answer while its agent loses its fallbacks.
func testFallbackPinned(s fallbackTest) {
	m := spooltest.NewModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "send"}), fails(overloaded()))
	spare := spooltest.NewModel(spooltest.Say("done"))
	c := s.configOf(m, spare)
	c.Agents[0].Tools = []spool.Tool{s.history.Tool(approved("send", `"sent"`))}
	c.Agents[0].Revisions = spool.RevisionsPin
	stop := s.work(s.engine(c))
	e := s.engine(c)
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	stop()
	c.Agents = []spool.Agent{c.Agents[0]}
	c.Agents[0].Fallbacks = nil
	e = s.working(c)
	s.answer(e, "c1", true, "")
	s.ended(wire.Completed)
	s.moves("2 m>spare down")
}

// testFallbackRejected has configurations that no engine takes.
func testFallbackRejected(s fallbackTest) {
	for want, change := range map[string]func(a *spool.Agent){
		`Fallbacks has the model "x", which Config.Models lacks`: func(a *spool.Agent) { a.Fallbacks = []string{"x"} },
		`Fallbacks has the model "m" twice, or its Model again`:  func(a *spool.Agent) { a.Fallbacks = []string{"m"} },
		`Fallbacks has the model "spare" twice`: func(a *spool.Agent) {
			a.Fallbacks = []string{"spare", "spare"}
		},
		`FallbackOn has no cause of the name "rain"`: func(a *spool.Agent) { a.FallbackOn = []spool.FallbackCause{"rain"} },
		`FallbackAfter is negative`:                  func(a *spool.Agent) { a.FallbackAfter = -1 },
	} {
		c := s.configOf(spooltest.NewModel(), spooltest.NewModel())
		change(&c.Agents[0])
		if _, err := engine.New(s.join(), c); spool.CodeOf(err) != spool.Invalid || !strings.Contains(err.Error(), want) {
			s.Errorf("got %v, want %s", err, want)
		}
	}
}

// fallbackScript is a run whose model fails in each step: before the answer, and in the middle of the next one. A
// process with faults begins it. Each step has one answer, which is the spare model's, and no answer is charged twice.
func fallbackScript(t *engineTest, own bool, faults ...spooltest.Fault) int {
	s := fallbackTest{t}
	m := spooltest.NewReplayModel(fails(overloaded(), "lost "))
	spare := spooltest.NewReplayModel(
		spooltest.Turn{
			Text:  []string{"one"},
			Usage: spooltest.Tokens(5, 7),
			Calls: []spooltest.Call{{ID: "c1", Name: "look"}},
		},
		fails(&spool.ModelError{Status: 401, Message: "no"}),
	)
	last := spooltest.NewReplayModel(spooltest.Turn{},
		spooltest.Turn{Text: []string{"two"}, Usage: spooltest.Tokens(11, 13)})
	c := newCampaign(s.engineTest, s.configOf(m, spare, last), 1, own)
	first, stop := c.survive(faults, []string{"a"}, func(n *node) {
		c.answerAll(n.Engine, func(p store.Park) wire.Response { return wire.Response{Approved: true, Digest: p.Digest} })
	})
	s.lines("messages", s.script(), "user go", "assistant one c1=look{}", `tool c1:"seen"`, "assistant two")
	s.moves("1 m>spare down", "2 spare>last refused")
	if r := s.run("r1"); r.State != wire.Completed || r.ModelInUse() != "last" || r.Fallback.Attempts != 0 {
		s.Errorf("the run is %+v, %+v", r, r.Fallback)
	}
	c.finish(stop)
	return first.faulty.Calls()
}
