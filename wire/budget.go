package wire

import (
	"time"

	"github.com/spoolhq/spool"
)

// Spent is what a dispatched run and its nested runs have used of its [spool.Budget]. It includes estimates for
// calls that were cut off, because those are paid for too.
type Spent struct {
	Tokens     int64         `json:"tokens,omitempty"`
	CostMicros int64         `json:"costMicros,omitempty"`
	ToolCalls  int64         `json:"toolCalls,omitempty"`
	WallTime   time.Duration `json:"wallTime,omitempty"`
}

// Allowance is the [spool.Budget] of a dispatched run and what is left of it.
type Allowance struct {
	Budget spool.Budget `json:"budget"`
	Spent  Spent        `json:"spent"`
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
	AgentID spool.AgentID   `json:"agentId,omitempty"`
	Agent   string          `json:"agent"`
	Kind    spool.UsageKind `json:"kind"`
	Step    int             `json:"step"`
	Model   string          `json:"model"`
	// Input is the estimated size of the prompt. Tokens is Input and the bound of the answer.
	Input  int64 `json:"input"`
	Tokens int64 `json:"tokens"`
	// CostMicros is the price of Tokens. Zero: no price is known.
	CostMicros int64 `json:"costMicros,omitempty"`
	// Prompt is the price of the prompt alone. Nil: no price is known.
	Prompt *spool.Cost `json:"prompt,omitempty"`
}

// TokenBudgetExhausted is the payload of [EntryTokenBudgetExhausted].
type TokenBudgetExhausted struct {
	AgentID     *spool.AgentID `json:"agentId"`     // The nested run. Null: the run itself.
	TokensUsed  int64          `json:"tokensUsed"`  // How many tokens it used.
	TokenBudget int64          `json:"tokenBudget"` // How many tokens it might use.
}

// CostBudgetExhausted is the payload of [EntryCostBudgetExhausted].
type CostBudgetExhausted struct {
	AgentID          *spool.AgentID `json:"agentId"`            // The nested run. Null: the run itself.
	CostMicros       int64          `json:"costMicros"`         // The cost in millionths of the currency.
	CostBudgetMicros int64          `json:"costBudgetMicros"`   // The budget in millionths of the currency.
	Currency         string         `json:"currency,omitempty"` // A code such as USD.
	// UnpricedModel is the model without a price to which the run has come. Left out: the budget is used up.
	UnpricedModel string `json:"unpricedModel,omitempty"`
}

// ToolCallBudgetExhausted is the payload of [EntryToolCallBudgetExhausted].
type ToolCallBudgetExhausted struct {
	AgentID        *spool.AgentID `json:"agentId"`        // The nested run. Null: the run itself.
	ToolCalls      int64          `json:"toolCalls"`      // How many tools it called.
	ToolCallBudget int64          `json:"toolCallBudget"` // How many tools it might call.
}

// TimeBudgetExhausted is the payload of [EntryTimeBudgetExhausted].
type TimeBudgetExhausted struct {
	AgentID *spool.AgentID `json:"agentId"` // The nested run. Null: the run itself.
	// WallTimeMS is how long workers have worked on the run, in milliseconds.
	WallTimeMS       int64 `json:"wallTimeMs"`
	WallTimeBudgetMS int64 `json:"wallTimeBudgetMs"` // How long they might work on it.
}
