package spool

import "time"

// TokenCount counts tokens. InputTokens includes the cached ones.
type TokenCount struct {
	InputTokens       int64 `json:"inputTokens"`
	CachedInputTokens int64 `json:"cachedInputTokens"`
	OutputTokens      int64 `json:"outputTokens"`
	TotalTokens       int64 `json:"totalTokens"`
}

// Add adds the counts of other.
func (c *TokenCount) Add(other TokenCount) {
	c.InputTokens += other.InputTokens
	c.CachedInputTokens += other.CachedInputTokens
	c.OutputTokens += other.OutputTokens
	c.TotalTokens += other.TotalTokens
}

// Usage is what one model attempt used, as its provider reported it. A nil count was
// not reported, which is not the same as zero.
type Usage struct {
	// Input counts the prompt, cached tokens included.
	Input *int64 `json:"inputTokens,omitempty"`
	// CacheRead counts the prompt tokens that came from a cache.
	CacheRead *int64 `json:"cacheReadInputTokens,omitempty"`
	// CacheWrite counts the prompt tokens that were written to a cache.
	CacheWrite *int64 `json:"cacheWriteInputTokens,omitempty"`
	// Output counts what the model wrote, reasoning included.
	Output *int64 `json:"outputTokens,omitempty"`
	// Reasoning counts the reasoning tokens among the output.
	Reasoning *int64 `json:"reasoningTokens,omitempty"`
}

// Count returns the usage as counts, with zero for what was not reported.
func (u Usage) Count() TokenCount {
	value := func(n *int64) int64 {
		if n == nil {
			return 0
		}
		return *n
	}
	c := TokenCount{InputTokens: value(u.Input), CachedInputTokens: value(u.CacheRead), OutputTokens: value(u.Output)}
	c.TotalTokens = c.InputTokens + c.OutputTokens
	return c
}

// Outcome says how a model attempt ended.
type Outcome string

// The outcomes.
const (
	OutcomeFinished Outcome = "finished"
	OutcomeAborted  Outcome = "aborted"
	OutcomeError    Outcome = "error"
)

// UsageRow is a row of the usage ledger: one per model attempt, the aborted and failed
// ones included.
type UsageRow struct {
	RunID   RunID
	AgentID AgentID
	// Agent is the name of the agent.
	Agent string
	Step  int
	// Model is the name that the run asked for, ModelID what the provider calls it.
	Model, ModelID string
	Outcome        Outcome
	Usage          Usage
	CreatedAt      time.Time
}

// UsageLine sums the ledger over one agent and model.
type UsageLine struct {
	AgentID               *AgentID `json:"agentId"`
	AgentName             string   `json:"agentName"`
	Model                 string   `json:"model"`
	ModelID               string   `json:"modelId"`
	InputTokens           int64    `json:"inputTokens"`
	CacheReadInputTokens  int64    `json:"cacheReadInputTokens"`
	CacheWriteInputTokens int64    `json:"cacheWriteInputTokens"`
	OutputTokens          int64    `json:"outputTokens"`
	ReasoningTokens       int64    `json:"reasoningTokens"`
	Calls                 int64    `json:"calls"`
	Estimated             bool     `json:"estimated"`
	CostMicros            int64    `json:"costMicros"`
}

// UsageTotals sums the ledger of a thread.
type UsageTotals struct {
	TokenCount
	CostMicros int64 `json:"costMicros"`
	// Unpriced counts the calls that no price was known for.
	Unpriced int64       `json:"unpriced"`
	Lines    []UsageLine `json:"lines"`
}

// ContextUsage says how full the model's window is with the thread's history.
type ContextUsage struct {
	// UsedTokens is the last prompt and answer as the provider counted them.
	UsedTokens int64 `json:"usedTokens"`
	// BudgetTokens is the window less what is kept for the answer.
	BudgetTokens int64 `json:"budgetTokens"`
	// CompactAtTokens is where older turns would be summarised. Zero: nowhere.
	CompactAtTokens int64 `json:"compactAtTokens"`
	Messages        int   `json:"messages"`
}

// ThreadUsage is the answer to a question for a thread's usage.
type ThreadUsage struct {
	Tokens  UsageTotals  `json:"tokens"`
	Context ContextUsage `json:"context"`
	Model   string       `json:"model"`
}
