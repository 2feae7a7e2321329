package engine

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/snapshot"
)

// SnapshotOptions narrow a snapshot's messages.
type SnapshotOptions = spool.SnapshotOptions

// SnapshotForm encodes snapshots for clients of another protocol.
type SnapshotForm = spool.SnapshotForm

// EncodedSnapshot is a [spool.Snapshot] as JSON, whose bytes are shared with other clients. It has
// the Pieces of the JSON, [][]byte, and their Size. The pieces must not be changed. The caller must
// call Release once it has sent them.
type EncodedSnapshot = snapshot.Encoded

// FormedSnapshot is a snapshot in a [SnapshotForm], which other clients have as well. It has a
// [spool.Snapshot] whose messages are those behind the last entry of the record, what
// [spool.SnapshotForm.Finish] returned as Shared, and the methods First(n), Before(seq) and All,
// which return messages as the elements of a JSON array. The caller must call Release once it has
// sent it.
type FormedSnapshot = snapshot.Formed

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
	return w.snapshots.Encoded(ctx, key, narrowing(o))
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
