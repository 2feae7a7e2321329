package enginetest

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/price"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// usageTest is the fixture of the cases about usage and costs.
type usageTest struct{ *engineTest }

var usageTests = map[string]func(s usageTest){
	"Priced":          testUsagePriced,
	"NotPriced":       testUsageNotPriced,
	"TwoCurrencies":   testUsageTwoCurrencies,
	"NextRunCurrency": testUsageNextRunCurrency,
	"Absent":          testUsageAbsent,
	"CutOff":          testUsageCutOff,
	"CutOffCounted":   testUsageCutOffCounted,
	"Refused":         testUsageRefused,
	"HandedBack":      testUsageHandedBack,
	"Lost":            testUsageLost,
	"LostInTool":      testUsageLostInTool,
	"LostStopped":     testUsageLostStopped,
}

// pricer is a function that implements [price.Pricer].
type pricer func(c price.Charge) (spool.Cost, error)

// Price calls the function.
func (p pricer) Price(_ context.Context, c price.Charge) (spool.Cost, error) { return p(c) }

// perToken prices 2 for each input token and 3 for each output token.
func perToken(c price.Charge) (spool.Cost, error) {
	if c.Usage.Input == nil || c.Usage.Output == nil {
		return spool.Cost{}, spool.Errorf(spool.NotFound, "not counted")
	}
	cost := spool.Cost{
		Micros: 2**c.Usage.Input + 3**c.Usage.Output, Currency: "USD", Source: spool.CostTable, Version: "7",
	}
	if c.Estimated {
		cost.Source = spool.CostEstimate
	}
	return cost, nil
}

// priced returns a configuration with a pricer.
func (s usageTest) priced(p pricer, m spool.Model, tools ...spool.Tool) engine.Config {
	c := s.config(m, tools...)
	c.Pricer = p
	return c
}

// ledger returns the rows of the ledger without their times.
func (s usageTest) ledger() (rows []wire.UsageRow) {
	s.Helper()
	rows = s.usage(wire.UsageQuery{})
	for i := range rows {
		rows[i].CreatedAt = time.Time{}
	}
	return rows
}

// row returns a row of run r1 and the model of tests.
func (s usageTest) row(step int, outcome wire.Outcome, u spool.Usage, cost *spool.Cost) wire.UsageRow {
	r := wire.UsageRow{
		RunID: "r1", Agent: "a", Kind: spool.UsageStep, Step: step, Model: "m", ModelID: "scripted-1", Outcome: outcome,
		Usage: u, Cost: cost,
	}
	if outcome != wire.OutcomeFinished {
		r.ModelID = ""
	}
	return r
}

func table(micros int64) *spool.Cost {
	return &spool.Cost{Micros: micros, Currency: "USD", Source: spool.CostTable, Version: "7"}
}

// costsTold returns the costs that a run's clients get: in the last item of its stream, in the notice
// of its end, and in its record.
func (s usageTest) costsTold(c *spooltest.Client) []string {
	var told []string
	for _, f := range c.Frames {
		var of struct {
			Costs json.RawMessage `json:"costs"`
			State string          `json:"state"`
		}
		switch {
		case f.Kind == wire.FrameStream && f.Item.Type == wire.ItemRunFinished:
			_ = f.Item.Decode(&of)
			told = append(told, "item "+string(of.Costs))
		case f.Kind == wire.FrameThread && f.Event.Type == wire.NoticeStateChange:
			_ = json.Unmarshal(f.Event.Payload, &of)
			if wire.State(of.State).Terminal() {
				told = append(told, "notice "+string(of.Costs))
			}
		}
	}
	text, err := json.Marshal(s.run("r1"))
	if err != nil {
		s.Fatal(err)
	}
	var of struct {
		CostMicros json.RawMessage `json:"costMicros"`
		Currency   json.RawMessage `json:"currency"`
	}
	if err := json.Unmarshal(text, &of); err != nil {
		s.Fatal(err)
	}
	return append(told, "run "+string(of.CostMicros)+string(of.Currency))
}

func testUsagePriced(s usageTest) {
	settled, h := settleTest(s).settling(spooltest.NewModel(
		spooltest.Turn{Usage: spooltest.Tokens(10, 1), Calls: []spooltest.Call{{ID: "c1", Name: "look"}}},
		spooltest.Turn{Text: []string{"half"}, Usage: spooltest.Tokens(5, 1), Err: overloaded()},
		spooltest.Turn{Text: []string{"hi"}, Usage: spooltest.Tokens(20, 2)},
	), plain("look", "1"))
	settled.Pricer = pricer(perToken)
	e := s.engine(settled)
	s.start(e, "r1", "go")
	client := &spooltest.Client{Name: "live", FromStart: true}
	stop := s.watch(e, client, wire.FollowOptions{})
	s.work(e)
	s.ended(wire.Completed)
	<-time.After(quiet)
	stop()
	s.same("rows", s.ledger(), []wire.UsageRow{
		s.row(1, wire.OutcomeFinished, spooltest.Tokens(10, 1), table(23)),
		s.row(2, wire.OutcomeError, spooltest.Tokens(5, 1), table(13)),
		s.row(2, wire.OutcomeFinished, spooltest.Tokens(20, 2), table(46)),
	})
	s.lines("what clients are told", s.costsTold(client),
		`item [{"currency":"USD","micros":82}]`, `notice [{"currency":"USD","micros":82}]`, `run 82"USD"`)
	s.same("what the settle hook is told", h.calls[0].Costs, []wire.Money{{Currency: "USD", Micros: 82}})
	u, err := e.Usage(context.Background(), chat)
	if err != nil {
		s.Fatal(err)
	}
	s.same("the thread's costs", []any{u.Tokens.CostMicros, u.Tokens.Currency, u.Tokens.Unpriced},
		[]any{int64(82), "USD", int64(0)})
	s.same("by currency", u.Tokens.Costs, []wire.CurrencyCost{{Currency: "USD", CostMicros: 82, Calls: 3}})
}

func testUsageNotPriced(s usageTest) {
	e := s.engine(s.config(spooltest.NewModel(spooltest.Turn{Text: []string{"hi"}, Usage: spooltest.Tokens(20, 2)})))
	s.start(e, "r1", "go")
	client := &spooltest.Client{Name: "live", FromStart: true}
	stop := s.watch(e, client, wire.FollowOptions{})
	s.work(e)
	s.ended(wire.Completed)
	<-time.After(quiet)
	stop()
	s.same("rows", s.ledger(), []wire.UsageRow{s.row(1, wire.OutcomeFinished, spooltest.Tokens(20, 2), nil)})
	s.lines("what clients are told", s.costsTold(client), "item ", "notice ", "run ")
	u, err := e.Usage(context.Background(), chat)
	if err != nil || u.Tokens.Unpriced != 1 || u.Tokens.Costs != nil || u.Tokens.Currency != "" {
		s.Errorf("the thread's costs: %+v, %v", u.Tokens, err)
	}
}

// testUsageTwoCurrencies has a run whose second call is priced in another currency.
func testUsageTwoCurrencies(s usageTest) {
	calls := 0
	e := s.working(s.priced(func(price.Charge) (spool.Cost, error) {
		calls++
		return spool.Cost{Micros: 5, Currency: []string{"EUR", "USD", "EUR"}[calls-1]}, nil
	}, spooltest.NewModel(
		spooltest.Turn{Usage: spooltest.Tokens(1, 1), Calls: []spooltest.Call{{ID: "c1", Name: "look"}}},
		spooltest.Turn{Usage: spooltest.Tokens(2, 1), Calls: []spooltest.Call{{ID: "c2", Name: "look"}}},
		spooltest.Turn{Usage: spooltest.Tokens(3, 1), Text: []string{"done"}},
	), plain("look", "1")))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	euro := &spool.Cost{Micros: 5, Currency: "EUR"}
	s.same("rows", s.ledger(), []wire.UsageRow{
		s.row(1, wire.OutcomeFinished, spooltest.Tokens(1, 1), euro),
		s.row(2, wire.OutcomeFinished, spooltest.Tokens(2, 1), nil),
		s.row(3, wire.OutcomeFinished, spooltest.Tokens(3, 1), euro),
	})
	s.same("what the run cost", s.run("r1").Costs(), []wire.Money{{Currency: "EUR", Micros: 10}})
}

// testUsageNextRunCurrency has the next run of the thread priced in another currency.
func testUsageNextRunCurrency(s usageTest) {
	calls := 0
	e := s.working(s.priced(func(price.Charge) (spool.Cost, error) {
		calls++
		return spool.Cost{Micros: int64(calls), Currency: []string{"EUR", "USD"}[calls-1]}, nil
	}, spooltest.NewModel(spooltest.Say("one"), spooltest.Say("two"))))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	s.start(e, "r2", "go on")
	s.until("the second run", func() bool { return s.run("r2").State.Terminal() })
	u, err := e.Usage(context.Background(), chat)
	if err != nil || u.Tokens.Currency != "EUR" || u.Tokens.CostMicros != 1 || u.Tokens.Unpriced != 1 {
		s.Errorf("the thread's costs: %+v, %v", u.Tokens, err)
	}
	s.same("by currency", u.Tokens.Costs,
		[]wire.CurrencyCost{{Currency: "EUR", CostMicros: 1, Calls: 1}, {Currency: "USD", CostMicros: 2, Calls: 1}})
}

// testUsageAbsent has a provider that reports no counts, which are estimated, and one that reports zeros.
func testUsageAbsent(s usageTest) {
	e := s.working(
		s.priced(perToken, spooltest.NewModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "look"}),
			spooltest.Turn{Text: []string{"hi"}, Usage: spooltest.Tokens(0, 0)}), plain("look", "1")),
	)
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	rows := s.ledger()
	guess := rows[0].Guess
	if guess.Input == nil || guess.Output == nil || *guess.Input < 1 || *guess.Output < 1 {
		s.Fatalf("the estimate is %s", compare.Dump(guess))
	}
	cost := table(2**guess.Input + 3**guess.Output)
	cost.Source = spool.CostEstimate
	first := s.row(1, wire.OutcomeFinished, spool.Usage{}, cost)
	first.Guess = guess
	s.same("rows", rows, []wire.UsageRow{first, s.row(2, wire.OutcomeFinished, spooltest.Tokens(0, 0), table(0))})
	s.same("what the run cost", s.run("r1").Costs(), []wire.Money{{Micros: cost.Micros, Currency: "USD"}})
}

// testUsageCutOff stops an answer before its provider has reported usage.
func testUsageCutOff(s usageTest) {
	gate := make(chan struct{})
	m := spooltest.NewModel(spooltest.Turn{Text: []string{"12345678", "90"}, Gate: gate, Usage: spooltest.Tokens(20, 2)})
	e := s.working(s.priced(perToken, m))
	s.start(e, "r1", "go")
	s.until("the answer", func() bool { return m.Asked() == 1 })
	<-time.After(time.Second)
	s.stop(e)
	s.ended(wire.Cancelled)
	rows := s.ledger()
	if len(rows) != 1 || rows[0].Outcome != wire.OutcomeAborted || rows[0].Usage != (spool.Usage{}) {
		s.Fatalf("rows: %s", compare.Dump(rows))
	}
	guess := rows[0].Guess
	if guess.Input == nil || guess.Output == nil || *guess.Input < 1 || *guess.Output < 3 || *guess.Output > 20 {
		s.Fatalf("the guess: %s", compare.Dump(guess))
	}
	cost := 2**guess.Input + 3**guess.Output
	s.same("the cost", rows[0].Cost, &spool.Cost{Micros: cost, Currency: "USD", Source: spool.CostEstimate, Version: "7"})
	u, err := e.Usage(context.Background(), chat)
	if err != nil {
		s.Fatal(err)
	}
	line := u.Tokens.Lines[0]
	s.same("what the provider counted",
		[]int64{line.InputTokens, line.OutputTokens, u.Tokens.TotalTokens, s.run("r1").TotalTokens}, []int64{0, 0, 0, 0})
	s.same("what was guessed", []any{line.Estimated, line.EstimatedInputTokens, line.EstimatedOutputTokens},
		[]any{int64(1), *guess.Input, *guess.Output})
}

// testUsageCutOffCounted stops an answer whose provider has reported the prompt's tokens.
func testUsageCutOffCounted(s usageTest) {
	gate := make(chan struct{})
	input := int64(20)
	m := spooltest.NewModel(spooltest.Turn{Text: []string{"12345678"}, Early: spool.Usage{Input: &input}, Gate: gate})
	e := s.working(s.priced(perToken, m))
	s.start(e, "r1", "go")
	s.until("the answer", func() bool { return m.Asked() == 1 })
	<-time.After(time.Second)
	s.stop(e)
	s.ended(wire.Cancelled)
	rows := s.ledger()
	if len(rows) != 1 || rows[0].Guess.Input != nil || rows[0].Guess.Output == nil || *rows[0].Usage.Input != 20 ||
		rows[0].Usage.Output != nil {
		s.Fatalf("rows: %s", compare.Dump(rows))
	}
	s.same("the run's count", s.run("r1").TokenCount, spool.TokenCount{InputTokens: 20, TotalTokens: 20})
}

// testUsageRefused has a provider that refuses the request, for which no usage may be guessed.
func testUsageRefused(s usageTest) {
	e := s.working(
		s.priced(perToken, spooltest.NewModel(spooltest.Turn{Err: &spool.ModelError{Status: 401, Message: "no"}})),
	)
	s.start(e, "r1", "go")
	s.ended(wire.Failed)
	s.same("rows", s.ledger(), []wire.UsageRow{s.row(1, wire.OutcomeError, spool.Usage{}, nil)})
}

// testUsageHandedBack shuts a worker down in the middle of an answer.
func testUsageHandedBack(s usageTest) {
	gate := make(chan struct{})
	m := spooltest.NewModel(spooltest.Turn{Text: []string{"half"}, Gate: gate},
		spooltest.Turn{Text: []string{"whole"}, Usage: spooltest.Tokens(20, 2)})
	c := s.priced(perToken, m)
	e := s.engine(c)
	s.start(e, "r1", "go")
	stop := s.work(e)
	s.until("the answer", func() bool { return m.Asked() == 1 })
	<-time.After(time.Second)
	stop()
	s.working(c)
	s.ended(wire.Completed)
	rows := s.ledger()
	if len(rows) != 2 || rows[0].Outcome != wire.OutcomeAborted || !rows[0].Estimated() ||
		rows[1].Outcome != wire.OutcomeFinished {
		s.Errorf("rows: %s", compare.Dump(rows))
	}
}

// testUsageLost has a worker die in the middle of an answer.
func testUsageLost(s usageTest) {
	gate := make(chan struct{})
	m := spooltest.NewModel(spooltest.Turn{Text: []string{"half"}, Gate: gate},
		spooltest.Turn{Text: []string{"whole"}, Usage: spooltest.Tokens(20, 2)})
	c := s.priced(perToken, m)
	s.dies(c, func() bool { return m.Asked() == 1 })
	s.working(c)
	s.ended(wire.Completed)
	s.same("rows", s.ledger(), []wire.UsageRow{
		s.row(1, wire.OutcomeLost, spool.Usage{}, nil),
		s.row(1, wire.OutcomeFinished, spooltest.Tokens(20, 2), table(46)),
	})
}

// testUsageLostInTool lets a worker die while a tool runs: the answer was already counted.
func testUsageLostInTool(s usageTest) {
	slow := plain("slow", "1")
	slow.Idempotent = true
	var running atomic.Int64
	slow.Call = func(ctx context.Context, _ spool.ToolCall) (json.RawMessage, error) {
		if running.Add(1) == 1 {
			<-ctx.Done()
		}
		return json.RawMessage("1"), ctx.Err()
	}
	c := s.priced(perToken, spooltest.NewReplayModel(
		spooltest.Turn{Usage: spooltest.Tokens(1, 1), Calls: []spooltest.Call{{ID: "c1", Name: "slow"}}},
		spooltest.Turn{Text: []string{"done"}, Usage: spooltest.Tokens(2, 2)},
	), slow)
	s.dies(c, func() bool { return running.Load() == 1 })
	s.working(c)
	s.ended(wire.Completed)
	s.same("rows", s.ledger(), []wire.UsageRow{
		s.row(1, wire.OutcomeFinished, spooltest.Tokens(1, 1), table(5)),
		s.row(2, wire.OutcomeFinished, spooltest.Tokens(2, 2), table(10)),
	})
}

// testUsageLostStopped stops a run whose worker has died in the middle of an answer.
func testUsageLostStopped(s usageTest) {
	gate := make(chan struct{})
	m := spooltest.NewModel(spooltest.Turn{Text: []string{"half"}, Gate: gate})
	c := s.priced(perToken, m)
	s.dies(c, func() bool { return m.Asked() == 1 })
	<-time.After(time.Minute)
	s.stop(s.engine(c))
	s.ended(wire.Cancelled)
	s.same("rows", s.ledger(), []wire.UsageRow{s.row(1, wire.OutcomeLost, spool.Usage{}, nil)})
}

// dies starts run r1 and kills its worker when the condition holds.
func (s usageTest) dies(c engine.Config, when func() bool) {
	s.Helper()
	f := spooltest.NewFaulty(s.join())
	e := s.over(f.Backend(), c)
	s.start(e, "r1", "go")
	stop := s.work(e)
	s.until("the time to die", when)
	<-time.After(time.Second)
	crash(f)
	stop()
}
