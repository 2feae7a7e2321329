package spool

import (
	"time"
)

// Budget bounds what a dispatched run and its nested runs may use together. A zero field sets no bound.
type Budget struct {
	// Tokens bounds the tokens of all prompts and answers.
	Tokens int64 `json:"tokens,omitempty"`
	// CostMicros bounds what the model calls cost, in millionths of the currency.
	CostMicros int64 `json:"costMicros,omitempty"`
	// Currency is the currency of the cost. Calls with a price in another currency count as unpriced.
	// Defaults to the currency of the first price.
	Currency string `json:"currency,omitempty"`
	// ToolCalls bounds the calls of tools.
	ToolCalls int64 `json:"toolCalls,omitempty"`
	// WallTime bounds how long workers execute the run, without the time in which it waits for an answer, a
	// worker or the next attempt.
	WallTime time.Duration `json:"wallTime,omitempty"`
}

// Or returns the budget, with the bounds of other in place of missing ones.
func (b Budget) Or(other Budget) Budget {
	if b.Tokens == 0 {
		b.Tokens = other.Tokens
	}
	if b.CostMicros == 0 {
		b.CostMicros = other.CostMicros
	}
	if b.Currency == "" {
		b.Currency = other.Currency
	}
	if b.ToolCalls == 0 {
		b.ToolCalls = other.ToolCalls
	}
	if b.WallTime == 0 {
		b.WallTime = other.WallTime
	}
	return b
}

// Within returns the budget, with the bounds of most in place of missing and larger ones.
func (b Budget) Within(most Budget) Budget {
	for _, f := range []struct {
		bound *int64
		most  int64
	}{
		{&b.Tokens, most.Tokens},
		{&b.CostMicros, most.CostMicros},
		{&b.ToolCalls, most.ToolCalls},
		{(*int64)(&b.WallTime), int64(most.WallTime)},
	} {
		if f.most > 0 && (*f.bound == 0 || *f.bound > f.most) {
			*f.bound = f.most
		}
	}
	if b.Currency == "" {
		b.Currency = most.Currency
	}
	return b
}

// Bounds reports whether the budget bounds anything.
func (b Budget) Bounds() bool {
	return b.Tokens > 0 || b.CostMicros > 0 || b.ToolCalls > 0 || b.WallTime > 0
}

// BudgetAction says what happens to a run whose [Budget] is used up.
type BudgetAction string

// The budget actions.
const (
	// BudgetEnd ends the run as COMPLETED, with the stop reason of the budget.
	BudgetEnd BudgetAction = "end"
	// BudgetPark parks the run with the reason [wire.ParkBudget], so that a person can raise the
	// budget. The run ends as with BudgetEnd if the person denies that or does not answer.
	BudgetPark BudgetAction = "park"
)
