package thread

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
)

// editable returns a refusal unless the message is a user turn of the thread.
func editable(tx *Tx, id spool.MessageID) error {
	turn, err := spool.FindMessage(tx.Store, id)
	switch {
	case record.Missing(err):
		return Refuse(spool.ReasonNotFound, "Message not found")
	case err != nil:
		return err
	case turn.Role != spool.RoleUser || turn.AgentID != "":
		return Refuse(spool.ReasonNotEditable, "Only a user message can be edited")
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
func drop(db spool.Tx, id spool.MessageID, run spool.RunID) (spool.BranchID, error) {
	entry := spool.NewEntry(spool.EntryMessagesDropped, run, spool.MessagesDropped{FromMessageID: id})
	if err := db.Write(spool.Changes{Entries: []*spool.Entry{entry}}); err != nil {
		return 0, err
	}
	return spool.BranchID(entry.Seq), db.Write(spool.Changes{Drop: &spool.Drop{From: id, Seq: entry.Seq}})
}
