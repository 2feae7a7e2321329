package thread

import (
	"github.com/spoolhq/spool"
)

// Spawn adds a nested run with its first turn. It returns a [spool.Conflict] error, and adds
// nothing, where the tenant has a run of that id: whoever starts runs may choose any id.
func Spawn(tx *Tx, run spool.Run, instructions string) error {
	if err := tx.Store.InsertRun(run); err != nil {
		return err
	}
	tx.Root().Run.Children++
	turn := tx.nested(run).Message(spool.RoleUser, spool.TextContent(instructions))
	if err := tx.Store.AppendMessages(turn); err != nil {
		return err
	}
	return tx.Put()
}

// FinishNested is the transition of a nested run at work to an end state. Text is its last answer,
// which the run above it reads.
func FinishNested(tx *Tx, ending spool.Ending, text string) error {
	if err := endNested(tx, ending, text); err != nil {
		return err
	}
	tx.Item(spool.ItemSubagentFinished, SubagentFinished(tx.Run))
	return nil
}

// SubagentFinished is the item that tells of the end of a nested run.
func SubagentFinished(run spool.Run) spool.SubagentFinished {
	end := spool.SubagentFinished{SubagentID: run.AgentID(), Status: spool.SubagentCompleted, Error: run.Error}
	switch run.State {
	case spool.Failed:
		end.Status = spool.SubagentFailed
	case spool.Cancelled:
		end.Status = spool.SubagentCancelled
	default:
	}
	return end
}

func endNested(tx *Tx, ending spool.Ending, text string) error {
	forgetStep(tx)
	if err := closeCalls(tx, ending); err != nil {
		return err
	}
	if !tx.Run.State.CanBecome(ending.State) {
		return spool.Errorf(spool.Internal, "run %s cannot go from %s to %s", tx.Run.ID, tx.Run.State, ending.State)
	}
	tx.Run.State, tx.Run.StopReason, tx.Run.Error, tx.Run.EndedAt = ending.State, ending.Reason, ending.Error, tx.Now
	tx.Run.Allowance = nil // which is the whole tree's
	if ending.State == spool.Completed {
		tx.Run.Result = &spool.NestedResult{Text: text}
	}
	return tx.Put()
}

// closeTree ends the nested runs of a dispatched run that ends itself.
func closeTree(tx *Tx, ending spool.Ending) error {
	if tx.Run.Children == 0 {
		return nil
	}
	runs, err := tx.Store.Nested(tx.Run.ID)
	if err != nil {
		return err
	}
	if ending.State == spool.Completed { // none is at work then
		ending = spool.Ending{State: spool.Cancelled, Reason: spool.StopCancelled}
	}
	if ending.State == spool.Failed {
		ending.Error = "the run that it belongs to failed"
	}
	for _, run := range runs {
		if run.State.Terminal() {
			continue
		}
		if err := endNested(tx.nested(run), ending, ""); err != nil {
			return err
		}
	}
	return nil
}

// inHand reports whether a step of the tree has a draft, the tools of which have run or may
// have.
func inHand(tx *Tx) (bool, error) {
	if tx.Run.Draft != nil || tx.Run.Children == 0 {
		return tx.Run.Draft != nil, nil
	}
	runs, err := tx.Store.Nested(tx.Run.ID)
	for _, run := range runs {
		if run.Draft != nil && !run.State.Terminal() {
			return true, nil
		}
	}
	return false, err
}
