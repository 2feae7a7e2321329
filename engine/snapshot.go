package engine

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// Snapshot returns everything that a client needs to show the thread and to follow it from there. A nil
// o asks for all messages. Snapshot returns a [spool.NotFound] error for a thread that does not exist.
//
// Record, messages and runs are one consistent state. Snapshot reads the stream afterwards, and leaves
// out items that this state already contains, so that no text is missing or repeated.
func (w *Watcher) Snapshot(ctx context.Context, key spool.ThreadKey, o *wire.SnapshotOptions) (*wire.Snapshot, error) {
	return w.snapshots.Snapshot(ctx, key, narrowing(o))
}

// EncodedSnapshot returns the JSON of [Watcher.Snapshot]. Concurrent calls share one read of the thread
// and the same bytes. Each message is encoded once and kept for as long as callers ask for it.
//
// Besides the errors of Snapshot, it returns an [spool.Unavailable] error when other snapshots occupy
// all of [StreamOptions.SnapshotMemory] for ten seconds.
func (w *Watcher) EncodedSnapshot(
	ctx context.Context, key spool.ThreadKey, o *wire.SnapshotOptions,
) (*wire.EncodedSnapshot, error) {
	encoded, _, err := w.snapshots.Encoded(ctx, key, narrowing(o))
	return encoded, err
}

// FormedSnapshot returns [Watcher.Snapshot] in another form. Clients share the result, as with
// [Watcher.EncodedSnapshot], within the same bounds and with the same errors.
func (w *Watcher) FormedSnapshot(
	ctx context.Context, key spool.ThreadKey, form wire.SnapshotForm,
) (*wire.FormedSnapshot, error) {
	return w.snapshots.Formed(ctx, key, form)
}

func narrowing(o *wire.SnapshotOptions) wire.SnapshotOptions {
	if o == nil {
		return wire.SnapshotOptions{}
	}
	return *o
}
