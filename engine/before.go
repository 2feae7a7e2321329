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
// [spool.NotFound] error for a thread that does not exist.
func (w *Watcher) BeforeSegment(
	ctx context.Context, key spool.ThreadKey, run spool.RunID, segment int,
) (*wire.Cursor, error) {
	stream := wire.Run{ID: run, Segments: segment}.Stream()
	var cursor *wire.Cursor
	err := record.View(ctx, w.store, key, func(v store.View, _ wire.Thread) error {
		cursor = nil
		entries, err := v.Entries(store.EntryQuery{Type: wire.EntryRunStarted, Run: run})
		for _, entry := range entries {
			if id, err := record.StreamOf(entry); err != nil || id != stream {
				continue
			}
			cursor = &wire.Cursor{Seq: entry.Seq - 1}
			if cursor.Seq == 0 {
				cursor.Seq = -1 // as in a snapshot of a thread without entries
			}
		}
		return err
	})
	return cursor, err
}
