package config

import (
	"slices"

	"github.com/spoolhq/spool"
)

// bounds are the fields of a budget.
var bounds = []string{"tokens", "cost_micros", "currency", "tool_calls", "wall_time"}

// budgets reads the section budget.
func budgets(v value, c *Config) Budgets {
	f := v.fields(append(slices.Clone(bounds), "on_exhausted", "unpriced", "most")...)
	unpriced := f["unpriced"].optionalWord()
	f["unpriced"].among(unpriced, "refuse", "allow")
	return Budgets{
		Each: boundsOf(f, c), OnBudget: onExhausted(f["on_exhausted"]), AllowUnpriced: unpriced == "allow",
		Most: boundsOf(f["most"].fields(bounds...), c),
	}
}

// boundsOf reads the bounds of a budget.
func boundsOf(f map[string]value, c *Config) spool.Budget {
	b := spool.Budget{
		Tokens: int64(f["tokens"].integer()), CostMicros: int64(f["cost_micros"].integer()), Currency: f["currency"].text(),
		ToolCalls: int64(f["tool_calls"].integer()), WallTime: f["wall_time"].duration(),
	}
	if b.CostMicros > 0 && c.Prices.None() {
		f["cost_micros"].problemf("needs prices, as nothing has a cost without")
	}
	return b
}

// onExhausted reads what happens to a run whose budget is used up.
func onExhausted(v value) spool.BudgetAction {
	action := v.text()
	v.among(action, string(spool.BudgetEnd), string(spool.BudgetPark))
	return spool.BudgetAction(action)
}
