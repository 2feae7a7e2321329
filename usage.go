package spool

import "time"

// TokenCount counts tokens. InputTokens includes the cached ones.
type TokenCount struct {
	InputTokens       int64 `doc:"Tokens that models read, cached ones included." json:"inputTokens"`
	CachedInputTokens int64 `doc:"Those of them that came from a cache."          json:"cachedInputTokens"`
	OutputTokens      int64 `doc:"Tokens that models wrote."                      json:"outputTokens"`
	TotalTokens       int64 `doc:"Both."                                          json:"totalTokens"`
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
	Input *int64 `doc:"Tokens of the prompt, those of a cache included. Left out: not counted." json:"inputTokens,omitempty" nullable:"false"`
	// CacheRead counts the prompt tokens that came from a cache.
	CacheRead *int64 `doc:"Those of them that came from a cache. Left out: not counted." json:"cacheReadInputTokens,omitempty" nullable:"false"`
	// CacheWrite counts the prompt tokens that were written to a cache.
	CacheWrite *int64 `doc:"Those of them that were written to a cache. Left out: not counted." json:"cacheWriteInputTokens,omitempty" nullable:"false"`
	// Output counts what the model wrote, reasoning included.
	Output *int64 `doc:"Tokens that the model wrote, reasoning included. Left out: not counted." json:"outputTokens,omitempty" nullable:"false"`
	// Reasoning counts the reasoning tokens among the output.
	Reasoning *int64 `doc:"Those of them that were reasoning. Left out: not counted." json:"reasoningTokens,omitempty" nullable:"false"`
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
	RunID RunID `doc:"The dispatched run." json:"runId"`
	// AgentID is the run under it that asked. Empty: the dispatched run's own agent.
	AgentID AgentID `doc:"The run under it that asked. Left out: itself." json:"agentId,omitempty"`
	// Agent is the name of the agent.
	Agent string `doc:"The agent." json:"agentName"`
	// Kind is what the model was used for. A store keeps an empty one as [UsageStep].
	Kind UsageKind `doc:"What the model was asked for." enum:"step,compaction,tool" json:"kind"`
	// Step is the step of the run that asked, from 1. Zero: it was for none.
	Step int `doc:"The step, from 1. Zero: none." json:"step"`
	// Model is the name that the run asked for, ModelID what the provider calls it.
	Model   string `doc:"The model that was asked for." json:"model"`
	ModelID string `doc:"What its provider calls it."   json:"modelId"`
	// Requested is what the provider calls the model that was asked: see [Described]. An answer
	// may come from another name, such as that of a version. Empty: not known.
	Requested string  `json:"-"`
	Outcome   Outcome `doc:"How it ended." enum:"finished,aborted,error,lost" json:"outcome"`
	// Usage is what the provider reported, and nothing else.
	Usage Usage `doc:"What the provider counted." json:"usage"`
	// Guess has an Input and Output for those that the provider did not report and that
	// were estimated. It is never part of a sum that says what providers reported.
	Guess Usage `doc:"Estimates of what it did not count." json:"guess,omitzero" nullable:"false"`
	// Cost is what the attempt cost. Nil: no price is known, which is not the same as
	// nothing.
	Cost      *Cost     `doc:"What it cost. Left out: no price is known." json:"cost,omitempty" nullable:"false"`
	CreatedAt time.Time `doc:"When it ended."                             json:"createdAt"`
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
	AgentID   *AgentID `doc:"The agent's id, if it has one." json:"agentId"   required:"true"`
	AgentName string   `doc:"The agent."                     json:"agentName"`
	Model     string   `doc:"The model that was asked for."  json:"model"`
	ModelID   string   `doc:"What its provider calls it."    json:"modelId"`
	// Currency is that of CostMicros. Empty: the line has the calls without a price.
	Currency string `doc:"That of costMicros. Left out: the line has calls without a price." example:"USD" json:"currency,omitempty"`
	// InputTokens includes those read from a cache and written to one.
	InputTokens           int64 `doc:"Tokens that it read, those from and into a cache included." json:"inputTokens"`
	CacheReadInputTokens  int64 `doc:"Those of them that came from a cache."                      json:"cacheReadInputTokens"`
	CacheWriteInputTokens int64 `doc:"Those of them that went into a cache."                      json:"cacheWriteInputTokens"`
	OutputTokens          int64 `doc:"Tokens that it wrote."                                      json:"outputTokens"`
	ReasoningTokens       int64 `doc:"Those of them that were reasoning."                         json:"reasoningTokens"`
	Calls                 int64 `doc:"How often it was called."                                   json:"calls"`
	// Estimated counts the calls that have a guess in place of a count. The guesses are summed
	// apart.
	Estimated             int64 `doc:"How many calls were cut off before their provider had counted them. Their guesses are apart, and in costMicros." json:"estimated"`
	EstimatedInputTokens  int64 `doc:"Guesses of what such calls read."                                                                                json:"estimatedInputTokens,omitempty"`
	EstimatedOutputTokens int64 `doc:"Guesses of what they wrote."                                                                                     json:"estimatedOutputTokens,omitempty"`
	// CostMicros counts millionths of the currency, guesses included.
	CostMicros int64 `doc:"The price in millionths of the currency." json:"costMicros"`
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
	CostMicros int64 `doc:"What the calls in the currency cost, in millionths of it." json:"costMicros"`
	// Currency is the first currency that a call was priced in. Empty: none was.
	Currency string `doc:"The first currency that a call was priced in. Left out: none was." example:"USD" json:"currency,omitempty"`
	// Unpriced counts the calls that CostMicros does not have: those that no price was
	// known for, and those in another currency.
	Unpriced int64 `doc:"Calls that costMicros lacks: no price is known, or one in another currency." json:"unpriced"`
	// Costs has the sum of each currency. Empty: no call was priced.
	Costs []CurrencyCost `doc:"The sum in each currency. Left out: no call was priced." json:"costs,omitempty"`
	Lines []UsageLine    `doc:"The same by agent, model and currency."                  json:"lines"`
}

// CurrencyCost sums what was paid in one currency.
type CurrencyCost struct {
	Currency   string `doc:"The currency."                example:"USD"     json:"currency"`
	CostMicros int64  `doc:"The sum in millionths of it." json:"costMicros"`
	// Calls counts the calls.
	Calls int64 `doc:"The calls that were priced in it." json:"calls"`
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
	UsedTokens int64 `doc:"The last prompt and answer as the provider counted them, with an estimate of what was said since." json:"usedTokens"`
	// BudgetTokens is the window less what is kept for the answer.
	BudgetTokens int64 `doc:"The window, less what is kept for the answer." json:"budgetTokens"`
	// CompactAtTokens is where older turns would be summarised. Zero: nowhere.
	CompactAtTokens int64 `doc:"Where older turns would be summarised. Zero: nowhere." json:"compactAtTokens"`
	// Messages counts the messages of the thread's agent, those that are summarised included.
	Messages int `doc:"How many messages there are, those that are summarised included." json:"messages"`
}

// ThreadUsage is the answer to a question for a thread's usage.
type ThreadUsage struct {
	Tokens  UsageTotals  `doc:"What the thread has used."       json:"tokens"`
	Context ContextUsage `doc:"How full the model's window is." json:"context"`
	Model   string       `doc:"The model of the last call."     json:"model"`
}
