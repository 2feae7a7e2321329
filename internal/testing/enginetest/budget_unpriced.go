package enginetest

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/price"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// pricesOf is a pricer that has a price for the given models only, in USD except for the model "euro".
func pricesOf(models ...string) pricer {
	return func(c price.Charge) (spool.Cost, error) {
		cost, err := perToken(c)
		switch {
		case c.Receipt != nil:
			return *c.Receipt, nil
		case !slices.Contains(models, c.Model):
			return spool.Cost{}, spool.Errorf(spool.NotFound, "no price of %s", c.Model)
		case c.Model == "euro":
			cost.Currency = "EUR"
		}
		return cost, err
	}
}

// receipted is a model whose provider reports what its answers cost.
type receipted struct {
	*spooltest.Model

	currency string
}

func (r receipted) Describe() spool.ModelInfo {
	info := r.Model.Describe()
	info.ReceiptCurrency = r.currency
	return info
}

// testBudgetUnpriced has models without a price. Whoever reaches one of them gets no budget of money.
func testBudgetUnpriced(s budgetTest) {
	spare := spooltest.NewModel()
	config := func() engine.Config {
		c := s.budgeted(spool.Budget{}, spooltest.NewModel())
		c.Pricer = pricesOf("m", "euro")
		c.Models["spare"], c.Models["euro"] = spare, spare
		c.Models["dear"] = receipted{spare, "USD"}
		c.Models["abroad"] = receipted{spare, "EUR"}
		c.Agents = append(c.Agents, spool.Agent{Name: "b", Model: "m"})
		return c
	}
	const noPrice = `the model "spare" has no price: set prices.spare, or budget.unpriced to allow`
	for name, test := range map[string]struct {
		change func(c *engine.Config)
		want   string // "" for none
	}{
		"priced":    {func(*engine.Config) {}, ""},
		"own model": {func(c *engine.Config) { c.Agents[0].Model = "spare" }, noPrice},
		"fallback":  {func(c *engine.Config) { c.Agents[0].Fallbacks = []string{"dear", "spare"} }, noPrice},
		"summaries": {func(c *engine.Config) { c.Context.CompactionModel = "spare" }, noPrice},
		"subagent":  {func(c *engine.Config) { c.Agents[0].Spawn = spawnOf(spool.Profile{Model: "spare"}) }, noPrice},
		"subagent's fallback": {func(c *engine.Config) {
			c.Agents[0].Spawn = spawnOf(spool.Profile{Fallbacks: []string{"spare"}, Spawns: true})
		}, noPrice},
		"other agent": {func(c *engine.Config) {
			c.Agents[0].Transfers = map[string]spool.Transfer{"b": {}}
			c.Agents[1].Transfers, c.Agents[1].Fallbacks = map[string]spool.Transfer{"a": {}}, []string{"spare"}
		}, noPrice},
		"other currency": {
			func(c *engine.Config) { c.Agents[0].Fallbacks = []string{"euro"} },
			`the model "euro" has its price in EUR, and "m" in USD`,
		},
		"reports abroad": {
			func(c *engine.Config) { c.Agents[0].Fallbacks = []string{"abroad"} },
			`the model "abroad" has its price in EUR, and "m" in USD`,
		},
		"reports": {func(c *engine.Config) { c.Agents[0].Model, c.Agents[0].Fallbacks = "dear", []string{"m"} }, ""},
		"allowed": {func(c *engine.Config) {
			c.Budget.AllowUnpriced, c.Agents[0].Model, c.Agents[0].Fallbacks = true, "spare", []string{"euro"}
		}, ""},
	} {
		c := config()
		test.change(&c)
		e := s.engine(c)
		_, err := e.Run(context.Background(), spool.ThreadKey{Tenant: chat.Tenant},
			wire.StartRequest{Prompt: "go", Budget: spool.Budget{CostMicros: 1}})
		s.refusal("a start, "+name, err, "costBudgetMicros cannot be kept, because ", test.want)
		for field, b := range map[string]*spool.Budget{
			"default": &c.Budget.Default, "most": &c.Budget.Max, "agent": &c.Agents[0].Budget,
		} {
			before := *b
			b.CostMicros = 1
			_, err := engine.New(s.backend, c)
			*b = before
			s.refusal("a configuration, "+name+", "+field, err,
				`Config.Agents: agent "a": costBudgetMicros cannot be kept, because `, test.want)
		}
	}
	c := config()
	c.Agents[0].Budget = spool.Budget{CostMicros: 1, Currency: "EUR"}
	_, err := engine.New(s.backend, c)
	s.refusal("another currency than the budget's", err, "", `the model "m" has its price in USD and not in EUR`)
	_, err = s.engine(config()).Run(context.Background(), chat,
		wire.StartRequest{Prompt: "go", StartOptions: wire.StartOptions{Model: "spare"}, Budget: spool.Budget{CostMicros: 1}})
	s.refusal("a start that names the model", err, "", noPrice)
}

// refusal checks that an error refuses a model, or that there is none if want is empty.
func (s budgetTest) refusal(what string, err error, begin, want string) {
	s.Helper()
	text := spool.MessageOf(err)
	if ok := spool.CodeOf(err) == spool.Invalid && strings.HasPrefix(text, begin) &&
		strings.Contains(text, want); ok != (want != "") || want == "" && err != nil {
		s.Errorf("%s: %v, want %q", what, err, want)
	}
}

func spawnOf(p spool.Profile) *spool.Spawn {
	return &spool.Spawn{Profiles: map[string]spool.Profile{"helper": p}}
}

// testBudgetUnpricedRun has a run that falls back to a model whose price is gone since the start. The run ends before
// it asks that model, although its agent parks runs for a larger budget.
func testBudgetUnpricedRun(s budgetTest) {
	spare := spooltest.NewModel(spooltest.Say("for nothing"))
	c := s.budgeted(spool.Budget{}, spooltest.NewModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "look"}),
		fails(overloaded())))
	c.Models["spare"], c.Agents[0].Fallbacks, c.Agents[0].OnBudget = spare, []string{"spare"}, spool.BudgetPark
	c.Pricer = pricesOf("m", "spare")
	s.history.Bounded = false
	s.startAs(s.engine(c), chat, wire.StartRequest{Prompt: "go", RunID: "r1", Budget: spool.Budget{CostMicros: 100_000}})
	c.Pricer = pricesOf("m")
	s.working(c)
	var told wire.CostBudgetExhausted
	s.endsBy(wire.StopCostBudget, wire.EntryCostBudgetExhausted, &told)
	if told.UnpricedModel != "spare" || told.CostBudgetMicros != 100_000 || told.CostMicros >= 100_000 ||
		spare.Asked() != 0 {
		s.Errorf("the record tells %+v, and the model was asked %d times", told, spare.Asked())
	}
	s.wellFormed()
}

// testBudgetUnreported has a model whose provider reports costs, but none of one answer. The run ends before it asks
// that model again, because the budget of money does not bound it.
func testBudgetUnreported(s budgetTest) {
	look := func(id spool.ToolCallID, micros *spool.Cost) spooltest.Turn {
		t := spooltest.Use(spooltest.Call{ID: id, Name: "look"})
		t.Cost = micros
		return t
	}
	m := spooltest.NewModel(look("c1", &spool.Cost{Micros: 7, Currency: "USD"}), look("c2", nil),
		spooltest.Say("for nothing"))
	c := s.budgeted(spool.Budget{CostMicros: 100_000}, m)
	c.Models["m"], c.Pricer, c.Agents[0].OnBudget = receipted{m, "USD"}, pricesOf(), spool.BudgetPark
	s.history.Bounded = false
	s.start(s.working(c), "r1", "go")
	var told wire.CostBudgetExhausted
	s.endsBy(wire.StopCostBudget, wire.EntryCostBudgetExhausted, &told)
	if told.UnpricedModel != "m" || told.CostMicros != 7 || m.Asked() != 2 {
		s.Errorf("the record tells %+v, and the model was asked %d times", told, m.Asked())
	}
	s.wellFormed()
}

// testBudgetUnpricedSpawn has an agent that names a model without a price for a nested run. That run ends, and its
// parent goes on.
func testBudgetUnpricedSpawn(s budgetTest) {
	spare := spooltest.NewModel(spooltest.Say("for nothing"))
	args, err := json.Marshal(map[string]string{"name": "helper", "instructions": "help", "model": "spare"})
	if err != nil {
		s.Fatal(err)
	}
	c := s.budgeted(spool.Budget{CostMicros: 100_000}, spooltest.NewModel(
		spooltest.Use(spooltest.Call{ID: "c1", Name: spool.SpawnTool, Args: string(args)}), spooltest.Say("done")))
	c.Models["spare"], c.Agents[0].Spawn = spare, spawnOf(spool.Profile{})
	c.Pricer = pricesOf("m")
	s.history.Bounded = false
	s.start(s.working(c), "r1", "go")
	s.ended(wire.Completed)
	if r := s.run("r1"); r.StopReason != wire.StopCompleted || spare.Asked() != 0 {
		s.Errorf("the run: %+v, and the model was asked %d times", r, spare.Asked())
	}
}
