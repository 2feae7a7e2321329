package live

import "github.com/spoolhq/spool"

// The entry that tells of a restored branch does not have its messages. So each client gets
// a snapshot behind the entry, which also a client understands that does not know the entry.
// Clients share the bytes of the snapshot, as all do who ask for one at the same time.

// restoredBranch is what a walker knows of branches that have come back.
type restoredBranch struct {
	// due is true while the client has still to get the snapshot.
	due bool
	// known is the seq up to which the client has read the messages by itself, as it came
	// without a cursor.
	known int64
}

// placeRestored finds out whether a client that comes back may lack the snapshot: its cursor
// does not say whether it has seen what comes behind the entry.
func (w *walker) placeRestored(v spool.View, thread spool.Thread, c *spool.Cursor) error {
	if c == nil {
		w.restored.known = thread.LastSeq
		return nil
	}
	if w.recordOnly || c.Seq < 1 {
		return nil
	}
	entries, err := v.Entries(spool.EntryQuery{After: c.Seq - 1, Limit: 1})
	if err == nil && len(entries) == 1 && entries[0].Type == spool.EntryMessagesRestored {
		w.noteMessages(entries[0])
	}
	return err
}

// noteMessages notes what an entry changes of the messages that the client shows.
func (w *walker) noteMessages(entry spool.Entry) {
	switch entry.Type {
	case spool.EntryMessagesDropped:
		w.last = "" // what the client shows is not what the view has up to that message
	case spool.EntryMessagesRestored:
		w.last = ""
		w.restored.due = !w.recordOnly && !w.shared && entry.Seq > w.restored.known
	default:
	}
}

// untilRestored returns the frames up to an entry after which the follower owes its client
// a snapshot. It notes what they change of the messages that the client shows.
func (f *follower) untilRestored(frames []ringFrame) []ringFrame {
	for i, frame := range frames {
		if frame.Kind != spool.FrameThread || frame.Event.Seq == 0 {
			continue
		}
		f.walker.noteMessages(*frame.Event)
		if f.walker.restored.due {
			return frames[:i+1]
		}
	}
	return frames
}
