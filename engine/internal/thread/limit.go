package thread

import (
	"cmp"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/budget"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/toolresult"
)

// budgetTool is the tool name of parks that ask for a larger budget.
const budgetTool = "budget"

// Limits contains the limits that are not part of a budget.
type Limits struct {
	// WallTimeMS bounds the wall time of any run.
	WallTimeMS int64
	// TenantBytes bounds what a tenant stores.
	TenantBytes int64
	// Unpriced is the model without a price at which a budget of money ends the run, or empty.
	Unpriced string
}

// NoteExhausted adds the entry about an exhausted budget or limit.
func NoteExhausted(tx *Tx, reason spool.StopReason, limits Limits) error {
	root, agent := tx.Root().Run, record.AgentOf(tx.Run)
	var entry *spool.Entry
	switch a := root.Allowance; reason {
	case spool.StopTimeLimit:
		entry = spool.NewEntry(spool.EntryTimeLimitReached, root.ID, spool.TimeLimitReached{
			WallTimeMS: root.WallTimeAt(tx.Now).Milliseconds(), WallTimeLimitMS: limits.WallTimeMS,
		})
	case spool.StopStorageLimit:
		entry = spool.NewEntry(spool.EntryStorageLimitReached, root.ID, spool.StorageLimitReached{BytesLimit: limits.TenantBytes})
	case spool.StopCostBudget:
		entry = spool.NewEntry(spool.EntryCostBudgetExhausted, root.ID, spool.CostBudgetExhausted{
			AgentID: agent, CostMicros: a.Spent.CostMicros, CostBudgetMicros: a.Budget.CostMicros, Currency: cmp.Or(root.Currency, a.Budget.Currency),
			UnpricedModel: limits.Unpriced,
		})
	case spool.StopTokenBudget:
		entry = spool.NewEntry(spool.EntryTokenBudgetExhausted, root.ID, spool.TokenBudgetExhausted{
			AgentID: agent, TokensUsed: a.Spent.Tokens, TokenBudget: a.Budget.Tokens,
		})
	case spool.StopToolCallBudget:
		entry = spool.NewEntry(spool.EntryToolCallBudgetExhausted, root.ID, spool.ToolCallBudgetExhausted{
			AgentID: agent, ToolCalls: a.Spent.ToolCalls, ToolCallBudget: a.Budget.ToolCalls,
		})
	default:
		entry = spool.NewEntry(spool.EntryTimeBudgetExhausted, root.ID, spool.TimeBudgetExhausted{
			AgentID: agent, WallTimeMS: budget.WallTime(a, tx.Now).Milliseconds(), WallTimeBudgetMS: a.Budget.WallTime.Milliseconds(),
		})
	}
	return tx.Append(entry)
}

// ParkForBudget parks the run until somebody answers with a larger budget. All runs of the tree wait
// for that one answer. The answer does not become the result of a call. If distinct is true, the
// subject that started the run may not answer.
func ParkForBudget(tx *Tx, reason spool.StopReason, distinct bool) error {
	parks, err := tx.Parks()
	if err != nil {
		return err
	}
	asked := func(p spool.Park) bool { return p.Reason == spool.ParkBudget && p.State == spool.ParkOpen }
	if !slices.ContainsFunc(parks, asked) {
		if err := askBudget(tx, reason, distinct); err != nil {
			return err
		}
	}
	if tx.IsNested() {
		return ParkNested(tx)
	}
	return Park(tx)
}

func askBudget(tx *Tx, reason spool.StopReason, distinct bool) error {
	root := tx.Root()
	root.Run.Allowance.Parks++
	park := spool.Park{
		RunID: root.Run.ID, ToolCallID: spool.ToolCallID(tx.Random.ID("budget")), ToolName: budgetTool, Step: root.Run.Steps,
		Args: toolresult.JSON(budget.Ask(root.Run, reason, tx.Now)), Reason: spool.ParkBudget, State: spool.ParkOpen,
		CreatedAt: tx.Now, Expiry: spool.Expiry{}.Or(tx.ParkTTL), DistinctApprover: distinct, Revision: root.Run.Revision,
	}
	park.Digest = park.DigestOf(nil)
	return tx.Write(spool.Changes{Parks: []spool.Park{park}})
}

// AskForTime adds a park for more time if no park is open. This happens when the nested runs have their
// answers but had no time to continue.
func AskForTime(tx *Tx, distinct bool) error {
	parks, err := tx.Parks()
	if err != nil || slices.ContainsFunc(parks, func(p spool.Park) bool { return p.State == spool.ParkOpen }) {
		return err
	}
	return askBudget(tx, spool.StopTimeBudget, distinct)
}
