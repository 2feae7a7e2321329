package budget

import "github.com/spoolhq/spool"

// Check fills in what becomes of a run without a budget that is left, and says what is
// wrong with a budget.
func Check(where string, b spool.Budget, on *spool.BudgetAction, priced bool) error {
	for _, f := range []struct {
		name  string
		value int64
	}{
		{"Tokens", b.Tokens},
		{"CostMicros", b.CostMicros},
		{"ToolCalls", b.ToolCalls},
		{"WallTime", int64(b.WallTime)},
	} {
		if f.value < 0 {
			return spool.Errorf(spool.Invalid, "%sBudget.%s is negative", where, f.name)
		}
	}
	switch *on {
	case "", spool.BudgetEnd, spool.BudgetPark:
	default:
		return spool.Errorf(spool.Invalid, "%sOnBudget has no action of the name %q", where, *on)
	}
	if b.CostMicros > 0 && !priced {
		return spool.Errorf(spool.Invalid, "%sBudget.CostMicros needs a Config.Pricer", where)
	}
	return nil
}

// CheckStart says what is wrong with the budget of a start.
func CheckStart(b spool.Budget, priced bool) error {
	for _, f := range []struct {
		name  string
		value int64
	}{
		{"tokenBudget", b.Tokens},
		{"costBudgetMicros", b.CostMicros},
		{"toolCallBudget", b.ToolCalls},
		{"wallTimeMs", int64(b.WallTime)},
	} {
		if f.value < 0 {
			return spool.Errorf(spool.Invalid, "%s must be zero or a positive number", f.name)
		}
	}
	if b.CostMicros > 0 && !priced {
		return spool.Errorf(spool.Invalid, "costBudgetMicros cannot be kept: this server knows no prices")
	}
	return nil
}
