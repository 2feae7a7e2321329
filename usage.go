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
	c := TokenCount{InputTokens: count(u.Input), CachedInputTokens: count(u.CacheRead), OutputTokens: count(u.Output)}
	c.TotalTokens = c.InputTokens + c.OutputTokens
	return c
}

func count(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// Outcome says how a model attempt ended.
type Outcome string

// The outcomes.
const (
	OutcomeFinished Outcome = "finished"
	// OutcomeAborted is an attempt that was cut off by a stop, a limit of the run or the
	// end of its worker.
	OutcomeAborted Outcome = "aborted"
	OutcomeError   Outcome = "error"
	// OutcomeLost is an attempt whose worker died. It may have been cut off anywhere, also
	// before anything was sent.
	OutcomeLost Outcome = "lost"
)

// UsageKind says what a model was used for.
type UsageKind string

// The kinds of use.
const (
	// UsageStep is a step of an agent.
	UsageStep UsageKind = "step"
	// UsageCompaction is a summary of older turns.
	UsageCompaction UsageKind = "compaction"
	// UsageTool is a use by a tool.
	UsageTool UsageKind = "tool"
)

// UsageRow is a row of the usage ledger: one per model attempt, the aborted, failed and
// lost ones included.
type UsageRow struct {
	// RunID is the dispatched run, also for the attempts of runs under it.
	RunID RunID `json:"runId"`
	// AgentID is the run under it that asked. Empty: the dispatched run's own agent.
	AgentID AgentID `json:"agentId,omitempty"`
	// Agent is the name of the agent.
	Agent string `json:"agentName"`
	// Kind is what the model was used for. A store keeps an empty one as [UsageStep].
	Kind UsageKind `json:"kind"`
	// Step is the step of the run that asked, from 1. Zero: it was for none.
	Step int `json:"step"`
	// Model is the name that the run asked for, ModelID what the provider calls it.
	Model   string `json:"model"`
	ModelID string `json:"modelId"`
	// Requested is what the provider calls the model that was asked: see [Described]. An answer
	// may come from another name, such as that of a version. Empty: not known.
	Requested string  `json:"-"`
	Outcome   Outcome `json:"outcome"`
	// Usage is what the provider reported, and nothing else.
	Usage Usage `json:"usage"`
	// Guess has an Input and Output for those that the provider did not report and that
	// were estimated. It is never part of a sum that says what providers reported.
	Guess Usage `json:"guess,omitzero"`
	// Cost is what the attempt cost. Nil: no price is known, which is not the same as
	// nothing.
	Cost      *Cost     `json:"cost,omitempty"`
	CreatedAt time.Time `json:"createdAt"`
}

// Estimated reports whether a count of the row is a guess.
func (r UsageRow) Estimated() bool { return r.Guess.Input != nil || r.Guess.Output != nil }

// Best returns the usage with the guesses for what was not reported.
func (r UsageRow) Best() Usage {
	u := r.Usage
	if u.Input == nil {
		u.Input = r.Guess.Input
	}
	if u.Output == nil {
		u.Output = r.Guess.Output
	}
	return u
}

// UsageQuery selects rows of the ledger.
type UsageQuery struct {
	// Run leaves out rows of other dispatched runs. Empty: all.
	Run RunID
	// Agent leaves out rows of other agents, where an empty id is that of the dispatched
	// run's own. Nil: all.
	Agent *AgentID
	// Kind leaves out rows of other kinds. Empty: all.
	Kind UsageKind
	// Counted leaves out rows whose prompt the provider has not counted.
	Counted bool
	// Last turns the order around: the newest row comes first.
	Last bool
	// Limit bounds how many are returned. Zero: all.
	Limit int
}

// UsageLine sums the ledger over one agent, model and currency.
type UsageLine struct {
	AgentID   *AgentID `json:"agentId"`
	AgentName string   `json:"agentName"`
	Model     string   `json:"model"`
	ModelID   string   `json:"modelId"`
	// Currency is that of CostMicros. Empty: the line has the calls without a price.
	Currency string `json:"currency,omitempty"`
	// InputTokens includes those read from a cache and written to one.
	InputTokens           int64 `json:"inputTokens"`
	CacheReadInputTokens  int64 `json:"cacheReadInputTokens"`
	CacheWriteInputTokens int64 `json:"cacheWriteInputTokens"`
	OutputTokens          int64 `json:"outputTokens"`
	ReasoningTokens       int64 `json:"reasoningTokens"`
	Calls                 int64 `json:"calls"`
	// Estimated counts the calls that have a guess in place of a count. The guesses are summed
	// apart.
	Estimated             int64 `json:"estimated"`
	EstimatedInputTokens  int64 `json:"estimatedInputTokens,omitempty"`
	EstimatedOutputTokens int64 `json:"estimatedOutputTokens,omitempty"`
	// CostMicros counts millionths of the currency, guesses included.
	CostMicros int64 `json:"costMicros"`
}

// Add adds a row to the line's sums.
func (l *UsageLine) Add(r UsageRow) {
	l.Calls++
	l.InputTokens += count(r.Usage.Input)
	l.CacheReadInputTokens += count(r.Usage.CacheRead)
	l.CacheWriteInputTokens += count(r.Usage.CacheWrite)
	l.OutputTokens += count(r.Usage.Output)
	l.ReasoningTokens += count(r.Usage.Reasoning)
	if r.Estimated() {
		l.Estimated++
	}
	l.EstimatedInputTokens += count(r.Guess.Input)
	l.EstimatedOutputTokens += count(r.Guess.Output)
	if r.Cost != nil {
		l.CostMicros += r.Cost.Micros
	}
}

// UsageTotals sums the ledger of a thread.
type UsageTotals struct {
	TokenCount

	// CostMicros is what the calls in the first currency cost, in millionths of it.
	CostMicros int64 `json:"costMicros"`
	// Currency is the first currency that a call was priced in. Empty: none was.
	Currency string `json:"currency,omitempty"`
	// Unpriced counts the calls that CostMicros does not have: those that no price was
	// known for, and those in another currency.
	Unpriced int64 `json:"unpriced"`
	// Costs has the sum of each currency. Empty: no call was priced.
	Costs []CurrencyCost `json:"costs,omitempty"`
	Lines []UsageLine    `json:"lines"`
}

// CurrencyCost sums what was paid in one currency.
type CurrencyCost struct {
	Currency   string `json:"currency"`
	CostMicros int64  `json:"costMicros"`
	// Calls counts the calls.
	Calls int64 `json:"calls"`
}

// Totals sums lines up.
func Totals(lines []UsageLine) UsageTotals {
	t := UsageTotals{Lines: append([]UsageLine{}, lines...)}
	for _, l := range lines {
		t.Add(TokenCount{
			InputTokens: l.InputTokens, CachedInputTokens: l.CacheReadInputTokens,
			OutputTokens: l.OutputTokens, TotalTokens: l.InputTokens + l.OutputTokens,
		})
		if t.Currency == "" {
			t.Currency = l.Currency
		}
		t.pay(l)
	}
	for _, l := range lines {
		if l.Currency == "" || l.Currency != t.Currency {
			t.Unpriced += l.Calls
		} else {
			t.CostMicros += l.CostMicros
		}
	}
	return t
}

func (t *UsageTotals) pay(l UsageLine) {
	if l.Currency == "" {
		return
	}
	for i := range t.Costs {
		if t.Costs[i].Currency == l.Currency {
			t.Costs[i].CostMicros += l.CostMicros
			t.Costs[i].Calls += l.Calls
			return
		}
	}
	t.Costs = append(t.Costs, CurrencyCost{Currency: l.Currency, CostMicros: l.CostMicros, Calls: l.Calls})
}

// ContextUsage says how full the model's window is with the thread's history.
type ContextUsage struct {
	// UsedTokens is the last prompt and answer as the provider counted them, with an estimate
	// of what was said since.
	UsedTokens int64 `json:"usedTokens"`
	// BudgetTokens is the window less what is kept for the answer.
	BudgetTokens int64 `json:"budgetTokens"`
	// CompactAtTokens is where older turns would be summarised. Zero: nowhere.
	CompactAtTokens int64 `json:"compactAtTokens"`
	// Messages counts the messages of the thread's agent, those that are summarised included.
	Messages int `json:"messages"`
}

// ThreadUsage is the answer to a question for a thread's usage.
type ThreadUsage struct {
	Tokens  UsageTotals  `json:"tokens"`
	Context ContextUsage `json:"context"`
	Model   string       `json:"model"`
}
