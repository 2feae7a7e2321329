package walk

import (
	"context"
	"errors"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/snapshot"
)

// gone decides what to do without the stream: wait for one whose worker is about to open
// it, or for the end of one that was already gone when the client got a snapshot, else give
// the client a snapshot.
func (w *Walker) gone(ctx context.Context) ([]Placed, error) {
	if w.at.Offset.IsZero() || w.lacking {
		var last record.Segment
		err := w.from.Store.View(ctx, w.key, func(v spool.View) error {
			thread, err := v.Thread()
			if err == nil {
				last, err = record.LatestSegment(v, thread)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if last.Stream == w.at.Stream && last.End == nil {
			if last.Live && w.at.Offset.IsZero() {
				return nil, nil
			}
			if w.lacking && last.Saved.Last().Compare(w.at.Offset) <= 0 { // a snapshot would say the same again
				w.reading = false
				return nil, nil
			}
		}
	}
	return w.snapshot(ctx)
}

// snapshot stands for all that is missing, and goes on behind it.
func (w *Walker) snapshot(ctx context.Context) ([]Placed, error) {
	if w.RecordOnly {
		return nil, nil
	}
	if w.shared {
		return nil, ErrReset
	}
	snap, encoded, formed, err := w.takeSnapshot(ctx, spool.SnapshotOptions{LastMessageID: w.last})
	if err != nil {
		return nil, err
	}
	if err = record.CheckSame(snap.Thread, w.made); err == nil {
		w.at = snap.Cursor()
		w.turn, err = w.turnIn(ctx, snap)
	}
	if err != nil {
		encoded.Release()
		formed.Release()
		return nil, err
	}
	w.restored.due = false
	w.shown = shownSegment{stream: w.at.Stream, unsure: snap.Thread.State.Active()}
	w.cut = record.Saved{}
	w.reading = snap.Stream != nil && snap.Stream.End == nil
	w.lacking = w.reading && len(snap.Stream.Items) == 0
	w.jump = 0
	frame := w.framed(spool.Frame{Kind: spool.FrameSnapshot, Snapshot: snap})
	frame.Encoded, frame.Formed = encoded, formed
	w.at.Seq = max(w.at.Seq, 0)
	frame.At = w.at
	return []Placed{frame}, nil
}

// turnIn returns the last user turn behind the last entry of a snapshot that the client has
// with it.
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

// takeSnapshot returns a snapshot, which is encoded, or in another form, for a walker that
// wants it so. It then has no messages but those behind its last entry.
func (w *Walker) takeSnapshot(ctx context.Context, o spool.SnapshotOptions) (snap *spool.Snapshot, encoded *snapshot.Encoded, formed *snapshot.Formed, err error) {
	switch {
	case w.Encodes:
		if encoded, err = w.from.Snapshots.Encoded(ctx, w.key, o); err == nil {
			snap = encoded.Rest()
		}
	case w.Form != nil:
		if formed, err = w.from.Snapshots.Formed(ctx, w.key, w.Form); err == nil {
			snap = formed.Snapshot
		}
	default:
		snap, err = w.from.Snapshots.Snapshot(ctx, w.key, o)
	}
	return snap, encoded, formed, err
}

// ErrReset tells a walker without a client that its stream is gone.
var ErrReset = errors.New("the stream is gone")
