package thread

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Spawn adds a nested run with its first turn. If the tenant already has a run with that id, the
// transaction fails with [store.ErrRunIDUsed]. This is possible because callers may choose any id for the
// runs that they start.
func Spawn(tx *Tx, run store.RunRow, instructions string) error {
	tx.Root().Run.Children++
	turn := tx.nested(run).Message(spool.RoleUser, spool.TextContent(instructions))
	return tx.Write(store.Changes{NewRuns: []store.RunRow{run}, Runs: tx.runs(), Messages: []*spool.Message{turn}})
}

// FinishNested is the transition of an active nested run to an end state. Text is the run's last
// answer, which the parent run gets.
func FinishNested(tx *Tx, ending store.Ending, text string) error {
	var c store.Changes
	if err := finishNested(tx, ending, text, &c); err != nil {
		return err
	}
	c.Runs = tx.runs()
	if err := tx.Write(c); err != nil {
		return err
	}
	tx.Item(wire.ItemSubagentFinished, SubagentFinished(tx.Run))
	return nil
}

// SubagentFinished returns the item about the end of a nested run.
func SubagentFinished(run store.RunRow) wire.SubagentFinished {
	end := wire.SubagentFinished{SubagentID: run.AgentID(), Status: wire.SubagentCompleted, Error: run.Error}
	switch run.State {
	case wire.Failed:
		end.Status = wire.SubagentFailed
	case wire.Cancelled:
		end.Status = wire.SubagentCancelled
	default:
	}
	return end
}
