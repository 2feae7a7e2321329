package engine

import "github.com/spoolhq/spool"

// editable refuses an edit of what is no user turn of the thread.
func (h *held) editable(id spool.MessageID) error {
	turn, err := h.Message(id)
	switch {
	case missing(err):
		return &refusal{ReasonNotFound, "Message not found"}
	case err != nil:
		return err
	case turn.Role != spool.RoleUser || turn.AgentID != "":
		return &refusal{ReasonNotEditable, "Only a user message can be edited"}
	}
	return nil
}

// edit drops a user turn and all behind it, which is a branch from then on. It is a part of
// the start that replaces it.
func (h *held) edit(id spool.MessageID) error {
	if err := h.editable(id); err != nil {
		return err
	}
	_, err := drop(h, id, h.run.ID)
	return err
}

// drop takes a message and all behind it out of the view, and returns the branch that they
// are. Run is who they make room for, if anybody.
func drop(tx spool.Tx, id spool.MessageID, run spool.RunID) (spool.BranchID, error) {
	entry := spool.NewEntry(spool.EntryMessagesDropped, run, spool.MessagesDropped{FromMessageID: id})
	if err := tx.AppendEntries(entry); err != nil {
		return 0, err
	}
	return spool.BranchID(entry.Seq), tx.DropMessages(id, entry.Seq)
}
