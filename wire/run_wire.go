package wire

import (
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
)

// RunJSON is a [Run] as clients see it, and its JSON form.
type RunJSON struct {
	ID                spool.RunID      `doc:"The run's id."                                                                    json:"id"`
	ThreadID          spool.ThreadID   `doc:"Its thread."                                                                      json:"threadId"`
	ParentID          spool.RunID      `doc:"The run that spawned this one. Left out: the run is not nested."                  json:"parentRunId,omitempty"`
	CallID            spool.ToolCallID `doc:"The tool call that spawned the run."                                              json:"parentToolCallId,omitempty"`
	Depth             int              `doc:"Zero for a run that was started over HTTP."                                       json:"depth"`
	Agent             string           `doc:"The agent that runs."                                                             json:"agent"`
	Model             string           `doc:"The model that was asked for, or the agent's."                                    json:"model"`
	State             State            `doc:"The state of the run."                                                            json:"state"`
	StopReason        StopReason       `doc:"Why it ended."                                                                    json:"stopReason,omitempty"`
	Error             string           `doc:"Why it failed, for a person."                                                     json:"error,omitempty"`
	Expired           Expired          `doc:"The questions that nobody answered in time. Left out: none."                      json:"expired,omitzero"`
	StartedBy         string           `doc:"The subject who started the run, from the credentials."                           json:"startedBy,omitempty"`
	EnqueuedAt        time.Time        `doc:"When it was accepted."                                                            json:"enqueuedAt,omitzero"`
	StartedAt         time.Time        `doc:"When a worker first claimed it."                                                  json:"startedAt"`
	EndedAt           time.Time        `doc:"When it ended."                                                                   json:"endedAt,omitzero"`
	MaxSteps          int              `doc:"The cap that the start asked for."                                                json:"maxSteps,omitempty"`
	Steps             int              `doc:"How many steps are finished."                                                     json:"steps"`
	Attempts          int              `doc:"How many attempts failed since the last finished step."                           json:"attempts"`
	InputTokens       int64            `doc:"Tokens that the model read, cached ones included."                                json:"inputTokens"`
	CachedInputTokens int64            `doc:"The part of them that came from a cache."                                         json:"cachedInputTokens"`
	OutputTokens      int64            `doc:"Tokens that the model wrote."                                                     json:"outputTokens"`
	TotalTokens       int64            `doc:"Both."                                                                            json:"totalTokens"`
	Prompt            string           `doc:"The brief of a nested run, cut short."                                            json:"prompt,omitempty"`
	Result            *NestedResult    `doc:"The result that a nested run returned to the run that spawned it."                json:"result,omitempty"           nullable:"false"`
	CostMicros        int64            `doc:"The cost of the run and of all runs nested in it, in millionths of the currency." json:"costMicros,omitempty"`
	Currency          string           `doc:"The currency of costMicros. Left out: no price is known."                         example:"USD"                     json:"currency,omitempty"`
	DurationMS        int64            `doc:"How long it ran."                                                                 json:"durationMs,omitempty"`
	QueuedMS          int64            `doc:"How long it waited for a worker."                                                 json:"queuedMs,omitempty"`
	TokenBudget       int64            `doc:"How many tokens the run and its nested runs may use. Left out: any number."       json:"tokenBudget,omitempty"`
	CostBudgetMicros  int64            `doc:"The run's budget, in millionths of the currency."                                 json:"costBudgetMicros,omitempty"`
	ToolCallBudget    int64            `doc:"How often it may call tools."                                                     json:"toolCallBudget,omitempty"`
	WallTimeMS        int64            `doc:"How long the run may execute, in milliseconds."                                   json:"wallTimeMs,omitempty"`
}

// MarshalJSON writes the run as clients see it.
func (r Run) MarshalJSON() ([]byte, error) { return json.Marshal(r.Wire()) }

// Wire returns the run as clients see it.
func (r Run) Wire() RunJSON {
	out := RunJSON{
		ID: r.ID, ThreadID: r.ThreadID, ParentID: r.ParentID, CallID: r.CallID, Depth: r.Depth, Agent: r.Agent, Model: r.Model,
		State: r.State, StopReason: r.StopReason, Error: r.Error, StartedBy: r.StartedBy,
		EnqueuedAt: r.EnqueuedAt, StartedAt: r.StartedAt, EndedAt: r.EndedAt, MaxSteps: r.MaxSteps, Steps: r.Steps, Attempts: r.Attempts,
		InputTokens: r.InputTokens, CachedInputTokens: r.CachedInputTokens, OutputTokens: r.OutputTokens, TotalTokens: r.TotalTokens,
		Prompt: r.Prompt, Result: r.Result, CostMicros: r.CostMicros, Currency: r.Currency, Expired: r.Expired,
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
		ID: in.ID, ThreadID: in.ThreadID, ParentID: in.ParentID, CallID: in.CallID, Depth: in.Depth, Agent: in.Agent, Model: in.Model,
		State: in.State, StopReason: in.StopReason, Error: in.Error, StartedBy: in.StartedBy,
		EnqueuedAt: in.EnqueuedAt, StartedAt: in.StartedAt, EndedAt: in.EndedAt, MaxSteps: in.MaxSteps, Steps: in.Steps, Attempts: in.Attempts,
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
