package enginetest

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// asksForMore returns a configuration whose runs park for a larger budget.
func (s budgetTest) asksForMore(b spool.Budget, m spool.Model, tools ...spool.Tool) engine.Config {
	c := s.budgeted(b, m, tools...)
	c.Budget.OnBudget = spool.BudgetPark
	return c
}

// budgetPark waits for a park for a larger budget, and returns it.
func (s budgetTest) budgetPark() (park store.Park) {
	s.Helper()
	s.becomes(wire.WaitingForInput)
	open := 0
	for _, p := range s.parksOf(chat, s.thread().RunID) {
		if p.State == wire.ParkOpen && p.Reason == wire.ParkBudget {
			park = p
			open++
		}
	}
	if open != 1 {
		s.Fatalf("%d parks wait for a larger budget", open)
	}
	return park
}

// thrice calls a tool in two steps and answers with text in the third.
func thrice(_ spool.ModelRequest, step int) spooltest.Turn {
	if step < 2 {
		return spooltest.Use(spooltest.Call{ID: spool.ToolCallID(fmt.Sprintf("c%d", step)), Name: "look"})
	}
	return spooltest.Say("done")
}

func testBudgetPark(s budgetTest) {
	m := frugal(40, thrice)
	c := s.asksForMore(spool.Budget{Tokens: 160}, m)
	c.Agents[0].MaxOutputTokens = 40
	e := s.engine(c)
	s.start(e, "r1", "go")
	client := &spooltest.Client{Name: "live", FromStart: true}
	stop := s.watch(e, client, wire.FollowOptions{})
	s.work(e)
	park := s.budgetPark()
	asked, spent := m.Asked(), s.run("r1").Allowance.Spent.Tokens
	if want := fmt.Sprintf(
		`{"exhausted":"token_budget","spent":{"tokenBudget":%d},"budget":{"tokenBudget":160},"currency":"USD"}`, spent,
	); string(compare.Canonical(park.Args)) != string(compare.Canonical([]byte(want))) || asked == 0 {
		s.Errorf("after %d calls a person is shown %s, want %s", asked, park.Args, want)
	}
	before := s.all(chat, "r1")
	for payload, want := range map[string]string{
		"":                     "payload.tokenBudget is required",
		"{}":                   "payload.tokenBudget is required",
		`{"toolCallBudget":5}`: "payload.tokenBudget is required",
		`{"tokenBudget":0}`:    "payload.tokenBudget must be larger than the " + strconv.FormatInt(spent, 10),
		`{"tokenBudget":-5}`:   "payload.tokenBudget must be larger",
		`{"tokenBudget":` + strconv.FormatInt(spent+1000, 10) +
			`,"TokenBudget":900000}`: `payload: tokenBudget must be spelled exactly so`,
		`{"tokenBudget":160}`:    "payload.tokenBudget must be larger than the 160 that it is",
		`{"tokenBudget":"many"}`: "payload must have new totals",
		`{"tokenBudget":1.5}`:    "payload must have new totals",
		`{"tokens":5000}`:        "payload must have new totals",
		`[1]`:                    "payload must have new totals",
		`{"tokenBudget":5000,"wallTimeMs":9223372036854775807}`: "payload.wallTimeMs is too large",
	} {
		_, err := s.respond(e, park.ToolCallID, true, payload)
		if spool.CodeOf(err) != spool.Invalid || !strings.HasPrefix(spool.MessageOf(err), want) {
			s.Errorf("the answer %s: %v, want %s", payload, err, want)
		}
	}
	s.history.Answers = nil // the answers were refused
	s.same("after answers that were wrong", s.all(chat, "r1"), before)
	s.answer(e, park.ToolCallID, true, `{"tokenBudget":5000,"toolCallBudget":9}`)
	s.ended(wire.Completed)
	<-time.After(quiet)
	stop()
	if r := s.run("r1"); r.StopReason != wire.StopCompleted || m.Asked() != 3 || r.Steps != 3 ||
		r.Allowance.Budget.Tokens != 5000 || r.Allowance.Budget.ToolCalls != 9 {
		s.Errorf("after %d calls: %+v, %+v", m.Asked(), r, r.Allowance)
	}
	s.lines("messages", s.script(), "user go", "assistant c0=look{}", "tool c0:1", "assistant c1=look{}", "tool c1:1",
		"assistant done")
}

func testBudgetParkDenied(s budgetTest) {
	e := s.working(s.asksForMore(spool.Budget{Tokens: 230}, frugal(40, looking)))
	s.start(e, "r1", "go")
	s.answer(e, s.budgetPark().ToolCallID, false, "")
	var told wire.TokenBudgetExhausted
	s.endsBy(wire.StopTokenBudget, wire.EntryTokenBudgetExhausted, &told)
	s.wellFormed()
}

func testBudgetParkExpired(s budgetTest) {
	e := s.working(s.asksForMore(spool.Budget{CostMicros: 600}, frugal(40, looking)))
	s.start(e, "r1", "go")
	s.budgetPark()
	<-time.After(time.Hour)
	var told wire.CostBudgetExhausted
	s.endsBy(wire.StopCostBudget, wire.EntryCostBudgetExhausted, &told)
	s.wellFormed()
}

func testBudgetParkStopped(s budgetTest) {
	e := s.working(s.asksForMore(spool.Budget{Tokens: 230}, frugal(40, looking)))
	s.start(e, "r1", "go")
	park := s.budgetPark()
	before := s.script()
	s.stop(e)
	s.ended(wire.Cancelled)
	s.lines("messages", s.script(), before...)
	if r, err := s.respond(e, park.ToolCallID, true, `{"tokenBudget":5000}`); r.Delivered || err != nil {
		s.Errorf("an answer after the stop: %+v, %v", r, err)
	}
	s.wellFormed()
}

// testBudgetParkCut has a budget that cuts the last answer off. After the budget is raised, the answer
// continues.
func testBudgetParkCut(s budgetTest) {
	m := frugal(900, func(_ spool.ModelRequest, step int) spooltest.Turn {
		return spooltest.Say(fmt.Sprintf("part %d", step))
	})
	e := s.working(s.asksForMore(spool.Budget{Tokens: 600}, m))
	s.start(e, "r1", "go")
	s.answer(e, s.budgetPark().ToolCallID, true, `{"tokenBudget":5000}`)
	s.ended(wire.Completed)
	if r := s.run("r1"); r.StopReason != wire.StopCompleted {
		s.Errorf("the run: %+v, %+v", r, r.Allowance)
	}
	s.lines("messages", s.script(), "user go", "assistant part 0", "assistant part 1")
}

func testBudgetParkToolCalls(s budgetTest) {
	e := s.working(s.asksForMore(spool.Budget{ToolCalls: 1}, spooltest.NewReplayModel(
		spooltest.Use(spooltest.Call{ID: "c1", Name: "look"}, spooltest.Call{ID: "c2", Name: "look"}),
		spooltest.Use(spooltest.Call{ID: "c3", Name: "look"}), spooltest.Say("done"),
	)))
	s.start(e, "r1", "go")
	s.answer(e, s.budgetPark().ToolCallID, true, `{"toolCallBudget":2}`)
	s.ended(wire.Completed)
	if r := s.run("r1"); r.StopReason != wire.StopCompleted || s.executed() != 2 || r.Allowance.Spent.ToolCalls != 2 {
		s.Errorf("%d calls took effect: %+v", s.executed(), r.Allowance)
	}
	s.wellFormed()
}

func testBudgetParkTime(s budgetTest) {
	gate := make(chan struct{})
	e := s.working(s.asksForMore(spool.Budget{WallTime: 10 * time.Second},
		spooltest.NewModel(spooltest.Turn{Text: []string{"so far"}, Gate: gate}, spooltest.Say("and on"))))
	s.start(e, "r1", "go")
	s.answer(e, s.budgetPark().ToolCallID, true, `{"wallTimeMs":60000}`)
	s.ended(wire.Completed)
	if r := s.run("r1"); r.StopReason != wire.StopCompleted {
		s.Errorf("the run: %+v, %+v", r, r.Allowance)
	}
	s.lines("messages", s.script(), "user go", "assistant so far", "assistant and on")
}

// family returns a configuration whose agent spawns three nested runs at once. Each calls a tool for
// ever, or until content returns true.
func (s budgetTest) family(b spool.Budget, content func(step int) bool) (engine.Config, *atomic.Int64) {
	var most, now atomic.Int64
	m := frugal(30, func(r spool.ModelRequest, step int) spooltest.Turn {
		if len(r.Tools) > 0 && r.Tools[len(r.Tools)-1].Name == spool.SpawnTool {
			if step > 0 {
				return spooltest.Say("all done")
			}
			t := spooltest.Turn{}
			for i := range 3 {
				t.Calls = append(t.Calls, spooltest.Call{
					ID: spool.ToolCallID(fmt.Sprintf("s%d", i)), Name: spool.SpawnTool,
					Args: fmt.Sprintf(`{"name":"worker","instructions":"part %d"}`, i),
				})
			}
			return t
		}
		t := spooltest.Use(spooltest.Call{ID: "c", Name: "look"})
		if content(step) {
			t = spooltest.Say("found")
		}
		t.Before = func(ctx context.Context) error {
			defer now.Add(-1)
			for n := now.Add(1); n > most.Load(); {
				most.Store(n)
			}
			select {
			case <-time.After(time.Second):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return t
	})
	c := s.budgeted(b, m)
	worker := spool.Profile{
		Description: "looks", Instructions: c.Agents[0].Instructions, Tools: []spool.Tool{c.Agents[0].Tools[0]},
		MaxOutputTokens: 30,
	}
	c.Agents[0].MaxOutputTokens = 30
	c.Agents[0].Spawn = &spool.Spawn{Profiles: map[string]spool.Profile{"worker": worker}, MaxSteps: 20}
	return c, &most
}

// testBudgetChildren has three concurrent runs that use up one budget.
func testBudgetChildren(s budgetTest) {
	c, most := s.family(spool.Budget{Tokens: 1500}, func(int) bool { return false })
	e := s.working(c)
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	r := s.run("r1")
	if r.StopReason != wire.StopTokenBudget || r.TotalTokens > 1500 || r.TotalTokens < 900 || most.Load() != 3 {
		s.Errorf("up to %d at once: %s, %+v", most.Load(), r.StopReason, r.Allowance)
	}
	for _, run := range s.runsOf(chat) {
		if run.StopReason != wire.StopTokenBudget {
			s.Errorf("run %s of depth %d ended by %s", run.ID, run.Depth, run.StopReason)
		}
	}
	s.wellFormed()
}

// testBudgetChildrenWait has a budget with room for all runs, but not for all at once.
func testBudgetChildrenWait(s budgetTest) {
	c, most := s.family(spool.Budget{Tokens: 470}, func(int) bool { return true })
	e := s.working(c)
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	if r := s.run("r1"); r.StopReason != wire.StopCompleted || most.Load() == 3 {
		s.Errorf("up to %d at once: %s, %+v", most.Load(), r.StopReason, r.Allowance)
	}
}

// testBudgetChildrenPark has three concurrent runs that wait for one answer and then continue.
func testBudgetChildrenPark(s budgetTest) {
	c, _ := s.family(spool.Budget{Tokens: 600}, func(step int) bool { return step > 2 })
	c.Budget.OnBudget = spool.BudgetPark
	e := s.working(c)
	s.start(e, "r1", "go")
	park := s.budgetPark()
	asked := 0
	for _, line := range s.record() {
		if strings.HasPrefix(line, "INPUT_REQUIRED") {
			asked++
		}
	}
	if asked != 1 {
		s.Errorf("the record asks %d times", asked)
	}
	var shown struct{ Exhausted wire.StopReason }
	if err := json.Unmarshal(park.Args, &shown); err != nil || shown.Exhausted != wire.StopTokenBudget {
		s.Errorf("a person is shown %s", park.Args)
	}
	s.answer(e, park.ToolCallID, true, `{"tokenBudget":9000}`)
	s.ended(wire.Completed)
	for _, run := range s.runsOf(chat) {
		if run.StopReason != wire.StopCompleted || run.Depth > 0 && run.Steps != 4 {
			s.Errorf("run %s of depth %d ended by %s after %d steps", run.ID, run.Depth, run.StopReason, run.Steps)
		}
	}
	s.wellFormed()
}
