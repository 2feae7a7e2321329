package enginetest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// backgroundTest is the fixture of the cases about answers that can be asked for again.
type backgroundTest struct{ *engineTest }

var backgroundTests = map[string]func(s backgroundTest){
	"Cut":         testBackgroundCut,
	"HandBack":    testBackgroundHandBack,
	"Killed":      testBackgroundKilled,
	"Gone":        testBackgroundGone,
	"GoneMidway":  testBackgroundGoneMidway,
	"Other":       testBackgroundOther,
	"Stopped":     testBackgroundStopped,
	"StoppedLate": testBackgroundStoppedLate,
	"Settled":     testBackgroundSettled,
	"Fails":       testBackgroundFails,
	"Attempts":    testBackgroundAttempts,
	"Nested":      testBackgroundNested,
	"Empty":       testBackgroundEmpty,
	"Damaged":     testBackgroundDamaged,
	"Steered":     testBackgroundSteered,
	"Compacted":   testBackgroundCompacted,
	"NoSummary":   testBackgroundNoSummary,
	"Squeezed":    testBackgroundSqueezed,
}

// breaking returns a function that returns the errors, one at each call, and then nil.
func breaking(errs ...error) func(context.Context) error {
	var calls atomic.Int64
	return func(context.Context) error {
		if n := int(calls.Add(1)); n <= len(errs) {
			return errs[n-1]
		}
		return nil
	}
}

// background returns a turn that can be asked for again and is interrupted.
func background(text string, errs ...error) spooltest.Turn {
	return spooltest.Turn{
		Background: true, Reasoning: []string{"hm"}, Text: []string{text, " and more"}, Early: spooltest.Tokens(5, 1),
		Midway: breaking(errs...), Usage: spooltest.Tokens(5, 7),
	}
}

// attempts checks the rows of the ledger, in order: the outcome of each, its step, and its counts, of which estimates
// have a "~". No answer is under way.
func (s backgroundTest) attempts(want ...string) {
	s.Helper()
	var rows []string
	for _, r := range s.usage(wire.UsageQuery{}) {
		line := fmt.Sprintf("%s %d", r.Outcome, r.Step)
		if r.Usage.Input != nil {
			line += fmt.Sprintf(" %d+%d", *r.Usage.Input, *r.Usage.Output)
		}
		if r.Guess.Input != nil {
			line += " ~"
		}
		rows = append(rows, line)
	}
	slices.Sort(rows)
	s.lines("attempts", rows, want...)
	for _, r := range s.runsOf(chat) {
		if r.State.Terminal() && r.Resume != nil {
			s.Errorf("run %s has ended, and waits for %+v", r.ID, r.Resume)
		}
	}
}

// asked checks which requests asked for an earlier answer: "new" or "again".
func (s backgroundTest) asked(m *spooltest.Model, want ...string) {
	s.Helper()
	var all []string
	for _, r := range m.Requests() {
		kind := "new"
		if r.Resume != nil {
			kind = "again"
		}
		all = append(all, kind)
	}
	s.lines("requests", all, want...)
}

// testBackgroundCut has a connection that breaks twice. The same answer is streamed from its beginning each time, and
// charged once.
func testBackgroundCut(s backgroundTest) {
	m := spooltest.NewModel(background("one", overloaded(), overloaded()), spooltest.Turn{}, spooltest.Turn{},
		spooltest.Say("two"))
	e := s.engine(s.config(m))
	s.start(e, "r1", "go")
	client := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{})
	s.work(e)
	s.ended(wire.Completed)
	<-time.After(quiet)
	client()
	s.asked(m, "new", "again", "again")
	s.attempts("finished 1 5+7")
	s.lines("messages", s.script(), "user go", "assistant (hm) one and more")
	if r := s.run("r1"); r.TotalTokens != 12 || r.Segments != 3 {
		s.Errorf("the run is %+v", r)
	}
	s.start(e, "r2", "and?")
	s.ended(wire.Completed)
	s.asked(m, "new", "again", "again", "new")
}

// blocking returns a turn that can be asked for again and waits in its middle until the gate is closed.
func blocking(gate <-chan struct{}) spooltest.Turn {
	t := background("one")
	t.Gate = gate
	return t
}

// testBackgroundHandBack shuts a worker down in the middle of an answer. The run has a budget, whose reservation is
// freed.
func testBackgroundHandBack(s backgroundTest) {
	gate := make(chan struct{})
	m := spooltest.NewModel(blocking(gate))
	c := s.config(m)
	c.Agents[0].MaxOutputTokens = 50
	e := s.engine(c)
	stop := s.work(e)
	s.startAs(e, chat, wire.StartRequest{RunID: "r1", Prompt: "go", Budget: spool.Budget{Tokens: 100}})
	s.until("the resume point", func() bool { return s.run("r1").Resume != nil })
	stop()
	r := s.run("r1")
	if r.State != wire.Queued || r.Resume == nil || len(r.Allowance.Reservations) != 0 || r.Allowance.Spent.Tokens != 0 {
		s.Errorf("after the shutdown: %+v, %+v", r.Resume, r.Allowance)
	}
	s.attempts()
	close(gate)
	s.work(e)
	s.ended(wire.Completed)
	s.asked(m, "new", "again")
	s.attempts("finished 1 5+7")
}

// testBackgroundKilled kills a worker in the middle of an answer. Nothing is lost.
func testBackgroundKilled(s backgroundTest) {
	for _, budget := range []spool.Budget{{}, {Tokens: 1000}} {
		gate := make(chan struct{})
		m := spooltest.NewModel(blocking(gate))
		c := s.config(m)
		c.Agents[0].MaxOutputTokens = 50
		p := s.process(c)
		run := spool.RunID(fmt.Sprintf("r%d", budget.Tokens))
		s.startAs(p.Engine, chat, wire.StartRequest{RunID: run, Prompt: "go", Budget: budget})
		s.until("the resume point", func() bool { return s.run(run).Resume != nil })
		p.kill()
		close(gate)
		stop := s.work(s.engine(c))
		s.ended(wire.Completed)
		stop()
		s.asked(m, "new", "again")
		if r := s.run(run); r.TotalTokens != 12 || r.Resume != nil {
			s.Errorf("the run is %+v", r)
		}
	}
	s.attempts("finished 1 5+7", "finished 1 5+7")
}

// testBackgroundGone has a provider that has lost the answer. The lost one is an attempt of its own, and the model is
// asked again at once.
func testBackgroundGone(s backgroundTest) {
	m := spooltest.NewModel(background("one", overloaded()), spooltest.Turn{}, background("two"))
	e := s.working(s.config(m))
	s.start(e, "r1", "go")
	s.until("the first failure", func() bool { return s.run("r1").Attempts == 1 })
	m.Forget()
	s.ended(wire.Completed)
	s.asked(m, "new", "again", "new")
	s.attempts("error 1 ~", "finished 1 5+7")
	if r := s.run("r1"); r.Segments != 2 || r.TotalTokens != 12 {
		s.Errorf("the run is %+v", r)
	}
	s.lines("messages", s.script(), "user go", "assistant (hm) two and more")
}

// testBackgroundGoneMidway has a provider that loses the answer while it sends it. The next segment asks anew, because
// clients have seen a part of the lost one.
func testBackgroundGoneMidway(s backgroundTest) {
	gone := &spool.ModelError{Status: 404, Message: "lost", Gone: true}
	m := spooltest.NewModel(background("one", overloaded(), gone), spooltest.Turn{}, background("two"))
	e := s.working(s.config(m))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	s.asked(m, "new", "again", "new")
	s.attempts("error 1 5+1", "finished 1 5+7")
	if r := s.run("r1"); r.Segments != 3 || r.TotalTokens != 18 {
		s.Errorf("the run is %+v", r)
	}
	s.lines("messages", s.script(), "user go", "assistant (hm) two and more")
}

// testBackgroundOther has another process with another prompt of the agent. It does not take the answer to the first
// one.
func testBackgroundOther(s backgroundTest) {
	m := spooltest.NewModel(background("one", overloaded()), background("two"))
	c := s.config(m)
	e := s.engine(c)
	stop := s.work(e)
	s.start(e, "r1", "go")
	s.until("the first failure", func() bool { return s.run("r1").Attempts == 1 })
	stop()
	c.Agents = slices.Clone(c.Agents)
	c.Agents[0].Instructions = "Say two."
	s.working(c)
	s.ended(wire.Completed)
	s.asked(m, "new", "new")
	s.attempts("error 1 ~", "finished 1 5+7")
	s.lines("messages", s.script(), "user go", "assistant (hm) two and more")
}

// testBackgroundStopped stops a run in the middle of the answer.
func testBackgroundStopped(s backgroundTest) {
	gate := make(chan struct{})
	defer close(gate)
	m := spooltest.NewModel(blocking(gate), spooltest.Say("next"))
	e := s.working(s.config(m))
	s.start(e, "r1", "go")
	s.until("the resume point", func() bool { return s.run("r1").Resume != nil })
	s.stop(e)
	s.ended(wire.Cancelled)
	s.attempts("aborted 1 5+1")
	s.start(e, "r2", "and?")
	s.ended(wire.Completed)
	s.asked(m, "new", "new")
}

// testBackgroundStoppedLate stops a run that waits to ask for the answer again.
func testBackgroundStoppedLate(s backgroundTest) {
	m := spooltest.NewModel(background("one", overloaded()), spooltest.Say("next"))
	e := s.working(s.config(m))
	s.startAs(e, chat, wire.StartRequest{RunID: "r1", Prompt: "go", Budget: spool.Budget{Tokens: 100_000}})
	s.until("the first failure", func() bool { return s.run("r1").Attempts == 1 })
	if s.run("r1").Resume == nil {
		s.Error("the answer is not under way")
	}
	s.stop(e)
	s.ended(wire.Cancelled)
	s.attempts("aborted 1 ~")
	s.start(e, "r2", "and?")
	s.ended(wire.Completed)
	s.asked(m, "new", "new")
}

// testBackgroundFails has an answer that ends in a permanent error.
func testBackgroundFails(s backgroundTest) {
	m := spooltest.NewModel(background("one", overloaded(), &spool.ModelError{Status: 400, Message: "no"}))
	e := s.working(s.config(m))
	s.start(e, "r1", "go")
	s.ended(wire.Failed)
	s.asked(m, "new", "again")
	s.attempts("error 1 5+1")
}

// testBackgroundAttempts has a connection that never holds.
func testBackgroundAttempts(s backgroundTest) {
	var errs []error
	for range 100 {
		errs = append(errs, overloaded())
	}
	m := spooltest.NewModel(background("one", errs...))
	e := s.working(s.config(m))
	s.start(e, "r1", "go")
	s.ended(wire.Failed)
	if m.Fresh() != 1 || m.Asked() < 2 {
		s.Errorf("asked %d times, %d of them anew", m.Asked(), m.Fresh())
	}
	s.attempts("error 1 5+1")
}

// testBackgroundNested shuts a worker down while two nested runs wait for their answers.
func testBackgroundNested(s backgroundTest) {
	gate := make(chan struct{})
	m := casting(map[string][]spooltest.Turn{
		"go": {
			{
				Background: true, Usage: spooltest.Tokens(1, 1),
				Calls: []spooltest.Call{spawn("c1", "helper", "left"), spawn("c2", "helper", "right")},
			},
			{Background: true, Usage: spooltest.Tokens(2, 2), Text: []string{"done"}},
		},
		"left":  {{Background: true, Usage: spooltest.Tokens(3, 3), Text: []string{"left"}, Gate: gate}},
		"right": {{Background: true, Usage: spooltest.Tokens(4, 4), Text: []string{"right"}, Gate: gate}},
	})
	e := s.engine(nestedTest(s).treeConfig(m))
	stop := s.work(e)
	s.startAs(e, chat, wire.StartRequest{RunID: "r1", Prompt: "go", Budget: spool.Budget{Tokens: 100_000}})
	s.until("the resume points", func() bool {
		n := 0
		for _, r := range s.runsOf(chat) {
			if r.Resume != nil {
				n++
			}
		}
		return n == 2
	})
	stop()
	if r := s.run("r1"); len(r.Allowance.Reservations) != 0 {
		s.Errorf("reserved: %+v", r.Allowance)
	}
	close(gate)
	s.work(e)
	s.ended(wire.Completed)
	if m.Fresh() != 4 || m.Asked() != 6 {
		s.Errorf("asked %d times, %d of them anew", m.Asked(), m.Fresh())
	}
	s.attempts("finished 1 1+1", "finished 1 3+3", "finished 1 4+4", "finished 2 2+2")
}

// testBackgroundEmpty has an empty answer that can be asked for again. It is asked for anew.
func testBackgroundEmpty(s backgroundTest) {
	m := spooltest.NewModel(spooltest.Turn{Background: true, Usage: spooltest.Tokens(1, 1)},
		background("two", overloaded()))
	e := s.working(s.config(m))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	s.asked(m, "new", "new", "again")
	s.attempts("error 1 1+1", "finished 1 5+7")
}

// testBackgroundDamaged has adapters whose resume points cannot be stored.
func testBackgroundDamaged(s backgroundTest) {
	for i, bad := range []string{"", "{", `"text"`, `{"a":"` + strings.Repeat("a", 20_000) + `"}`} {
		key := spool.ThreadKey{Tenant: chat.Tenant, ID: spool.ThreadID(fmt.Sprintf("t%d", i))}
		m := &talkative{next: func(int) spool.ModelEvent { return spool.ResumePoint{Data: json.RawMessage(bad)} }}
		e := s.engine(s.config(m))
		stop := s.work(e)
		run := spool.RunID(fmt.Sprintf("r%d", i))
		s.startAs(e, key, wire.StartRequest{RunID: run, Prompt: "go"})
		out, err := e.Await(context.Background(), key, run)
		if err != nil || out.State != wire.Failed || !strings.Contains(out.Error, "the model adapter gave") {
			s.Errorf("%.20q: %+v, %v", bad, out, err)
		}
		stop()
	}
}

// testBackgroundSteered has a steer that comes while an answer is under way whose connection breaks. The answer is
// asked for again without the steer, which comes after it.
func testBackgroundSteered(s backgroundTest) {
	first := background("one", overloaded())
	first.Calls = []spooltest.Call{{ID: "c1", Name: "look"}}
	m := spooltest.NewModel(first, spooltest.Turn{}, background("two"))
	e := s.working(s.config(m, plain("look", "1")))
	s.start(e, "r1", "go")
	s.until("the first failure", func() bool { return s.run("r1").Attempts == 1 })
	steerTest(s).steer(e, "r2")
	s.ended(wire.Completed)
	s.asked(m, "new", "again", "new")
	s.lines("messages", s.script(), "user go", "assistant (hm) one and more c1=look{}", "tool c1:1", "user r2",
		"assistant (hm) two and more")
}

// compacting returns a model whose prompt is summarised in the second run, in which its connection breaks once. The
// first summaries have the given errors.
func compacting(errs ...error) *spooltest.Model {
	var broken, summaries atomic.Int64
	m := counting(600, func(r spool.ModelRequest) spooltest.Turn {
		switch last := r.Messages[len(r.Messages)-1].Text(); {
		case strings.HasPrefix(r.Instructions, "You write the memory"):
			if n := int(summaries.Add(1)); n <= len(errs) {
				return spooltest.Turn{Err: errs[n-1]}
			}
			return spooltest.Say("a summary")
		case !strings.HasSuffix(last, "now"): // a summary can come before it
			return spooltest.Say(long("re", 3000))
		case broken.Add(1) == 1:
			return background("one", overloaded())
		default:
			return background("one")
		}
	})
	return m
}

// testBackgroundCompacted breaks the connection of an answer to a prompt with a summary that the run has made.
func testBackgroundCompacted(s backgroundTest) { s.compacted(compacting()) }

// testBackgroundNoSummary breaks the connection of an answer to a prompt whose summary failed. A summary that
// succeeds later would change the prompt, and the answer would be lost.
func testBackgroundNoSummary(s backgroundTest) {
	s.compacted(compacting(&spool.ModelError{Status: 400, Message: "no"}))
}

func (s backgroundTest) compacted(m *spooltest.Model) {
	s.Helper()
	e := s.working(s.config(m))
	s.start(e, "r1", "first")
	s.ended(wire.Completed)
	s.start(e, "r2", "now")
	s.ended(wire.Completed)
	var asked []string
	for _, r := range m.Requests() {
		switch {
		case strings.HasPrefix(r.Instructions, "You write the memory"):
			asked = append(asked, "summary")
		case r.Resume != nil:
			asked = append(asked, "again")
		default:
			asked = append(asked, "new")
		}
	}
	s.lines("requests", asked, "new", "summary", "new", "again")
}

// testBackgroundSqueezed breaks the connection of an answer, twice, to a prompt that was shortened after the provider
// refused the whole one.
func testBackgroundSqueezed(s backgroundTest) {
	var broken atomic.Int64
	m := counting(4000, func(r spool.ModelRequest) spooltest.Turn {
		switch {
		case len(r.Messages) < 3:
			return spooltest.Use(spooltest.Call{ID: "c1", Name: "look"})
		case len(promptText(r)) > 5000:
			return spooltest.Turn{Err: &spool.ModelError{Status: 400, Message: "too long", ContextOverflow: true}}
		case broken.Add(1) == 1:
			return background("one", overloaded(), overloaded())
		default:
			return background("one")
		}
	})
	e := s.working(s.config(m, plain("look", `"`+strings.Repeat("x", 6000)+`"`)))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	s.asked(m, "new", "new", "new", "again", "again")
}
