package enginetest

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// budgetScript has a run that uses its budget up, waits for a larger one, and continues, while faults
// happen. Whatever the fault is, nothing is spent twice or beyond the budget, and no reservation stays.
func budgetScript(t *engineTest, own bool, faults ...spooltest.Fault) int {
	s := budgetTest{t}
	m := frugal(40, func(_ spool.ModelRequest, step int) spooltest.Turn {
		switch step {
		case 0, 1:
			return spooltest.Turn{
				Text:  []string{fmt.Sprintf("step %d", step)},
				Calls: []spooltest.Call{{ID: spool.ToolCallID(fmt.Sprintf("c%d", step)), Name: "once"}},
			}
		default:
			return spooltest.Say("done")
		}
	})
	config := s.asksForMore(spool.Budget{Tokens: 160, CostMicros: 9000, ToolCalls: 5}, m, plain("once", `"done"`))
	config.Agents[0].MaxOutputTokens = 40
	c := newCampaign(s.engineTest, config, 1, own)
	first, stop := c.survive(faults, []string{"a"}, func(n *node) {
		c.answerAll(n.Engine, func(p store.Park) wire.Response {
			if p.Reason != wire.ParkBudget {
				return wire.Response{Approved: true}
			}
			return wire.Response{Approved: true, Payload: json.RawMessage(`{"tokenBudget":9000}`), Digest: p.Digest}
		})
	})
	calls := first.faulty.Calls()
	if r := s.run("r1"); r.StopReason != wire.StopCompleted || r.Steps != 3 || r.Allowance.Parks == 0 ||
		r.Allowance.Spent.ToolCalls != 2 {
		s.Errorf("the run: %+v, %+v", r, r.Allowance)
	}
	s.wellFormed()
	c.finish(stop)
	return calls
}

// someBudget gives the campaign's runs a budget, which some of them use up.
func (c *campaign) someBudget() {
	c.config.Pricer = pricer(perToken)
	c.config.Budget.Default = spool.Budget{Tokens: int64(200 + c.n(2000)), ToolCalls: int64(1 + c.n(8))}
	if c.n(2) == 0 {
		c.config.Budget.Default.CostMicros = int64(500 + c.n(5000))
	}
	if c.n(2) == 0 {
		c.config.Budget.Default.WallTime = time.Duration(1+c.n(15)) * time.Second
	}
	c.config.Budget.OnBudget = []spool.BudgetAction{spool.BudgetEnd, spool.BudgetPark}[c.n(2)]
}

// moreBudget answers a park for a larger budget.
func (c *campaign) moreBudget(who ...any) wire.Response {
	r := wire.Response{Approved: c.n(4, who...) > 0}
	if r.Approved {
		r.Payload = json.RawMessage(
			fmt.Sprintf(`{"tokenBudget":%d,"costBudgetMicros":%d,"toolCallBudget":%d,"wallTimeMs":%d}`, 9000+c.n(9000, who...),
				90_000+c.n(9000, who...), 50+c.n(50, who...), 600_000+c.n(9, who...)),
		)
	}
	return r
}

// testBudgetStoreFails lets each call of the store fail in turn while a run uses its budget up with its
// last step. The run must end by that budget, whatever could not be read meanwhile.
func testBudgetStoreFails(s budgetTest) {
	c := s.budgeted(spool.Budget{Tokens: 300},
		spooltest.NewReplayModel(spooltest.Turn{
			Usage: spooltest.Tokens(200, 100), Calls: []spooltest.Call{{ID: "c1", Name: "look"}},
		}))
	s.history.Bounded = false // a repeated model call uses as much again
	c.Agents[0].MaxSteps, c.Worker.SweepEvery = 1, time.Second
	e := s.engine(c)
	for call, calls := 1, 2; call <= calls; call++ {
		key := aloneTest(s).startOn(e, fmt.Sprintf("t%02d", call), "go")
		f := spooltest.NewFaulty(s.join())
		f.Plan(spooltest.Fault{Call: call, Kind: spooltest.FailBefore})
		stop := s.work(s.over(f.Backend(), c))
		s.until("the end of the run", func() bool { return aloneTest(s).firstRun(key).State.Terminal() })
		if call == 1 {
			calls = f.Calls()
		}
		stop()
		if r := aloneTest(s).firstRun(key); r.StopReason != wire.StopTokenBudget {
			s.Errorf("call %d fails: the run ended as %s by %q", call, r.State, r.StopReason)
		}
	}
}
