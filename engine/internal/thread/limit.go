package thread

import (
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/budget"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/toolresult"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// budgetTool is the tool name of parks that ask for a larger budget.
const budgetTool = "budget"

// NoteExhausted adds the entry about an exhausted budget or limit.
func NoteExhausted(tx *Tx, reason wire.StopReason, limits budget.Limits) error {
	return tx.Append(budget.Exhausted(tx.Root().Run, record.AgentOf(tx.Run), reason, limits, tx.Now))
}

// ParkForBudget parks the run until somebody answers with a larger budget. All runs of the tree wait
// for that one answer. The answer does not become the result of a call. If distinct is true, the
// subject that started the run may not answer.
func ParkForBudget(tx *Tx, reason wire.StopReason, distinct bool) error {
	parks, err := tx.Parks()
	if err != nil {
		return err
	}
	asked := func(p store.Park) bool { return p.Reason == wire.ParkBudget && p.State == wire.ParkOpen }
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

func askBudget(tx *Tx, reason wire.StopReason, distinct bool) error {
	root := tx.Root()
	root.Run.Allowance.Parks++
	park := store.Park{
		RunID: root.Run.ID, ToolCallID: spool.ToolCallID(tx.Random.ID("budget")), ToolName: budgetTool, Step: root.Run.Steps,
		Args: toolresult.JSON(budget.Ask(root.Run, reason, tx.Now)), Reason: wire.ParkBudget, State: wire.ParkOpen,
		CreatedAt: tx.Now, Expiry: spool.Expiry{}.Or(tx.ParkTTL), DistinctApprover: distinct, Revision: root.Run.Revision,
	}
	park.Digest = park.DigestOf(nil)
	return tx.Write(store.Changes{Parks: []store.Park{park}})
}

// AskForTime adds a park for more time if no park is open. This happens when the nested runs have their
// answers but had no time to continue.
func AskForTime(tx *Tx, distinct bool) error {
	parks, err := tx.Parks()
	if err != nil || slices.ContainsFunc(parks, func(p store.Park) bool { return p.State == wire.ParkOpen }) {
		return err
	}
	return askBudget(tx, wire.StopTimeBudget, distinct)
}
