package thread

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
)

// editable refuses an edit of what is no user turn of the thread.
func editable(tx *Tx, id spool.MessageID) error {
	turn, err := tx.Store.Message(id)
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

// edit drops a user turn and all behind it, which is a branch from then on. It is a part of
// the start that replaces it.
func edit(tx *Tx, id spool.MessageID) error {
	if err := editable(tx, id); err != nil {
		return err
	}
	_, err := drop(tx.Store, id, tx.Run.ID)
	return err
}

// drop takes a message and all behind it out of the view, and returns the branch that they
// are. Run is the one that they make room for, if any.
func drop(store spool.Tx, id spool.MessageID, run spool.RunID) (spool.BranchID, error) {
	entry := spool.NewEntry(spool.EntryMessagesDropped, run, spool.MessagesDropped{FromMessageID: id})
	if err := store.AppendEntries(entry); err != nil {
		return 0, err
	}
	return spool.BranchID(entry.Seq), store.DropMessages(id, entry.Seq)
}
