package wire

import (
	"time"

	"github.com/spoolhq/spool"
)

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

// UsageRow is a row of the usage ledger. Each model attempt has one, including aborted, failed and lost
// attempts.
type UsageRow struct {
	// RunID is the dispatched run.
	//
	// Also for attempts of its nested runs.
	RunID spool.RunID `json:"runId"`
	// AgentID is the nested run that made the call. Left out: the run itself.
	AgentID spool.AgentID `json:"agentId,omitempty"`
	// Agent is the agent.
	Agent string `json:"agentName"`
	// Kind is the purpose of the call.
	//
	// A store keeps an empty one as [spool.UsageStep].
	Kind spool.UsageKind `enum:"step,compaction,tool" json:"kind"`
	// Step is the step, from 1. Zero: none.
	Step int `json:"step"`
	// Model is the model that was asked for.
	//
	// The configured name. ModelID is the provider's name of it.
	Model   string `json:"model"`
	ModelID string `json:"modelId"` // The provider's name of the model.
	// Requested is the provider's name of the model in the request: see [spool.ModelInfo]. The model that answers
	// may have another name, such as that of a version. Empty: not known.
	Requested string  `json:"-"`
	Outcome   Outcome `enum:"finished,aborted,error,lost" json:"outcome"` // How it ended.
	// Usage are the provider's counts.
	Usage spool.Usage `json:"usage"`
	// Estimates of the tokens that the provider did not count, or not truly.
	//
	// Of Input and Output where the provider did not report them, and of an Input that it reported as less than half
	// of what it can be. They are never part of a sum of the provider's counts.
	Guess spool.Usage `json:"guess,omitzero" nullable:"false"`
	// Cost is the cost. Left out: no price is known.
	Cost      *spool.Cost `json:"cost,omitempty" nullable:"false"`
	CreatedAt time.Time   `json:"createdAt"` // When it ended.
}

// Estimated reports whether a count of the row is an estimate.
func (r UsageRow) Estimated() bool { return r.Guess.Input != nil || r.Guess.Output != nil }

// Best returns the usage, with the estimates in place of counts that are missing or not believed.
func (r UsageRow) Best() spool.Usage {
	u := r.Usage
	if r.Guess.Input != nil {
		u.Input = r.Guess.Input
	}
	if r.Guess.Output != nil {
		u.Output = r.Guess.Output
	}
	return u
}

// UsageQuery selects rows of the ledger.
type UsageQuery struct {
	// Sums asks for the ledger's sums by agent, model and currency instead of its rows. No other field applies
	// then.
	Sums bool
	// Run leaves out rows of other dispatched runs. Empty: all.
	Run spool.RunID
	// Agent leaves out rows of other agents. An empty id means the dispatched run's own agent. Nil: all.
	Agent *spool.AgentID
	// Kind leaves out rows of other kinds. Empty: all.
	Kind spool.UsageKind
	// Counted leaves out rows whose prompt the provider has not counted.
	Counted bool
	// Last reverses the order: the newest row comes first.
	Last bool
	// Limit bounds how many are returned. Zero: all.
	Limit int
}

// UsageLine sums the ledger over one agent, model and currency.
type UsageLine struct {
	AgentID   *spool.AgentID `json:"agentId"   required:"true"` // The agent's id, if it has one.
	AgentName string         `json:"agentName"`                 // The agent.
	Model     string         `json:"model"`                     // The model that was asked for.
	ModelID   string         `json:"modelId"`                   // The provider's name of the model.
	// Currency is the currency of costMicros. Left out: a call of the line has no price.
	Currency string `example:"USD" json:"currency,omitempty"`
	// Tokens that the model read, including those from and into a cache.
	InputTokens           int64 `json:"inputTokens"`
	CacheReadInputTokens  int64 `json:"cacheReadInputTokens"`  // The part of them that came from a cache.
	CacheWriteInputTokens int64 `json:"cacheWriteInputTokens"` // The part of them that went into a cache.
	OutputTokens          int64 `json:"outputTokens"`          // Tokens that the model wrote.
	ReasoningTokens       int64 `json:"reasoningTokens"`       // The part of them that was reasoning.
	Calls                 int64 `json:"calls"`                 // How often it was called.
	// Estimated is the number of calls that the provider did not count, or not truly. Their estimates are separate,
	// and included in costMicros.
	Estimated int64 `json:"estimated"`
	// Estimates of the tokens that such calls read.
	EstimatedInputTokens int64 `json:"estimatedInputTokens,omitempty"`
	// Estimates of the tokens that such calls wrote.
	EstimatedOutputTokens int64 `json:"estimatedOutputTokens,omitempty"`
	// CostMicros are the price in millionths of the currency.
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
	spool.TokenCount

	// CostMicros are the cost of the calls in this currency, in millionths.
	CostMicros int64 `json:"costMicros"`
	// Currency is the first currency that a call was priced in. Left out: none was.
	Currency string `example:"USD" json:"currency,omitempty"`
	// Unpriced is the calls that costMicros does not include: their price is unknown, or in another currency.
	Unpriced int64 `json:"unpriced"`
	// Costs are the sum in each currency. Left out: no call was priced.
	Costs []CurrencyCost `json:"costs,omitempty"`
	Lines []UsageLine    `json:"lines"` // The usage by agent, model and currency.
}

// CurrencyCost is the sum of the costs in one currency.
type CurrencyCost struct {
	Currency   string `example:"USD"     json:"currency"` // The currency.
	CostMicros int64  `json:"costMicros"`                 // The sum in millionths of it.
	// Calls are the calls that were priced in it.
	Calls int64 `json:"calls"`
}

// Totals sums lines up.
func Totals(lines []UsageLine) UsageTotals {
	t := UsageTotals{Lines: append([]UsageLine{}, lines...)}
	for _, l := range lines {
		t.Add(spool.TokenCount{
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
	// UsedTokens are the last prompt and answer as the provider counted them, with an estimate of what was said
	// since.
	UsedTokens int64 `json:"usedTokens"`
	// BudgetTokens are the window without the part that is reserved for the answer.
	BudgetTokens int64 `json:"budgetTokens"`
	// CompactAtTokens are the size at which older messages are summarised. Zero: never.
	CompactAtTokens int64 `json:"compactAtTokens"`
	// Messages is how many messages there are, those that are summarised included.
	Messages int `json:"messages"`
}

// ThreadUsage is the usage of a thread.
type ThreadUsage struct {
	Tokens  UsageTotals  `json:"tokens"`  // The tokens of the thread.
	Context ContextUsage `json:"context"` // How full the model's window is.
	Model   string       `json:"model"`   // The model of the last call.
}

// UsageReport has the rows or the sums that a [UsageQuery] asks for.
type UsageReport struct {
	// Rows are in the order in which they were added.
	Rows []UsageRow
	// Sums has a sum for each agent, model and currency. A sum comes where the first row of its group was
	// added.
	Sums []UsageLine
}

func count(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}
