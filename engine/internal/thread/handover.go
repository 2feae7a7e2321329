package thread

import (
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Successor is the agent that takes a thread over.
type Successor struct {
	Agent, Model string
	History      spool.TransferHistory
	// Brief is what the agent before says, for [spool.TransferBrief].
	Brief string
	// Last is the newest message of the thread, and Messages is how many there are.
	Last     spool.MessageID
	Messages int
}

// HandOver is the transition back to QUEUED when the run's agent has handed the thread over. The run's next segment, by
// any worker that has the other agent, goes on with it.
func HandOver(tx *Tx, to Successor) error {
	over := wire.HandedOver{Step: tx.Run.Steps, From: tx.Run.Agent, To: to.Agent, History: to.History}
	c := store.Changes{Entries: []*wire.Entry{wire.NewEntry(wire.EntryHandedOver, tx.Run.ID, over)}}
	if to.History == spool.TransferBrief {
		brief := tx.Message(spool.RoleSystem,
			spool.Content{{Type: spool.PartSummary, Text: to.Brief, ThroughMessageID: to.Last}})
		brief.RunID = record.Answers(tx.Run) // prompts keep the turn of that run
		c.Messages = []*spool.Message{brief}
		c.Entries = append(c.Entries, wire.NewEntry(wire.EntryContextCompacted, tx.Run.ID, wire.ContextCompacted{
			SummarizedMessages: to.Messages, MessageID: brief.ID,
		}))
	}
	if err := tx.Write(c); err != nil {
		return err
	}
	tx.Run.Handovers = append(tx.Run.Handovers, store.Handover{Step: over.Step, From: over.From, To: over.To})
	tx.Run.Agent, tx.Run.Model, tx.Thread.Model = to.Agent, to.Model, to.Model
	// What the state says of the agent before.
	tx.Run.Revision, tx.Run.Fallback, tx.Run.Context, tx.Run.Cleared, tx.Run.Described = "", nil, nil, "", nil
	return HandBack(tx, time.Time{}, "the agent "+to.Agent+" takes over")
}
