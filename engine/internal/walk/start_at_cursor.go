package walk

import (
	"context"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// StartAt puts the walker at a client's cursor, or at the present if c is nil. It returns a snapshot
// frame if the cursor's position has expired. View runs a function in a transaction.
func (w *Walker) StartAt(
	ctx context.Context, c *wire.Cursor, view func(read func(v store.View) error) error,
) ([]PositionedFrame, error) {
	var thread wire.Thread
	var last record.Segment
	var named record.NamedStream
	err := view(func(v store.View) (err error) {
		if thread, last, err = w.latest(v); err != nil {
			return err
		}
		if err := w.startTurn(v, c); err != nil {
			return err
		}
		if err := w.noteRestored(v, thread, c); err != nil || c == nil {
			return err
		}
		if err := w.shown.find(v, *c); err != nil {
			return err
		}
		if c.Stream == "" {
			return w.lookAhead(v, thread, last, max(c.Seq, 0))
		}
		named, err = record.FindStream(v, *c, w.from.StreamGrace)
		return err
	})
	if err != nil {
		return nil, err
	}
	switch {
	case w.RecordOnly:
		if c != nil {
			w.At.Seq = max(c.Seq, 0)
		}
		return nil, nil
	case c == nil:
		w.beginNow(last)
		return nil, nil
	case c.Seq > thread.LastSeq, c.Stream != "" && named.Seq == 0, named.Past, w.SnapshotDue, record.IsUnread(c.Offset):
		return w.snapshot(ctx)
	case c.Stream == "":
		w.beginAfter(last, max(c.Seq, 0))
		return w.closeCalls(ctx)
	}
	w.At = *c
	w.At.Seq = max(c.Seq, 0)
	page, err := w.from.Streams.Read(ctx, w.stream(), c.Offset, 1)
	switch {
	case errors.Is(err, store.ErrStreamGone) && c.Offset.IsZero() && last.Live && last.Stream == c.Stream:
	case errors.Is(err, store.ErrStreamGone):
		return w.snapshot(ctx)
	case err != nil:
		return nil, err
	case c.Offset.Compare(record.Farther(page.Last, named.Last)) > 0 &&
		(last.Stream != c.Stream || c.Offset.Compare(last.Saved.Last()) > 0):
		return w.snapshot(ctx)
	}
	more := !named.Over && (!page.Ended || len(page.Items) > 0)
	if named.Seq > w.At.Seq {
		w.jump, w.jumpRead = named.Seq, more
	} else {
		w.Reading = more
	}
	return w.closeCalls(ctx)
}

// lookAhead reads the stretch after a client's cursor in the transaction that finds the cursor, if entries come
// next.
func (w *Walker) lookAhead(v store.View, thread wire.Thread, last record.Segment, seq int64) error {
	if w.RecordOnly || w.SnapshotDue || seq >= thread.LastSeq || last.InFlight() && last.Seq <= seq {
		return nil
	}
	s, err := w.stretchOf(v, seq, PageSize)
	w.ahead = &s
	return err
}

// latest returns the thread and its latest segment.
func (w *Walker) latest(v store.View) (thread wire.Thread, last record.Segment, err error) {
	if thread, err = v.Thread(); err == nil {
		err = record.CheckSame(thread, w.createdAt)
	}
	if err == nil {
		last, err = record.LatestSegment(v, thread)
	}
	return thread, last, err
}

// startTurn finds the last user turn that the client has of those right after its cursor. The client
// has sent the id of its last message or of its last turn.
func (w *Walker) startTurn(v store.View, c *wire.Cursor) error {
	shown := w.Turn
	if w.known == "" && shown == "" {
		return nil
	}
	seq := int64(0)
	if c != nil {
		seq = max(c.Seq, 0)
	}
	turns, err := record.TurnsAt(v, seq)
	w.Turn = lastOf(turns, func(id spool.MessageID) bool { return id == w.known || id == shown })
	return err
}

// beginNow starts a walker without a cursor. The walker reads the record from its start. It reads only
// the stream of the segment in flight, after the part that the messages contain.
func (w *Walker) beginNow(last record.Segment) {
	w.At = wire.Cursor{Stream: last.Stream, Offset: last.Saved.Main}
	w.cut = last.Saved
	w.jump, w.jumpRead = last.Seq, last.InFlight()
	w.shown = shownSegment{stream: last.Stream}
	if last.End != nil { // all segments have ended, so only the record is read
		w.At.Offset = last.End.After
		w.shown = shownSegment{ended: last.End}
	}
}

// beginAfter starts a walker whose cursor names no stream. If the cursor is inside the segment in
// flight, the walker reads its stream after the part that the messages contain. It reads every later
// stream from its start.
func (w *Walker) beginAfter(last record.Segment, seq int64) {
	w.At = wire.Cursor{Seq: seq}
	if last.InFlight() && last.Seq <= seq {
		w.At.Stream, w.At.Offset, w.Reading = last.Stream, last.Saved.Main, true
		w.cut = last.Saved
		w.shown = shownSegment{stream: last.Stream}
	}
}

// ToPresent puts the walker of a hub at the present. It calls also in the same transaction.
func (w *Walker) ToPresent(
	ctx context.Context, also func(v store.View, thread wire.Thread) error,
) (thread wire.Thread, err error) {
	var last record.Segment
	var turns []spool.Message
	err = w.from.Store.View(ctx, w.key, func(v store.View) (err error) {
		if thread, last, err = w.latest(v); err != nil {
			return err
		}
		if turns, err = record.TurnsAt(v, thread.LastSeq); err != nil {
			return err
		}
		return also(v, thread)
	})
	if err != nil {
		return thread, err
	}
	w.createdAt = thread.CreatedAt
	w.At, w.Reading = wire.Cursor{Seq: thread.LastSeq}, false
	w.Turn = lastOf(turns, func(spool.MessageID) bool { return true })
	w.shown = shownSegment{stream: last.Stream}
	if last.End != nil {
		w.shown = shownSegment{}
		if thread.State.Active() && thread.RunID == last.Run {
			w.shown.ended = last.End
		}
	}
	if last.Stream != "" {
		page, err := w.from.Streams.Read(ctx, store.StreamKey{Thread: w.key, ID: last.Stream}, record.Farthest, 1)
		switch {
		case err == nil:
			w.At.Stream, w.At.Offset, w.Reading = last.Stream, page.Last, last.InFlight() && !page.Ended
			w.shown.plain = page.Last.IsZero()
			if last.End != nil {
				w.At.Offset = record.Farther(page.Last, last.End.After)
			}
		case !errors.Is(err, store.ErrStreamGone):
			return thread, err
		case last.Live && last.InFlight(): // its worker has not opened the stream yet
			w.At.Stream, w.Reading, w.shown.plain, w.unopened = last.Stream, true, true, true
		case last.End == nil: // clients are where package snapshot puts them
			w.At.Stream = last.Stream
			w.At.Offset, w.unread = last.Saved.Unread()
		}
	}
	w.AtEnd = true
	return thread, nil
}
