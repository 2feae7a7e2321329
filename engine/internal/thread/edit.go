package thread

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// editable returns a refusal unless the message is a user turn of the thread.
func editable(tx *Tx, id spool.MessageID) error {
	turn, err := store.FindMessage(tx.Store, id)
	switch {
	case record.Missing(err):
		return Refuse(wire.ReasonNotFound, "Message not found")
	case err != nil:
		return err
	case turn.Role != spool.RoleUser || turn.AgentID != "":
		return Refuse(wire.ReasonNotEditable, "Only a user message can be edited")
	}
	return nil
}

// edit drops a user turn and all later messages, which become a branch. The start that replaces the
// turn calls it.
func edit(tx *Tx, id spool.MessageID) error {
	if err := editable(tx, id); err != nil {
		return err
	}
	_, err := drop(tx.Store, id, tx.Run.ID)
	return err
}

// drop hides a message and all later ones, and returns their branch. Run is the run that replaces them,
// or empty.
func drop(db store.Tx, id spool.MessageID, run spool.RunID) (wire.BranchID, error) {
	entry := wire.NewEntry(wire.EntryMessagesDropped, run, wire.MessagesDropped{FromMessageID: id})
	if err := db.Write(store.Changes{Entries: []*wire.Entry{entry}}); err != nil {
		return 0, err
	}
	return wire.BranchID(entry.Seq), db.Write(store.Changes{Drop: &store.Drop{From: id, Seq: entry.Seq}})
}
