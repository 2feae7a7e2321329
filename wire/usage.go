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
	// RunID is the dispatched run, also for attempts of its nested runs.
	RunID spool.RunID `doc:"The dispatched run." json:"runId"`
	// AgentID is the nested run that made the attempt. Empty: the dispatched run itself.
	AgentID spool.AgentID `doc:"The nested run that made the call. Left out: the run itself." json:"agentId,omitempty"`
	// Agent is the name of the agent.
	Agent string `doc:"The agent." json:"agentName"`
	// Kind is the purpose of the call. A store keeps an empty one as [spool.UsageStep].
	Kind spool.UsageKind `doc:"The purpose of the call." enum:"step,compaction,tool" json:"kind"`
	// Step is the step of the run that made the attempt, from 1. Zero: it was for no step.
	Step int `doc:"The step, from 1. Zero: none." json:"step"`
	// Model is the configured name of the model. ModelID is the provider's name of it.
	Model   string `doc:"The model that was asked for."     json:"model"`
	ModelID string `doc:"The provider's name of the model." json:"modelId"`
	// Requested is the provider's name of the model in the request: see [spool.ModelInfo]. The model that answers
	// may have another name, such as that of a version. Empty: not known.
	Requested string  `json:"-"`
	Outcome   Outcome `doc:"How it ended." enum:"finished,aborted,error,lost" json:"outcome"`
	// Usage has the provider's counts only.
	Usage spool.Usage `doc:"The provider's counts." json:"usage"`
	// Guess has estimates of Input and Output where the provider did not report them, and of an Input that it
	// reported as less than half of what it can be. They are never part of a sum of the provider's counts.
	Guess spool.Usage `doc:"Estimates of the tokens that the provider did not count, or not truly." json:"guess,omitzero" nullable:"false"`
	// Cost is the cost of the attempt. Nil: no price is known, which is not the same as zero.
	Cost      *spool.Cost `doc:"The cost. Left out: no price is known." json:"cost,omitempty" nullable:"false"`
	CreatedAt time.Time   `doc:"When it ended."                         json:"createdAt"`
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
	AgentID   *spool.AgentID `doc:"The agent's id, if it has one."    json:"agentId"   required:"true"`
	AgentName string         `doc:"The agent."                        json:"agentName"`
	Model     string         `doc:"The model that was asked for."     json:"model"`
	ModelID   string         `doc:"The provider's name of the model." json:"modelId"`
	// Currency is the currency of CostMicros. Empty: the line has the calls without a price.
	Currency string `doc:"The currency of costMicros. Left out: a call of the line has no price." example:"USD" json:"currency,omitempty"`
	// InputTokens includes tokens that were read from a cache or written to one.
	InputTokens           int64 `doc:"Tokens that the model read, including those from and into a cache." json:"inputTokens"`
	CacheReadInputTokens  int64 `doc:"The part of them that came from a cache."                           json:"cacheReadInputTokens"`
	CacheWriteInputTokens int64 `doc:"The part of them that went into a cache."                           json:"cacheWriteInputTokens"`
	OutputTokens          int64 `doc:"Tokens that the model wrote."                                       json:"outputTokens"`
	ReasoningTokens       int64 `doc:"The part of them that was reasoning."                               json:"reasoningTokens"`
	Calls                 int64 `doc:"How often it was called."                                           json:"calls"`
	// Estimated counts the calls with an estimate in place of a count. The estimates are summed separately.
	Estimated             int64 `doc:"The number of calls that the provider did not count, or not truly. Their estimates are separate, and included in costMicros." json:"estimated"`
	EstimatedInputTokens  int64 `doc:"Estimates of the tokens that such calls read."                                                                                json:"estimatedInputTokens,omitempty"`
	EstimatedOutputTokens int64 `doc:"Estimates of the tokens that such calls wrote."                                                                               json:"estimatedOutputTokens,omitempty"`
	// CostMicros is the cost in millionths of the currency, including that of estimates.
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
	spool.TokenCount

	// CostMicros is the cost of the calls in Currency, in millionths of it.
	CostMicros int64 `doc:"The cost of the calls in this currency, in millionths." json:"costMicros"`
	// Currency is the first currency with a priced call. Empty: no call was priced.
	Currency string `doc:"The first currency that a call was priced in. Left out: none was." example:"USD" json:"currency,omitempty"`
	// Unpriced counts the calls that CostMicros does not include: those without a known price, and those in
	// another currency.
	Unpriced int64 `doc:"The calls that costMicros does not include: their price is unknown, or in another currency." json:"unpriced"`
	// Costs has the sum of each currency. Empty: no call was priced.
	Costs []CurrencyCost `doc:"The sum in each currency. Left out: no call was priced." json:"costs,omitempty"`
	Lines []UsageLine    `doc:"The usage by agent, model and currency."                 json:"lines"`
}

// CurrencyCost is the sum of the costs in one currency.
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
	// UsedTokens is the provider's count of the last prompt and answer, with an estimate of the messages
	// since then.
	UsedTokens int64 `doc:"The last prompt and answer as the provider counted them, with an estimate of what was said since." json:"usedTokens"`
	// BudgetTokens is the window without the part that is reserved for the answer.
	BudgetTokens int64 `doc:"The window without the part that is reserved for the answer." json:"budgetTokens"`
	// CompactAtTokens is the size at which older messages are summarised. Zero: never.
	CompactAtTokens int64 `doc:"The size at which older messages are summarised. Zero: never." json:"compactAtTokens"`
	// Messages counts the messages of the thread's agent, including summarised ones.
	Messages int `doc:"How many messages there are, those that are summarised included." json:"messages"`
}

// ThreadUsage is the usage of a thread.
type ThreadUsage struct {
	Tokens  UsageTotals  `doc:"The tokens of the thread."       json:"tokens"`
	Context ContextUsage `doc:"How full the model's window is." json:"context"`
	Model   string       `doc:"The model of the last call."     json:"model"`
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
