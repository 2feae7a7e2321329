package walk

import "github.com/spoolhq/spool"

// A MESSAGES_RESTORED entry does not have the messages of the branch. So each client gets a
// snapshot behind the entry. A client that does not know the entry understands the snapshot.
// Clients that ask at the same time share its bytes.

// placeRestored finds out whether a client that comes back may lack the snapshot: its cursor
// does not say whether it has seen what comes behind the entry.
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

// NoteMessages notes what an entry changes of the messages that the client shows.
func (w *Walker) NoteMessages(entry spool.Entry) {
	switch entry.Type {
	case spool.EntryMessagesDropped:
		w.last = "" // what the client shows is not what the view has up to that message
	case spool.EntryMessagesRestored:
		w.last = ""
		w.SnapshotDue = !w.RecordOnly && !w.shared && entry.Seq > w.restoredTo
	default:
	}
}
