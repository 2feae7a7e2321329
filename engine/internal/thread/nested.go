package thread

import (
	"github.com/spoolhq/spool"
)

// Spawn adds a nested run with its first turn. It returns a [spool.Conflict] error, and adds
// nothing, where the tenant has a run of that id: whoever starts runs may choose any id.
func Spawn(tx *Tx, run spool.RunRow, instructions string) error {
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
	if err := finishNested(tx, ending, text); err != nil {
		return err
	}
	tx.Item(spool.ItemSubagentFinished, SubagentFinished(tx.Run))
	return nil
}

// SubagentFinished is the item that tells of the end of a nested run.
func SubagentFinished(run spool.RunRow) spool.SubagentFinished {
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
