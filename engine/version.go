package engine

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/record"
	"github.com/spoolhq/spool/wire"
)

// Record returns the record of a thread as the file that package record reads: its messages, entries and runs, and
// what each commit has changed. The caller must release it. Record returns a [spool.NotFound] error for a thread that
// does not exist, and the other errors of [Watcher.EncodedSnapshot].
func (w *Watcher) Record(ctx context.Context, key spool.ThreadKey) (*wire.EncodedSnapshot, error) {
	return w.snapshots.Record(ctx, key)
}

// SnapshotAt returns the snapshot of the thread behind the commit that made a version, without a stream: what
// [Watcher.Snapshot] returned then. It returns a [spool.NotFound] error for a thread that does not exist, and a
// [spool.Invalid] error for a version that it does not have. It reads the whole record.
func (w *Watcher) SnapshotAt(ctx context.Context, key spool.ThreadKey, version int64) (*wire.Snapshot, error) {
	return w.snapshots.At(ctx, key, func(r *record.Record) (int64, error) { return version, r.Check(version) })
}

// SnapshotAtSeq returns the snapshot of the first version whose record has reached a seq. Its errors are those of
// [Watcher.SnapshotAt]: a seq that the record has not reached is [spool.Invalid].
func (w *Watcher) SnapshotAtSeq(ctx context.Context, key spool.ThreadKey, seq int64) (*wire.Snapshot, error) {
	return w.snapshots.At(ctx, key, func(r *record.Record) (int64, error) {
		if version := r.VersionOf(seq); version > 0 {
			return version, nil
		}
		return 0, spool.Errorf(spool.Invalid, "seq: the record has not reached %d", seq)
	})
}
