package config

import (
	"slices"

	"github.com/spoolhq/spool"
)

// Budgets is the section budget. A zero field is not in the file.
type Budgets struct {
	// Each is the budget of runs whose start and agent have none.
	Each spool.Budget
	// Most is the section most: the largest budget that a start or an answer can set.
	Most     spool.Budget
	OnBudget spool.BudgetAction
	// AllowUnpriced allows models without a price in runs with a budget of money.
	AllowUnpriced bool
}

func budgetOptions(b *Budgets) table {
	var unpriced string
	return slices.Concat(boundsOptions(&b.Each), table{
		row("on_exhausted", onExhausted(&b.OnBudget),
			"What happens when the budget is used up: end, or park to ask for more. Default: end."),
		row("unpriced", oneOf(&unpriced, "refuse", "allow").then(func(value) { b.AllowUnpriced = unpriced == "allow" }),
			"What happens to a budget of money over a model without a price: refuse, or allow, which does not count "+
				"its calls. Default: refuse."),
		row("most", fields(boundsOptions(&b.Most)), "The most that a start or an answer can set."),
	})
}

// boundsOptions are the bounds of a budget.
func boundsOptions(b *spool.Budget) table {
	return table{
		row("tokens", integer(&b.Tokens), "Tokens of all model calls."),
		row("cost_micros", integer(&b.CostMicros).then(func(v value) {
			if b.CostMicros > 0 && v.d.config.Prices.None() {
				v.problemf("needs prices, as nothing has a cost without")
			}
		}), "Cost in millionths of the currency. It needs prices."),
		row("currency", text(&b.Currency), "The currency of the cost, such as USD."),
		row("tool_calls", integer(&b.ToolCalls), "Calls of tools."),
		row("wall_time", duration(&b.WallTime), "Time that workers execute the run."),
	}
}

// onExhausted is what happens to a run whose budget is used up.
func onExhausted(to *spool.BudgetAction) kind {
	return oneOf(to, string(spool.BudgetEnd), string(spool.BudgetPark))
}
