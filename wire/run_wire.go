package wire

import (
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
)

// RunJSON is a [Run] as clients see it, and its JSON form.
type RunJSON struct {
	ID       spool.RunID    `json:"id"`       // The run's id.
	ThreadID spool.ThreadID `json:"threadId"` // Its thread.
	// ParentID is the run that spawned this one. Left out: the run is not nested.
	ParentID spool.RunID `json:"parentRunId,omitempty"`
	// CallID is the tool call that spawned the run.
	CallID spool.ToolCallID `json:"parentToolCallId,omitempty"`
	// Zero for a run that was started over HTTP.
	Depth int    `json:"depth"`
	Agent string `json:"agent"` // The agent that runs.
	// Model is the model that was asked for, or the agent's.
	Model      string     `json:"model"`
	State      State      `json:"state"`                // The state of the run.
	StopReason StopReason `json:"stopReason,omitempty"` // Why it ended.
	Error      string     `json:"error,omitempty"`      // Why it failed, for a person.
	// Expired is the questions that nobody answered in time. Left out: none.
	Expired Expired `json:"expired,omitzero"`
	// StartedBy is the subject who started the run, from the credentials.
	StartedBy  string    `json:"startedBy,omitempty"`
	EnqueuedAt time.Time `json:"enqueuedAt,omitzero"` // When it was accepted.
	// StartedAt is when a worker first claimed it.
	StartedAt time.Time `json:"startedAt"`
	EndedAt   time.Time `json:"endedAt,omitzero"` // When it ended.
	// MaxSteps are the cap that the start asked for.
	MaxSteps int `json:"maxSteps,omitempty"`
	Steps    int `json:"steps"` // How many steps are finished.
	// Attempts is how many attempts failed since the last finished step.
	Attempts int `json:"attempts"`
	// Tokens that the model read, cached ones included.
	InputTokens int64 `json:"inputTokens"`
	// CachedInputTokens are the part of them that came from a cache.
	CachedInputTokens int64 `json:"cachedInputTokens"`
	OutputTokens      int64 `json:"outputTokens"` // Tokens that the model wrote.
	TotalTokens       int64 `json:"totalTokens"`  // Both.
	// Prompt is the brief of a nested run, cut short.
	Prompt string `json:"prompt,omitempty"`
	// Result is the result that a nested run returned to the run that spawned it.
	Result *NestedResult `json:"result,omitempty" nullable:"false"`
	// CostMicros are the cost of the run and of all runs nested in it, in millionths of the currency.
	CostMicros int64 `json:"costMicros,omitempty"`
	// Currency is the currency of costMicros. Left out: no price is known.
	Currency   string `example:"USD"               json:"currency,omitempty"`
	DurationMS int64  `json:"durationMs,omitempty"` // How long it ran.
	// QueuedMS is how long it waited for a worker.
	QueuedMS int64 `json:"queuedMs,omitempty"`
	// TokenBudget is how many tokens the run and its nested runs may use. Left out: any number.
	TokenBudget int64 `json:"tokenBudget,omitempty"`
	// CostBudgetMicros are the run's budget, in millionths of the currency.
	CostBudgetMicros int64 `json:"costBudgetMicros,omitempty"`
	ToolCallBudget   int64 `json:"toolCallBudget,omitempty"` // How often it may call tools.
	// WallTimeMS is how long the run may execute, in milliseconds.
	WallTimeMS int64 `json:"wallTimeMs,omitempty"`
}

// MarshalJSON writes the run as clients see it.
func (r Run) MarshalJSON() ([]byte, error) { return json.Marshal(r.Wire()) }

// Wire returns the run as clients see it.
func (r Run) Wire() RunJSON {
	out := RunJSON{
		ID: r.ID, ThreadID: r.ThreadID, ParentID: r.ParentID, CallID: r.CallID, Depth: r.Depth, Agent: r.Agent,
		Model: r.Model, State: r.State, StopReason: r.StopReason, Error: r.Error, StartedBy: r.StartedBy,
		EnqueuedAt: r.EnqueuedAt, StartedAt: r.StartedAt, EndedAt: r.EndedAt, MaxSteps: r.MaxSteps, Steps: r.Steps,
		Attempts: r.Attempts, InputTokens: r.InputTokens, CachedInputTokens: r.CachedInputTokens,
		OutputTokens: r.OutputTokens, TotalTokens: r.TotalTokens, Prompt: r.Prompt, Result: r.Result,
		CostMicros: r.CostMicros, Currency: r.Currency, Expired: r.Expired,
	}
	if a := r.Allowance; a != nil {
		out.TokenBudget, out.CostBudgetMicros = a.Budget.Tokens, a.Budget.CostMicros
		out.ToolCallBudget, out.WallTimeMS = a.Budget.ToolCalls, a.Budget.WallTime.Milliseconds()
	}
	if !r.EndedAt.IsZero() {
		out.DurationMS = r.EndedAt.Sub(r.StartedAt).Milliseconds()
	}
	if !r.EnqueuedAt.IsZero() {
		out.QueuedMS = r.StartedAt.Sub(r.EnqueuedAt).Milliseconds()
	}
	return out
}

// UnmarshalJSON reads what MarshalJSON writes. Of the Allowance it reads the bounds of the budget, without a currency.
func (r *Run) UnmarshalJSON(b []byte) error {
	var in RunJSON
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*r = in.Run()
	return nil
}

// Run returns the run that [Run.Wire] has written. Of the Allowance it has the bounds of the budget, without a
// currency.
func (in RunJSON) Run() Run {
	r := Run{
		ID: in.ID, ThreadID: in.ThreadID, ParentID: in.ParentID, CallID: in.CallID, Depth: in.Depth, Agent: in.Agent,
		Model: in.Model, State: in.State, StopReason: in.StopReason, Error: in.Error, StartedBy: in.StartedBy,
		EnqueuedAt: in.EnqueuedAt, StartedAt: in.StartedAt, EndedAt: in.EndedAt, MaxSteps: in.MaxSteps, Steps: in.Steps,
		Attempts: in.Attempts,
		TokenCount: spool.TokenCount{
			InputTokens: in.InputTokens, CachedInputTokens: in.CachedInputTokens,
			OutputTokens: in.OutputTokens, TotalTokens: in.TotalTokens,
		},
		Prompt: in.Prompt, Result: in.Result, CostMicros: in.CostMicros, Currency: in.Currency, Expired: in.Expired,
	}
	bounds := spool.Budget{
		Tokens: in.TokenBudget, CostMicros: in.CostBudgetMicros, ToolCalls: in.ToolCallBudget,
		WallTime: time.Duration(in.WallTimeMS) * time.Millisecond,
	}
	if bounds != (spool.Budget{}) {
		r.Allowance = &Allowance{Budget: bounds}
	}
	return r
}
