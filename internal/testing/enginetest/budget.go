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
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// budgetTest is the fixture of the cases about budgets.
type budgetTest struct{ *engineTest }

var budgetTests = map[string]func(s budgetTest){
	"Refused":       testBudgetRefused,
	"FallsThrough":  testBudgetFallsThrough,
	"Most":          testBudgetMost,
	"Tokens":        testBudgetTokens,
	"TokensCut":     testBudgetTokensCut,
	"NoRoom":        testBudgetNoRoom,
	"Cost":          testBudgetCost,
	"CostCurrency":  testBudgetCostCurrency,
	"Unpriced":      testBudgetUnpriced,
	"UnpricedRun":   testBudgetUnpricedRun,
	"UnpricedSpawn": testBudgetUnpricedSpawn,
	"Unreported":    testBudgetUnreported,
	"BothAtOnce":    testBudgetBothAtOnce,
	"StoreFails":    testBudgetStoreFails,
	"ToolCalls":     testBudgetToolCalls,
	"TimeInModel":   testBudgetTimeInModel,
	"TimeInTool":    testBudgetTimeInTool,
	"TimeOfPeople":  testBudgetTimeOfPeople,
	"Retried":       testBudgetRetried,
	"Lost":          testBudgetLost,
	"Stopped":       testBudgetStopped,
	"Writes":        testBudgetWrites,
	"Children":      testBudgetChildren,
	"ChildrenWait":  testBudgetChildrenWait,
	"ChildrenCost":  testBudgetChildrenCost,
	"ChildrenShare": testBudgetChildrenShare,
	"ChildrenPark":  testBudgetChildrenPark,
	"Park":          testBudgetPark,
	"ParkDenied":    testBudgetParkDenied,
	"ParkExpired":   testBudgetParkExpired,
	"ParkStopped":   testBudgetParkStopped,
	"ParkCut":       testBudgetParkCut,
	"ParkToolCalls": testBudgetParkToolCalls,
	"ParkTime":      testBudgetParkTime,
}

// promptTokens is the token count of each prompt to a frugal model. The engine estimates more, because
// the instructions of its agent are long.
const promptTokens = 20

// frugal returns a model that answers what fn says. The answer uses as many tokens as wants says, or as
// many as the request allows if that is less.
func frugal(wants int64, fn func(r spool.ModelRequest, step int) spooltest.Turn) *spooltest.Model {
	return spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		t := fn(r, spooltest.StepOf(r))
		out := wants
		if r.MaxOutputTokens > 0 && int64(r.MaxOutputTokens) < out {
			out = int64(r.MaxOutputTokens)
			if len(t.Calls) == 0 && t.Err == nil {
				t.FinishReason = spool.FinishLength
			}
		}
		t.Usage = spooltest.Tokens(promptTokens, out)
		return t
	})
}

// looking calls a tool in each step, for ever.
func looking(_ spool.ModelRequest, step int) spooltest.Turn {
	return spooltest.Use(spooltest.Call{ID: spool.ToolCallID(fmt.Sprintf("c%d", step)), Name: "look"})
}

// budgeted returns a configuration whose runs have a budget, and whose model stays within its bounds.
func (s budgetTest) budgeted(b spool.Budget, m spool.Model, tools ...spool.Tool) engine.Config {
	look := plain("look", "1")
	look.Polling = true // models call it in each step
	c := usageTest(s).priced(perToken, m, append(tools, look)...)
	c.Agents[0].Instructions = strings.Repeat("instruct ", 59)
	c.Budget.Default = b
	s.history.Bounded = true
	return c
}

// endsBy waits until a budget has ended run r1, and checks the record entry about it.
func (s budgetTest) endsBy(reason wire.StopReason, entry wire.EntryType, payload any) {
	s.Helper()
	s.ended(wire.Completed)
	if r := s.run("r1"); r.StopReason != reason {
		s.Errorf("the run ended by %s, want %s: %+v", r.StopReason, reason, r.Allowance)
	}
	var found []wire.Entry
	s.view(func(v store.View) (err error) {
		found, err = v.Entries(store.EntryQuery{Type: entry})
		return err
	})
	if len(found) != 1 {
		s.Fatalf("%d entries of the type %s", len(found), entry)
	}
	if err := json.Unmarshal(found[0].Payload, payload); err != nil {
		s.Fatal(err)
	}
}

// wellFormed reports an error unless each call in the messages has one result, right after it, and each
// result has a call.
func (s budgetTest) wellFormed() {
	s.Helper()
	calls, results := map[spool.ToolCallID]bool{}, map[spool.ToolCallID]bool{}
	for _, m := range s.messagesOf(chat) {
		for _, p := range m.ToolCalls() {
			calls[p.ToolCallID] = true
		}
		for _, p := range m.ToolResults() {
			if !calls[p.ToolCallID] || results[p.ToolCallID] {
				s.Errorf("the result of %s is one too many", p.ToolCallID)
			}
			results[p.ToolCallID] = true
		}
	}
	if len(calls) != len(results) {
		s.Errorf("%d calls have %d results", len(calls), len(results))
	}
}

func testBudgetRefused(s budgetTest) {
	for want, b := range map[string]spool.Budget{
		"Tokens is negative":     {Tokens: -1},
		"CostMicros is negative": {CostMicros: -1},
		"ToolCalls is negative":  {ToolCalls: -1},
		"WallTime is negative":   {WallTime: -1},
		"CostMicros needs":       {CostMicros: 1},
	} {
		c := s.config(spooltest.NewModel())
		c.Budget.Default = b
		if _, err := engine.New(s.backend, c); spool.CodeOf(err) != spool.Invalid ||
			!strings.Contains(spool.MessageOf(err), "Config.Budget.Default."+want) {
			s.Errorf("of the configuration: %v, want %s", err, want)
		}
		c = s.config(spooltest.NewModel())
		c.Agents[0].Budget = b
		if _, err := engine.New(s.backend, c); spool.CodeOf(err) != spool.Invalid ||
			!strings.Contains(spool.MessageOf(err), `agent "a": Budget.`+want) {
			s.Errorf("of the agent: %v, want %s", err, want)
		}
	}
	c := s.config(spooltest.NewModel())
	c.Budget.OnBudget = "sleep"
	if _, err := engine.New(s.backend, c); spool.CodeOf(err) != spool.Invalid {
		s.Errorf("an action that there is not: %v", err)
	}
	e := s.engine(s.config(spooltest.NewModel()))
	for want, b := range map[string]spool.Budget{
		"tokenBudget must":                {Tokens: -1},
		"costBudgetMicros must":           {CostMicros: -1},
		"toolCallBudget must":             {ToolCalls: -1},
		"wallTimeMs must":                 {WallTime: -1},
		"costBudgetMicros cannot be kept": {CostMicros: 1},
	} {
		_, err := e.Run(context.Background(), chat, wire.StartRequest{Prompt: "go", Budget: b})
		if spool.CodeOf(err) != spool.Invalid || !strings.HasPrefix(spool.MessageOf(err), want) {
			s.Errorf("of the start: %v, want %s", err, want)
		}
	}
	if s.thread().ID != "" {
		s.Errorf("a refused start has made the thread %+v", s.thread())
	}
}

func testBudgetFallsThrough(s budgetTest) {
	c := s.config(spooltest.NewModel())
	c.Pricer = pricer(perToken)
	c.Budget.Default = spool.Budget{Tokens: 1, CostMicros: 2, ToolCalls: 3, WallTime: 4}
	c.Agents[0].Budget = spool.Budget{Tokens: 5, CostMicros: 6, Currency: "USD"}
	e := s.engine(c)
	s.startAs(e, chat, wire.StartRequest{Prompt: "go", RunID: "r1", Budget: spool.Budget{Tokens: 7}})
	s.same("the budget", s.run("r1").Allowance.Budget,
		spool.Budget{Tokens: 7, CostMicros: 6, Currency: "USD", ToolCalls: 3, WallTime: 4})
	text, err := json.Marshal(s.run("r1"))
	if err != nil || !strings.Contains(string(text), `"tokenBudget":7,"costBudgetMicros":6,"toolCallBudget":3`) {
		s.Errorf("the record: %s, %v", text, err)
	}
	s.stop(e)
}

// testBudgetMost asks for more than the largest allowed budget.
func testBudgetMost(s budgetTest) {
	c := s.config(spooltest.NewModel())
	c.Pricer = pricer(perToken)
	c.Agents[0].Budget = spool.Budget{ToolCalls: 9}
	c.Budget.Max = spool.Budget{Tokens: 5, CostMicros: 6, Currency: "USD", ToolCalls: 7}
	e := s.engine(c)
	s.startAs(e, chat, wire.StartRequest{
		Prompt: "go", RunID: "r1", Budget: spool.Budget{Tokens: 8, CostMicros: 4, WallTime: 10},
	})
	s.same("the budget", s.run("r1").Allowance.Budget,
		spool.Budget{Tokens: 5, CostMicros: 4, Currency: "USD", ToolCalls: 7, WallTime: 10})
	s.stop(e)
	c.Budget.Max.Tokens = -1
	if _, err := engine.New(s.backend, c); spool.CodeOf(err) != spool.Invalid ||
		!strings.Contains(spool.MessageOf(err), "Config.Budget.Max.Tokens is negative") {
		s.Errorf("of the configuration: %v", err)
	}
}

func testBudgetTokens(s budgetTest) {
	m := frugal(60, looking)
	c := s.budgeted(spool.Budget{Tokens: 400}, m)
	c.Agents[0].MaxOutputTokens = 60
	e := s.engine(c)
	s.start(e, "r1", "go")
	client := &spooltest.Client{Name: "live", FromStart: true}
	stop := s.watch(e, client, wire.FollowOptions{})
	s.work(e)
	var told wire.TokenBudgetExhausted
	s.endsBy(wire.StopTokenBudget, wire.EntryTokenBudgetExhausted, &told)
	<-time.After(quiet)
	stop()
	r := s.run("r1")
	if told.TokenBudget != 400 || told.TokensUsed > 400 || told.TokensUsed < 250 || told.TokensUsed != r.TotalTokens ||
		told.AgentID != nil {
		s.Errorf("the record tells %+v of a run of %d tokens", told, r.TotalTokens)
	}
	s.wellFormed()
	bounds := []int{}
	for _, r := range m.Requests() {
		bounds = append(bounds, r.MaxOutputTokens)
	}
	if bounds[0] != 60 || slices.Max(bounds) > 60 || r.Steps != len(bounds) {
		s.Errorf("the answers were bounded by %v, in %d steps", bounds, r.Steps)
	}
	record := s.record()
	s.lines("the end of the record", record[len(record)-2:], "TOKEN_BUDGET_EXHAUSTED", "RUN_ENDED r1:1 finished")
}

// testBudgetTokensCut has a budget that cuts off the end of an answer.
func testBudgetTokensCut(s budgetTest) {
	m := frugal(5000, func(spool.ModelRequest, int) spooltest.Turn { return spooltest.Say("half an answer") })
	e := s.working(s.budgeted(spool.Budget{Tokens: 1000}, m))
	s.start(e, "r1", "go")
	var told wire.TokenBudgetExhausted
	s.endsBy(wire.StopTokenBudget, wire.EntryTokenBudgetExhausted, &told)
	if got := m.Requests()[0].MaxOutputTokens; got < 500 || got > 980 {
		s.Errorf("the answer was bounded by %d", got)
	}
	s.lines("messages", s.script(), "user go", "assistant half an answer")
}

func testBudgetNoRoom(s budgetTest) {
	m := frugal(60, looking)
	e := s.working(s.budgeted(spool.Budget{Tokens: 30}, m))
	s.start(e, "r1", "go")
	var told wire.TokenBudgetExhausted
	s.endsBy(wire.StopTokenBudget, wire.EntryTokenBudgetExhausted, &told)
	if m.Asked() != 0 || told.TokensUsed != 0 {
		s.Errorf("the model was asked %d times, and %+v", m.Asked(), told)
	}
}

func testBudgetCost(s budgetTest) {
	m := frugal(60, looking)
	c := s.budgeted(spool.Budget{CostMicros: 1200}, m)
	c.Agents[0].MaxOutputTokens = 60
	e := s.working(c)
	s.start(e, "r1", "go")
	var told wire.CostBudgetExhausted
	s.endsBy(wire.StopCostBudget, wire.EntryCostBudgetExhausted, &told)
	if r := s.run("r1"); told.CostMicros != r.CostMicros || told.CostMicros > 1200 || told.CostMicros < 700 ||
		told.Currency != "USD" || told.CostBudgetMicros != 1200 {
		s.Errorf("the record tells %+v of a run of %d", told, r.CostMicros)
	}
	s.wellFormed()
}

// testBudgetCostCurrency has a price in another currency than the budget's, which is allowed.
func testBudgetCostCurrency(s budgetTest) {
	c := s.budgeted(spool.Budget{CostMicros: 10_000, Currency: "EUR"},
		frugal(5, func(spool.ModelRequest, int) spooltest.Turn { return spooltest.Say("hi") }))
	c.Budget.AllowUnpriced = true
	e := s.working(c)
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	if r := s.run("r1"); r.CostMicros != 0 || r.Currency != "" || r.StopReason != wire.StopCompleted {
		s.Errorf("the run: %+v", r)
	}
}

// testBudgetBothAtOnce has a step that exceeds both the cost budget and the token budget.
func testBudgetBothAtOnce(s budgetTest) {
	c := s.budgeted(spool.Budget{Tokens: 50, CostMicros: 50},
		spooltest.NewModel(spooltest.Turn{
			Usage: spooltest.Tokens(100, 100), Calls: []spooltest.Call{{ID: "c1", Name: "look"}},
		}))
	s.history.Bounded = false // the model ignores its bounds
	c.Agents[0].Instructions, c.Agents[0].MaxOutputTokens = "", 4
	e := s.working(c)
	s.start(e, "r1", "go")
	var told wire.CostBudgetExhausted
	s.endsBy(wire.StopCostBudget, wire.EntryCostBudgetExhausted, &told)
	s.lines("messages", s.script(), "user go", "assistant c1=look{}", "tool c1:1")
}

func testBudgetToolCalls(s budgetTest) {
	e := s.working(s.budgeted(spool.Budget{ToolCalls: 3}, spooltest.NewReplayModel(
		spooltest.Use(spooltest.Call{ID: "c1", Name: "look"}, spooltest.Call{ID: "c2", Name: "nope"}),
		spooltest.Use(spooltest.Call{ID: "c3", Name: "look"}, spooltest.Call{ID: "c4", Name: "look"},
			spooltest.Call{ID: "c5", Name: "send"}),
		spooltest.Say("too late"),
	), approved("send", `"sent"`)))
	s.start(e, "r1", "go")
	var told wire.ToolCallBudgetExhausted
	s.endsBy(wire.StopToolCallBudget, wire.EntryToolCallBudgetExhausted, &told)
	if s.executed() != 3 || told.ToolCalls != 3 || told.ToolCallBudget != 3 {
		s.Errorf("%d calls took effect, and the record tells %+v", s.executed(), told)
	}
	s.wellFormed()
	script := s.script()
	if last := script[len(script)-1]; !strings.Contains(last, `c5:"error: the run's budget of tool calls was used up`) {
		s.Errorf("the last message is %s", last)
	}
}

func testBudgetTimeInModel(s budgetTest) {
	e := s.working(s.budgeted(spool.Budget{WallTime: 10 * time.Second},
		spooltest.NewModel(spooltest.Turn{Text: []string{"so far"}, Gate: make(chan struct{})})))
	begin := time.Now()
	s.start(e, "r1", "go")
	var told wire.TimeBudgetExhausted
	s.endsBy(wire.StopTimeBudget, wire.EntryTimeBudgetExhausted, &told)
	if took := time.Since(begin); took < 9*time.Second || took > 13*time.Second || told.WallTimeBudgetMS != 10_000 ||
		told.WallTimeMS < 10_000 {
		s.Errorf("it took %s, and the record tells %+v", took, told)
	}
	s.lines("messages", s.script(), "user go", "assistant so far")
}

func testBudgetTimeInTool(s budgetTest) {
	slow := plain("slow", "1")
	slow.Call = func(ctx context.Context, _ spool.ToolCall) (json.RawMessage, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	e := s.working(
		s.budgeted(spool.Budget{WallTime: 10 * time.Second},
			spooltest.NewModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "slow"}, spooltest.Call{ID: "c2", Name: "look"})),
			slow),
	)
	s.start(e, "r1", "go")
	var told wire.TimeBudgetExhausted
	s.endsBy(wire.StopTimeBudget, wire.EntryTimeBudgetExhausted, &told)
	s.lines("messages", s.script(), "user go", "assistant c1=slow{} c2=look{}",
		`tool c1:{"cancelled":true,"outcome":"unknown","reason":"time_budget"} c2:1`)
}

// testBudgetTimeOfPeople has a person who takes longer than the run's time.
func testBudgetTimeOfPeople(s budgetTest) {
	e := s.working(
		s.budgeted(spool.Budget{WallTime: 10 * time.Second},
			spooltest.NewReplayModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "send"}), spooltest.Say("done")),
			approved("send", `"sent"`)),
	)
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	<-time.After(5 * time.Minute)
	s.answer(e, "c1", true, "")
	s.ended(wire.Completed)
	if r := s.run("r1"); r.StopReason != wire.StopCompleted || r.Allowance.Spent.WallTime > 5*time.Second {
		s.Errorf("the run: %s, %+v", r.StopReason, r.Allowance.Spent)
	}
}

// testBudgetRetried has failing attempts, whose tokens stay spent.
func testBudgetRetried(s budgetTest) {
	calls := 0
	m := frugal(30, func(spool.ModelRequest, int) spooltest.Turn {
		if calls++; calls < 3 {
			return spooltest.Turn{Text: []string{"half"}, Err: overloaded()}
		}
		return spooltest.Say("done")
	})
	e := s.working(s.budgeted(spool.Budget{Tokens: 1000}, m))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	if r := s.run("r1"); calls != 3 || r.Allowance.Spent.Tokens != 3*(promptTokens+30) {
		s.Errorf("%d calls have spent %+v", calls, r.Allowance.Spent)
	}
}

// testBudgetLost lets a worker die in a model call with a reservation.
func testBudgetLost(s budgetTest) {
	m := spooltest.NewModel(spooltest.Turn{Text: []string{"half"}, Gate: make(chan struct{})},
		spooltest.Turn{Text: []string{"whole"}, Usage: spooltest.Tokens(promptTokens, 2)})
	c := s.budgeted(spool.Budget{Tokens: 1000, CostMicros: 10_000}, m)
	usageTest(s).dies(c, func() bool { return m.Asked() == 1 })
	held := s.run("r1").Allowance.Reservations
	if len(held) != 1 || held[0].Tokens <= held[0].Input || held[0].CostMicros <= 0 {
		s.Fatalf("while the model is asked: %s", compare.Dump(held))
	}
	s.working(c)
	s.ended(wire.Completed)
	rows := usageTest(s).ledger()
	if len(rows) != 2 || rows[0].Outcome != wire.OutcomeLost || rows[0].Usage != (spool.Usage{}) ||
		*rows[0].Guess.Input != held[0].Input || rows[0].Guess.Output != nil {
		s.Fatalf("rows: %s", compare.Dump(rows))
	}
	s.same("what the lost prompt cost", rows[0].Cost, held[0].Prompt)
}

// testBudgetStopped stops a run in a model call.
func testBudgetStopped(s budgetTest) {
	m := spooltest.NewModel(spooltest.Turn{Text: []string{"half"}, Gate: make(chan struct{})})
	e := s.working(s.budgeted(spool.Budget{Tokens: 1000}, m))
	s.start(e, "r1", "go")
	s.until("the answer", func() bool { return m.Asked() == 1 })
	<-time.After(time.Second)
	s.stop(e)
	s.ended(wire.Cancelled)
	if a := s.run("r1").Allowance; len(a.Reservations) > 0 || a.Spent.Tokens == 0 {
		s.Errorf("after the stop: %+v", a)
	}
}

// testBudgetWrites counts the writes that a budget costs: one for each model call, and none for a run
// without a budget.
func testBudgetWrites(s budgetTest) {
	commits := func(run spool.RunID, b spool.Budget) (n int) {
		m := frugal(5, func(_ spool.ModelRequest, step int) spooltest.Turn {
			if step == 0 {
				return spooltest.Use(spooltest.Call{ID: spool.ToolCallID("c" + string(run)), Name: "look"})
			}
			return spooltest.Say("done")
		})
		key := spool.ThreadKey{Tenant: "acme", ID: spool.ThreadID("of-" + run)}
		c := s.budgeted(spool.Budget{}, m)
		c.Worker.Lease = time.Hour // so that no lease is renewed
		e := s.engine(c)
		stop := s.work(e)
		s.startAs(e, key, wire.StartRequest{Prompt: "go", RunID: run, Budget: b})
		s.until("the end", func() bool { t := s.threadOf(key); return t.State.Terminal() })
		stop()
		for _, commit := range s.history.Commits {
			if commit.Thread == key {
				n++
			}
		}
		return n
	}
	without := commits("r1", spool.Budget{})
	if n := commits("r2", spool.Budget{ToolCalls: 9, WallTime: time.Minute}); n != without {
		s.Errorf("budgets of calls and time take %d writes, and none takes %d", n, without)
	}
	if n := commits("r3", spool.Budget{Tokens: 9000}); n != without+2 {
		s.Errorf("a budget of tokens takes %d writes for two calls, and none takes %d", n, without)
	}
}
