package engine

import (
	"context"

	"github.com/spoolhq/spool"
)

// SnapshotOptions narrow a snapshot's messages.
type SnapshotOptions = spool.SnapshotOptions

// SnapshotForm encodes snapshots for clients of another protocol.
type SnapshotForm = spool.SnapshotForm

// EncodedSnapshot is a snapshot as JSON.
type EncodedSnapshot = spool.EncodedSnapshot

// FormedSnapshot is a snapshot in a [SnapshotForm].
type FormedSnapshot = spool.FormedSnapshot

// Snapshot returns all that a client needs to show the thread and to follow it from
// there. A nil o narrows nothing. It returns a [spool.NotFound] error for a thread that
// does not exist.
//
// Record, messages and runs are one consistent state. The stream is read after them and
// cut at what that state has saved, so that no text is missing or there twice.
func (w *Watcher) Snapshot(ctx context.Context, key spool.ThreadKey, o *SnapshotOptions) (*spool.Snapshot, error) {
	return w.snapshots.Snapshot(ctx, key, narrowing(o))
}

// EncodedSnapshot returns what [Watcher.Snapshot] returns, encoded. All callers who ask at
// the same time share one read of the thread and its bytes. The messages are encoded once
// for as long as they are asked for.
//
// Beside the errors of Snapshot, it returns an [spool.Unavailable] error when the snapshots
// that are being sent take [StreamOptions.SnapshotMemory] for longer than ten seconds.
func (w *Watcher) EncodedSnapshot(ctx context.Context, key spool.ThreadKey, o *SnapshotOptions) (*EncodedSnapshot, error) {
	encoded, _, err := w.snapshots.Encoded(ctx, key, narrowing(o))
	return encoded, err
}

// FormedSnapshot returns what [Watcher.Snapshot] returns, in another form. Clients share it
// as they share the bytes of [Watcher.EncodedSnapshot], with the same bounds and errors.
func (w *Watcher) FormedSnapshot(ctx context.Context, key spool.ThreadKey, form SnapshotForm) (*FormedSnapshot, error) {
	return w.snapshots.Formed(ctx, key, form)
}

func narrowing(o *SnapshotOptions) SnapshotOptions {
	if o == nil {
		return SnapshotOptions{}
	}
	return *o
}
