package walk

import "github.com/spoolhq/spool"

// A MESSAGES_RESTORED entry does not have the messages of the branch. So each client gets a
// snapshot behind the entry, which clients understand that do not know the entry. Clients that ask
// at the same time share its bytes.

// placeRestored notes that a client needs the snapshot if it comes back right behind the entry: its
// cursor does not say whether it has got the snapshot.
func (w *Walker) placeRestored(v spool.View, thread spool.Thread, c *spool.Cursor) error {
	if c == nil {
		w.restoredTo = thread.LastSeq
		return nil
	}
	if w.RecordOnly || c.Seq < 1 {
		return nil
	}
	entries, err := v.Entries(spool.EntryQuery{After: c.Seq - 1, Limit: 1})
	if err == nil && len(entries) == 1 && entries[0].Type == spool.EntryMessagesRestored {
		w.NoteMessages(entries[0])
	}
	return err
}

// NoteMessages notes how an entry changes the messages that the client shows.
func (w *Walker) NoteMessages(entry spool.Entry) {
	switch entry.Type {
	case spool.EntryMessagesDropped:
		w.last = "" // the view has other messages up to that one than the client
	case spool.EntryMessagesRestored:
		w.last = ""
		w.SnapshotDue = !w.RecordOnly && !w.shared && entry.Seq > w.restoredTo
	default:
	}
}
