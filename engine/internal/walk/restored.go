package walk

import (
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// A MESSAGES_RESTORED entry does not contain the messages of the branch. So each client gets a snapshot
// after the entry, which also helps clients that do not know the entry. Clients that ask at the same
// time share the bytes of the snapshot.

// noteRestored notes whether a client at the cursor c needs that snapshot. A client right after the
// entry does, because its cursor does not say whether it has got the snapshot.
func (w *Walker) noteRestored(v store.View, thread wire.Thread, c *wire.Cursor) error {
	if c == nil {
		w.restoredTo = thread.LastSeq
		return nil
	}
	if w.RecordOnly || c.Seq < 1 {
		return nil
	}
	entries, err := v.Entries(store.EntryQuery{After: c.Seq - 1, Limit: 1})
	if err == nil && len(entries) == 1 && entries[0].Type == wire.EntryMessagesRestored {
		w.NoteMessages(&entries[0])
	}
	return err
}

// NoteMessages notes how an entry changes the messages that the client shows.
func (w *Walker) NoteMessages(entry *wire.Entry) {
	switch entry.Type {
	case wire.EntryMessagesDropped:
		w.last = "" // up to that message, the view now has other messages than the client
	case wire.EntryMessagesRestored:
		w.last = ""
		w.SnapshotDue = !w.RecordOnly && !w.shared && entry.Seq > w.restoredTo
	default:
	}
}
