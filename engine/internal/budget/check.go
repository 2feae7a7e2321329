package budget

import "github.com/spoolhq/spool"

// Check returns an [spool.Invalid] error for an invalid budget of the configuration.
func Check(name string, b spool.Budget, priced bool) error {
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
			return spool.Errorf(spool.Invalid, "%s.%s is negative", name, f.name)
		}
	}
	if b.CostMicros > 0 && !priced {
		return spool.Errorf(spool.Invalid, "%s.CostMicros needs a Config.Pricer", name)
	}
	return nil
}

// CheckAction returns an [spool.Invalid] error for an unknown action.
func CheckAction(name string, on spool.BudgetAction) error {
	switch on {
	case "", spool.BudgetEnd, spool.BudgetPark:
		return nil
	default:
		return spool.Errorf(spool.Invalid, "%s has no action of the name %q", name, on)
	}
}

// CheckStart returns an [spool.Invalid] error for an invalid budget of a start.
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
