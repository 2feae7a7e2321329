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

// edit drops a user turn and all behind it. It is a part of the start that replaces it.
func (h *held) edit(id spool.MessageID) error {
	if err := h.editable(id); err != nil {
		return err
	}
	entry := spool.NewEntry(spool.EntryMessagesDropped, h.run.ID, spool.MessagesDropped{FromMessageID: id})
	if err := h.AppendEntries(entry); err != nil {
		return err
	}
	return h.DropMessages(id, entry.Seq)
}
