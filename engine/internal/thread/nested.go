package thread

import (
	"github.com/spoolhq/spool"
)

// Spawn adds a nested run with its first turn. If the tenant already has a run with that id, Spawn adds
// nothing and returns a [spool.Conflict] error. This is possible because callers may choose any id for
// the runs that they start.
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

// FinishNested is the transition of an active nested run to an end state. Text is the run's last
// answer, which the parent run gets.
func FinishNested(tx *Tx, ending spool.Ending, text string) error {
	if err := finishNested(tx, ending, text); err != nil {
		return err
	}
	tx.Item(spool.ItemSubagentFinished, SubagentFinished(tx.Run))
	return nil
}

// SubagentFinished returns the item about the end of a nested run.
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
