package thread

import (
	"github.com/spoolhq/spool"
)

// Spawn adds a nested run with its first turn. If the tenant already has a run with that id, the
// transaction fails with [spool.ErrRunIDUsed]. This is possible because callers may choose any id for the
// runs that they start.
func Spawn(tx *Tx, run spool.RunRow, instructions string) error {
	tx.Root().Run.Children++
	turn := tx.nested(run).Message(spool.RoleUser, spool.TextContent(instructions))
	return tx.Write(spool.Changes{NewRuns: []spool.RunRow{run}, Runs: tx.runs(), Messages: []*spool.Message{turn}})
}

// FinishNested is the transition of an active nested run to an end state. Text is the run's last
// answer, which the parent run gets.
func FinishNested(tx *Tx, ending spool.Ending, text string) error {
	var c spool.Changes
	if err := finishNested(tx, ending, text, &c); err != nil {
		return err
	}
	c.Runs = tx.runs()
	if err := tx.Write(c); err != nil {
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
