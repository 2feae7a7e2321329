package spool

import "time"

// Budget bounds what a dispatched run and its nested runs may use together. A zero field sets no bound.
type Budget struct {
	// Tokens bounds the tokens of all prompts and answers.
	Tokens int64 `json:"tokens,omitempty"`
	// CostMicros bounds what the model calls cost, in millionths of Currency.
	CostMicros int64 `json:"costMicros,omitempty"`
	// Currency is the currency of CostMicros. Calls with a price in another currency count as unpriced.
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

// Spent is what a dispatched run and its nested runs have used of its [Budget]. It includes estimates for
// calls that were cut off, because those are paid for too.
type Spent struct {
	Tokens     int64         `json:"tokens,omitempty"`
	CostMicros int64         `json:"costMicros,omitempty"`
	ToolCalls  int64         `json:"toolCalls,omitempty"`
	WallTime   time.Duration `json:"wallTime,omitempty"`
}

// Allowance is the [Budget] of a dispatched run and what is left of it.
type Allowance struct {
	Budget Budget `json:"budget"`
	Spent  Spent  `json:"spent"`
	// Reservations are what the model calls under way may use. Their JSON name is older.
	Reservations []Reservation `json:"holds,omitempty"`
	// Refused counts the tool calls that did not run because the budget was used up, since the
	// budget was last raised.
	Refused int64 `json:"refused,omitempty"`
	// Cut is true if a budget cut the last answer off, so that the run continues after it. A nested run uses
	// no other field of an allowance.
	Cut bool `json:"cut,omitempty"`
	// Unreported is the model whose last answer was finished without a cost, by its configured name. Empty: none.
	Unreported string `json:"unreported,omitempty"`
	// Since is when the present worker claimed the run. Zero: no worker has it.
	Since time.Time `json:"since,omitzero"`
	// Parks counts the parks that have asked for a larger budget.
	Parks int `json:"parks,omitempty"`
}

// Reservation is the part of a budget that is set aside for a model call under way.
type Reservation struct {
	// AgentID is the run that makes the call. Empty: the dispatched run.
	AgentID AgentID   `json:"agentId,omitempty"`
	Agent   string    `json:"agent"`
	Kind    UsageKind `json:"kind"`
	Step    int       `json:"step"`
	Model   string    `json:"model"`
	// Input is the estimated size of the prompt. Tokens is Input and the bound of the answer.
	Input  int64 `json:"input"`
	Tokens int64 `json:"tokens"`
	// CostMicros is the price of Tokens. Zero: no price is known.
	CostMicros int64 `json:"costMicros,omitempty"`
	// Prompt is the price of the prompt alone. Nil: no price is known.
	Prompt *Cost `json:"prompt,omitempty"`
}

// BudgetAction says what happens to a run whose [Budget] is used up.
type BudgetAction string

// The budget actions.
const (
	// BudgetEnd ends the run as COMPLETED, with the stop reason of the budget.
	BudgetEnd BudgetAction = "end"
	// BudgetPark parks the run with the reason [ParkBudget], so that a person can raise the
	// budget. The run ends as with BudgetEnd if the person denies that or does not answer.
	BudgetPark BudgetAction = "park"
)

// TokenBudgetExhausted is the payload of [EntryTokenBudgetExhausted].
type TokenBudgetExhausted struct {
	AgentID     *AgentID `json:"agentId"`
	TokensUsed  int64    `json:"tokensUsed"`
	TokenBudget int64    `json:"tokenBudget"`
}

// CostBudgetExhausted is the payload of [EntryCostBudgetExhausted].
type CostBudgetExhausted struct {
	AgentID          *AgentID `json:"agentId"`
	CostMicros       int64    `json:"costMicros"`
	CostBudgetMicros int64    `json:"costBudgetMicros"`
	Currency         string   `json:"currency,omitempty"`
	// UnpricedModel is the model without a price to which the run has come, by its configured name. Empty: the
	// budget is used up.
	UnpricedModel string `doc:"The model without a price to which the run has come. Left out: the budget is used up." json:"unpricedModel,omitempty"`
}

// ToolCallBudgetExhausted is the payload of [EntryToolCallBudgetExhausted].
type ToolCallBudgetExhausted struct {
	AgentID        *AgentID `json:"agentId"`
	ToolCalls      int64    `json:"toolCalls"`
	ToolCallBudget int64    `json:"toolCallBudget"`
}

// TimeBudgetExhausted is the payload of [EntryTimeBudgetExhausted].
type TimeBudgetExhausted struct {
	AgentID *AgentID `json:"agentId"`
	// WallTimeMS is how long workers have worked on the run, in milliseconds.
	WallTimeMS       int64 `json:"wallTimeMs"`
	WallTimeBudgetMS int64 `json:"wallTimeBudgetMs"`
}
