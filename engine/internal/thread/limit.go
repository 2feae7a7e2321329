package thread

import (
	"cmp"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/budget"
	"github.com/spoolhq/spool/engine/internal/toolresult"
)

// budgetTool is what the parks that ask for a larger budget have for the name of a tool.
const budgetTool = "budget"

// Limits are what no budget of a run is about.
type Limits struct {
	// WallTimeMS is how long workers may carry any run.
	WallTimeMS int64
	// TenantBytes is how much a tenant may store.
	TenantBytes int64
}

// NoteExhausted adds the entry that tells of a budget, or a limit, that is used up.
func NoteExhausted(tx *Tx, reason spool.StopReason, limits Limits) error {
	root := tx.Root().Run
	var agent *spool.AgentID
	if id := tx.Run.AgentID(); id != "" {
		agent = &id
	}
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

// ParkForBudget parks the run for a larger budget. All runs of the tree wait for one answer,
// which no call gets a result of. Distinct says that the answer has to come from another subject
// than the one that started the run.
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
		return Wait(tx)
	}
	return Park(tx)
}

// askBudget adds the park for a larger budget.
func askBudget(tx *Tx, reason spool.StopReason, distinct bool) error {
	root := tx.Root()
	root.Run.Allowance.Parks++
	park := spool.Park{
		RunID: root.Run.ID, ToolCallID: spool.ToolCallID(tx.Random.ID("budget")), ToolName: budgetTool, Step: root.Run.Steps,
		Args: toolresult.JSON(budget.Ask(root.Run, reason, tx.Now)), Reason: spool.ParkBudget, State: spool.ParkOpen,
		CreatedAt: tx.Now, Expiry: spool.Expiry{}.Or(tx.ParkTTL), DistinctApprover: distinct,
	}
	park.Digest = park.DigestOf(nil)
	return tx.Store.PutPark(park)
}

// AskTimeIfAlone adds the park for more time where the run would wait for nobody: the nested runs
// that wait have their answers, and had no time to go on with them.
func AskTimeIfAlone(tx *Tx, distinct bool) error {
	parks, err := tx.Parks()
	if err != nil || slices.ContainsFunc(parks, func(p spool.Park) bool { return p.State == spool.ParkOpen }) {
		return err
	}
	return askBudget(tx, spool.StopTimeBudget, distinct)
}
