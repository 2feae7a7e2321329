package engine

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// BeforeSegment returns the cursor right before a segment of a run: from there, [Watcher.Follow] yields
// the whole segment. The cursor is nil if the segment has not begun. BeforeSegment returns a
// [spool.NotFound] error for a thread that does not exist. It reads the thread only if the segment's first
// entry is not among the entries that the caller already has, such as those of a snapshot.
func (w *Watcher) BeforeSegment(
	ctx context.Context, key spool.ThreadKey, run spool.RunID, segment int, have ...wire.Entry,
) (*wire.Cursor, error) {
	stream := wire.Run{ID: run, Segments: segment}.Stream()
	cursor := beforeStream(have, stream)
	if cursor != nil {
		return cursor, nil
	}
	err := record.View(ctx, w.store, key, func(v store.View, _ wire.Thread) error {
		entries, err := v.Entries(store.EntryQuery{Type: wire.EntryRunStarted, Run: run})
		cursor = beforeStream(entries, stream)
		return err
	})
	return cursor, err
}

// beforeStream returns the cursor before the entry that opens the stream, or nil.
func beforeStream(entries []wire.Entry, stream wire.StreamID) *wire.Cursor {
	for _, entry := range entries {
		if entry.Type != wire.EntryRunStarted {
			continue
		}
		if id, err := record.StreamOf(entry); err == nil && id == stream {
			if entry.Seq == 1 {
				return &wire.Cursor{Seq: -1} // as in a snapshot of a thread without entries
			}
			return &wire.Cursor{Seq: entry.Seq - 1}
		}
	}
	return nil
}
