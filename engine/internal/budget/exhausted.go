package budget

import (
	"cmp"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Limits contains the limits that are not part of a budget.
type Limits struct {
	// WallTimeMS bounds the wall time of any run.
	WallTimeMS int64
	// TenantBytes bounds what a tenant stores.
	TenantBytes int64
	// Unpriced is the model without a price at which a budget of money ends the run, or empty.
	Unpriced string
}

// Exhausted returns the entry about an exhausted budget or limit of a dispatched run. Agent is the agent of that run of
// its tree which has met it.
func Exhausted(run store.RunRow, agent *spool.AgentID, reason wire.StopReason, l Limits, now time.Time) *wire.Entry {
	switch a := run.Allowance; reason {
	case wire.StopTimeLimit:
		return wire.NewEntry(wire.EntryTimeLimitReached, run.ID, wire.TimeLimitReached{
			WallTimeMS: run.WallTimeAt(now).Milliseconds(), WallTimeLimitMS: l.WallTimeMS,
		})
	case wire.StopStorageLimit:
		return wire.NewEntry(wire.EntryStorageLimitReached, run.ID,
			wire.StorageLimitReached{BytesLimit: l.TenantBytes})
	case wire.StopCostBudget:
		return wire.NewEntry(wire.EntryCostBudgetExhausted, run.ID, wire.CostBudgetExhausted{
			AgentID: agent, CostMicros: a.Spent.CostMicros, CostBudgetMicros: a.Budget.CostMicros,
			Currency: cmp.Or(run.Currency, a.Budget.Currency), UnpricedModel: l.Unpriced,
		})
	case wire.StopTokenBudget:
		return wire.NewEntry(wire.EntryTokenBudgetExhausted, run.ID, wire.TokenBudgetExhausted{
			AgentID: agent, TokensUsed: a.Spent.Tokens, TokenBudget: a.Budget.Tokens,
		})
	case wire.StopToolCallBudget:
		return wire.NewEntry(wire.EntryToolCallBudgetExhausted, run.ID, wire.ToolCallBudgetExhausted{
			AgentID: agent, ToolCalls: a.Spent.ToolCalls, ToolCallBudget: a.Budget.ToolCalls,
		})
	default:
		return wire.NewEntry(wire.EntryTimeBudgetExhausted, run.ID, wire.TimeBudgetExhausted{
			AgentID: agent, WallTimeMS: WallTime(a, now).Milliseconds(),
			WallTimeBudgetMS: a.Budget.WallTime.Milliseconds(),
		})
	}
}
