package form

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// UsageColumns are the columns of [wire.UsageRow], and UsageLineColumns those of [wire.UsageLine].
const (
	UsageColumns = `run_id, agent_id, agent, kind, step, model, model_id, outcome,
	input, cache_read, cache_write, output, reasoning, guess_input, guess_output,
	cost, currency, cost_source, price_version, created_at, requested`

	UsageLineColumns = `agent_id, agent, model, model_id, currency,
	input, cache_read, cache_write, output, reasoning, calls, estimated, guess_input, guess_output, cost`
)

// ScanUsage reads UsageColumns.
func ScanUsage(r Row) wire.UsageRow {
	u := wire.UsageRow{
		RunID: spool.RunID(r.Text()), AgentID: spool.AgentID(r.Text()), Agent: r.Text(), Kind: spool.UsageKind(r.Text()),
		Step: r.Int(), Model: r.Text(), ModelID: r.Text(), Outcome: wire.Outcome(r.Text()),
		Usage: spool.Usage{
			Input: r.Maybe(), CacheRead: r.Maybe(), CacheWrite: r.Maybe(), Output: r.Maybe(), Reasoning: r.Maybe(),
		},
		Guess: spool.Usage{Input: r.Maybe(), Output: r.Maybe()},
	}
	micros := r.Maybe()
	cost := spool.Cost{Currency: r.Text(), Source: spool.CostSource(r.Text()), Version: r.Text()}
	if micros != nil {
		cost.Micros = *micros
		u.Cost = &cost
	}
	u.CreatedAt, u.Requested = r.Time(), r.Text()
	return u
}

// CostOf returns the cost of a row of the ledger in the form in which it is stored: without a cost, its micros are
// NULL.
func CostOf(u *wire.UsageRow) (cost spool.Cost, micros *int64) {
	if u.Cost == nil {
		return spool.Cost{}, nil
	}
	return *u.Cost, &u.Cost.Micros
}

// ScanUsageLine reads UsageLineColumns.
func ScanUsageLine(r Row) wire.UsageLine {
	var l wire.UsageLine
	if agent := spool.AgentID(r.Text()); agent != "" {
		l.AgentID = &agent
	}
	l.AgentName, l.Model, l.ModelID, l.Currency = r.Text(), r.Text(), r.Text(), r.Text()
	l.InputTokens, l.CacheReadInputTokens, l.CacheWriteInputTokens = r.Int64(), r.Int64(), r.Int64()
	l.OutputTokens, l.ReasoningTokens, l.Calls = r.Int64(), r.Int64(), r.Int64()
	l.Estimated = r.Int64()
	l.EstimatedInputTokens, l.EstimatedOutputTokens, l.CostMicros = r.Int64(), r.Int64(), r.Int64()
	return l
}
