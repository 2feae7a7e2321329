package thread

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// A model may give an answer that another request can ask for again. Such an answer is one attempt, however
// often it is asked for: it gets its row of the ledger when it ends, or when the run goes on without it.

// abandonAnswer returns the ledger row of an answer that the run does not ask for again, or nothing.
func (tx *Tx) abandonAnswer(outcome wire.Outcome) []wire.UsageRow {
	r := tx.Run.Resume
	if r == nil {
		return nil
	}
	tx.Run.Resume = nil
	return tx.price([]wire.UsageRow{{
		RunID: tx.Run.Root(), AgentID: tx.Run.AgentID(), Agent: tx.Run.Agent, Kind: spool.UsageStep, Step: r.Step,
		Model: r.Model, Requested: r.Requested, Outcome: outcome, Guess: spool.Usage{Input: new(r.Prompt)}, Cost: r.Cost,
	}})
}

// AbandonAnswer charges an answer that the run does not ask for again, if there is one.
func (tx *Tx) AbandonAnswer(outcome wire.Outcome) error {
	return tx.Write(store.Changes{Usage: tx.abandonAnswer(outcome)})
}

// agentsAskingAgain reports which agents of the tree have an answer that they will ask for again.
func (tx *Tx) agentsAskingAgain() (map[spool.AgentID]bool, error) {
	runs := []store.RunRow{tx.Run}
	if tx.Run.Children > 0 {
		nested, err := record.Nested(tx.Store, tx.Run.ID)
		if err != nil {
			return nil, err
		}
		runs = append(runs, nested...)
	}
	return askingAgain(runs), nil
}

func askingAgain(runs []store.RunRow) map[spool.AgentID]bool {
	all := make(map[spool.AgentID]bool)
	for _, r := range runs {
		if r.Resume != nil && !r.State.Terminal() {
			all[r.AgentID()] = true
		}
	}
	return all
}
