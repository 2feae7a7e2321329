package wire

import (
	"time"

	"github.com/spoolhq/spool"
)

// Run is a run as clients see it.
type Run struct {
	ID                spool.RunID         `doc:"The run's id."                                                             json:"id"`
	ThreadID          spool.ThreadID      `doc:"Its thread."                                                               json:"threadId"`
	ParentID          spool.RunID         `doc:"The run that made this one, if one did."                                   json:"parentRunId,omitempty"`
	CallID            spool.ToolCallID    `doc:"The tool call of that run which made this one."                            json:"parentToolCallId,omitempty"`
	Depth             int                 `doc:"Zero for a run that was started over HTTP."                                json:"depth"`
	Agent             string              `doc:"The agent that runs."                                                      json:"agent"`
	Model             string              `doc:"The model that was asked for, or the agent's."                             json:"model"`
	State             spool.State         `doc:"Where the run is."                                                         json:"state"`
	StopReason        spool.StopReason    `doc:"Why it ended."                                                             json:"stopReason,omitempty"`
	Error             string              `doc:"Why it failed, for a person."                                              json:"error,omitempty"`
	StartedBy         string              `doc:"Who started it, by their credentials."                                     json:"startedBy,omitempty"`
	EnqueuedAt        time.Time           `doc:"When it was accepted."                                                     json:"enqueuedAt,omitzero"`
	StartedAt         time.Time           `doc:"When a worker picked it up first."                                         json:"startedAt"`
	EndedAt           time.Time           `doc:"When it ended."                                                            json:"endedAt,omitzero"`
	MaxSteps          int                 `doc:"The cap that the start asked for."                                         json:"maxSteps,omitempty"`
	Steps             int                 `doc:"How many steps are finished."                                              json:"steps"`
	Attempts          int                 `doc:"How many attempts failed since the last finished step."                    json:"attempts"`
	InputTokens       int64               `doc:"Tokens that the model read, cached ones included."                         json:"inputTokens"`
	CachedInputTokens int64               `doc:"Those of them that came from a cache."                                     json:"cachedInputTokens"`
	OutputTokens      int64               `doc:"Tokens that the model wrote."                                              json:"outputTokens"`
	TotalTokens       int64               `doc:"Both."                                                                     json:"totalTokens"`
	CostMicros        int64               `doc:"What the run and those under it cost, in millionths of the currency."      json:"costMicros,omitempty"`
	Currency          string              `doc:"That of costMicros. Left out: nothing was priced."                         example:"USD"                     json:"currency,omitempty"`
	TokenBudget       int64               `doc:"How many tokens the run may use, with all under it. Left out: any number." json:"tokenBudget,omitempty"`
	CostBudgetMicros  int64               `doc:"What it may cost, in millionths."                                          json:"costBudgetMicros,omitempty"`
	ToolCallBudget    int64               `doc:"How often it may call tools."                                              json:"toolCallBudget,omitempty"`
	WallTimeMs        int64               `doc:"How long workers may carry it, in milliseconds."                           json:"wallTimeMs,omitempty"`
	Prompt            string              `doc:"The brief of a nested run, cut short."                                     json:"prompt,omitempty"`
	Result            *spool.NestedResult `doc:"What a nested run told the one that made it."                              json:"result,omitempty"           nullable:"false"`
	DurationMs        int64               `doc:"How long it ran."                                                          json:"durationMs,omitempty"`
	QueuedMs          int64               `doc:"How long it waited for a worker."                                          json:"queuedMs,omitempty"`
}

// RunOf returns a run as clients see it.
func RunOf(r spool.Run) Run {
	out := Run{
		ID: r.ID, ThreadID: r.ThreadID, ParentID: r.ParentID, CallID: r.CallID, Depth: r.Depth, Agent: r.Agent, Model: r.Model,
		State: r.State, StopReason: r.StopReason, Error: r.Error, StartedBy: r.StartedBy,
		EnqueuedAt: r.EnqueuedAt, StartedAt: r.StartedAt, EndedAt: r.EndedAt, MaxSteps: r.MaxSteps, Steps: r.Steps, Attempts: r.Attempts,
		InputTokens: r.InputTokens, CachedInputTokens: r.CachedInputTokens, OutputTokens: r.OutputTokens, TotalTokens: r.TotalTokens,
		CostMicros: r.CostMicros, Currency: r.Currency, Prompt: r.Prompt, Result: r.Result,
	}
	if a := r.Allowance; a != nil {
		out.TokenBudget, out.CostBudgetMicros = a.Budget.Tokens, a.Budget.CostMicros
		out.ToolCallBudget, out.WallTimeMs = a.Budget.ToolCalls, a.Budget.WallTime.Milliseconds()
	}
	if !r.EndedAt.IsZero() {
		out.DurationMs = r.EndedAt.Sub(r.StartedAt).Milliseconds()
	}
	if !r.EnqueuedAt.IsZero() {
		out.QueuedMs = r.StartedAt.Sub(r.EnqueuedAt).Milliseconds()
	}
	return out
}

func RunsOf(all []spool.Run) []Run {
	out := make([]Run, len(all))
	for i, r := range all {
		out[i] = RunOf(r)
	}
	return out
}
