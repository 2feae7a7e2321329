package walk

import (
	"context"
	"errors"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
)

// gone returns the frames that follow if the stream is gone: a snapshot, in most cases. It returns
// none if the worker is about to open the stream, or if the stream was already gone at the client's
// last snapshot and the segment goes on.
func (w *Walker) gone(ctx context.Context) ([]Placed, error) {
	if w.At.Offset.IsZero() || w.emptySnapshot {
		var last record.Segment
		err := w.from.Store.View(ctx, w.key, func(v spool.View) (err error) {
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
			if w.emptySnapshot && last.Saved.Last().Compare(w.At.Offset) <= 0 { // a snapshot would say the same again
				w.Reading = false
				return nil, nil
			}
		}
	}
	return w.snapshot(ctx)
}

// snapshot returns a snapshot frame in place of everything that is missing. The walker goes on behind
// it.
func (w *Walker) snapshot(ctx context.Context) ([]Placed, error) {
	if w.RecordOnly {
		return nil, nil
	}
	if w.shared {
		return nil, ErrReset
	}
	f, err := w.takeSnapshot(ctx)
	if err != nil {
		return nil, err
	}
	snap := f.Snapshot
	if err = record.CheckSame(snap.Thread, w.made); err == nil {
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
	at := w.At
	f.Cursor = &at
	w.At.Seq = max(w.At.Seq, 0)
	f.Stand = w.Stand
	return []Placed{f}, nil
}

// turnIn returns the last user turn behind the last entry of a snapshot that the client has once it
// has the snapshot.
func (w *Walker) turnIn(ctx context.Context, snap *spool.Snapshot) (turn spool.MessageID, err error) {
	err = w.from.Store.View(ctx, w.key, func(v spool.View) error {
		turns, err := record.TurnsAt(v, max(snap.LastEventSeq, 0))
		turn = lastOf(turns, func(id spool.MessageID) bool {
			return id == w.last || slices.ContainsFunc(snap.Messages, func(m spool.Message) bool { return m.ID == id })
		})
		return err
	})
	return turn, err
}

// takeSnapshot returns a frame with a snapshot in the mode's encoding or form. An encoded or formed
// snapshot has, as values, only the messages behind its last entry.
func (w *Walker) takeSnapshot(ctx context.Context) (f Placed, err error) {
	f.Kind = spool.FrameSnapshot
	o := spool.SnapshotOptions{LastMessageID: w.last}
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

// ErrReset says that the walker of a hub has lost its place: the stream is gone or has a hole.
var ErrReset = errors.New("the stream is gone or has a hole")
