package walk

import (
	"context"
	"errors"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// gone returns the frames for a stream that has expired, in most cases a snapshot. It returns nothing
// if the worker has not opened the stream yet. It also returns nothing if the stream had already
// expired at the client's last snapshot and the segment goes on.
func (w *Walker) gone(ctx context.Context) ([]PositionedFrame, error) {
	if w.At.Offset.IsZero() || w.emptySnapshot {
		var last record.Segment
		err := w.from.Store.View(ctx, w.key, func(v store.View) (err error) {
			_, last, err = w.latest(v)
			return err
		})
		if err != nil {
			return nil, err
		}
		if last.Stream == w.At.Stream && last.End == nil {
			if last.Live && w.At.Offset.IsZero() {
				return nil, nil
			}
			// a new snapshot would contain nothing new
			if w.emptySnapshot && last.Saved.Last().Compare(record.Farther(w.At.Offset, w.unread)) <= 0 {
				w.Reading = false
				return nil, nil
			}
		}
	}
	if w.At.Offset.IsZero() {
		// The worker may have opened the stream since it was read, and have ended the segment before it was viewed.
		_, err := w.from.Streams.Read(ctx, w.stream(), wire.Offset{}, 1)
		switch {
		case err == nil:
			return w.items(ctx)
		case !errors.Is(err, store.ErrStreamGone):
			return nil, err
		}
	}
	return w.snapshot(ctx)
}

// snapshot returns a snapshot frame, which replaces everything that is missing. The walker continues
// after the frame.
func (w *Walker) snapshot(ctx context.Context) ([]PositionedFrame, error) {
	if w.RecordOnly {
		return nil, nil
	}
	if w.shared {
		return nil, ErrReset
	}
	f, err := w.readSnapshot(ctx)
	if err != nil {
		return nil, err
	}
	snap := f.Snapshot
	if err = record.CheckSame(snap.Thread, w.createdAt); err == nil {
		w.At = snap.Cursor()
		w.Turn, err = w.turnIn(ctx, snap)
	}
	if err != nil {
		f.Encoded.Release()
		f.Formed.Release()
		return nil, err
	}
	w.shown = shownSegment{stream: w.At.Stream, unsure: snap.Thread.State.Active()}
	w.cut, w.jump, w.SnapshotDue = record.Saved{}, 0, false
	w.Reading = snap.Stream != nil && snap.Stream.End == nil
	w.emptySnapshot = w.Reading && len(snap.Stream.Items) == 0
	w.unread = wire.Offset{}
	if snap.Stream != nil {
		w.unread = snap.Stream.Saved
	}
	at := w.At
	f.Cursor = &at
	w.At.Seq = max(w.At.Seq, 0)
	f.Progress = w.Progress
	return []PositionedFrame{f}, nil
}

// turnIn returns the user turn that the client has last after it has got the snapshot, among the turns
// right after the snapshot's last entry.
func (w *Walker) turnIn(ctx context.Context, snap *wire.Snapshot) (turn spool.MessageID, err error) {
	err = w.from.Store.View(ctx, w.key, func(v store.View) error {
		turns, err := record.TurnsAt(v, max(snap.LastEventSeq, 0))
		turn = lastOf(turns, func(id spool.MessageID) bool {
			return id == w.last || slices.ContainsFunc(snap.Messages, func(m spool.Message) bool { return m.ID == id })
		})
		return err
	})
	return turn, err
}

// readSnapshot returns a frame with a snapshot in the encoding or form of the mode. The values of an
// encoded or formed snapshot include only the messages after its last entry.
func (w *Walker) readSnapshot(ctx context.Context) (f PositionedFrame, err error) {
	f.Kind = wire.FrameSnapshot
	o := wire.SnapshotOptions{LastMessageID: w.last}
	switch {
	case w.Encodes:
		f.Encoded, f.Snapshot, err = w.from.Snapshots.Encoded(ctx, w.key, o)
	case w.Form != nil:
		if f.Formed, err = w.from.Snapshots.Formed(ctx, w.key, w.Form); err == nil {
			f.Snapshot = f.Formed.Snapshot
		}
	default:
		f.Snapshot, err = w.from.Snapshots.Snapshot(ctx, w.key, o)
	}
	return f, err
}

// ErrReset says that the walker of a hub has lost its position: the stream has expired or has a gap.
var ErrReset = errors.New("the stream is gone or has a hole")
