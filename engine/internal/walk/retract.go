package walk

import (
	"context"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// A segment can end although no message contains a part of its stream: its step failed, somebody
// stopped the run, its worker died, or the stream has lost an item. A run can end although its stream
// has shown a call without a result: no segment was open when somebody stopped the run, or when the
// time for an answer passed. In both cases each client gets one snapshot frame, which has only the
// saved messages of this run.
//
// The frame has a position in the order. In the first case it comes directly before the segment's
// RUN_ENDED. In the second case it comes after the last RUN_ENDED of the run, and before the
// RUN_STARTED of the next run. The cursor of the frame is the walker's own position: the frame skips no
// entry, and a client that comes back with this cursor gets the frame again. The walker makes the frame
// from the store's present data. It takes only messages that were saved before the frame's position, so
// that a client that replays an old segment gets all later messages in order.

// retract returns the snapshot that comes before an entry and makes clients drop the streamed content
// that no message contains. For most entries it returns nothing.
func (w *Walker) retract(ctx context.Context, ended *wire.Entry) ([]PositionedFrame, error) {
	if ended.Type != wire.EntryRunEnded || w.RecordOnly || ended.Seq <= w.jump {
		return nil, nil
	}
	id, err := record.StreamOf(*ended)
	if err != nil || id == "" || id != w.shown.stream || w.shown.quiet(ended) {
		return nil, err
	}
	page, gone, err := w.whole(ctx, id)
	if err != nil {
		return nil, err
	}
	var p record.RunPart
	err = w.from.Store.View(ctx, w.key, func(v store.View) (err error) {
		p, err = record.ReadRunPart(v, *ended, ended.Seq-1)
		return err
	})
	if spool.CodeOf(err) == spool.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if streamed := record.ReadItems(page.Items); !gone && !streamed.Unsaved() &&
		!streamed.MissesResult(p.Since(p.Segment)) {
		return nil, nil
	}
	return w.partial(p, page, gone), nil
}

// closeCalls returns the snapshot that makes clients close the calls of a run that has ended between
// two segments. It returns nothing while the run is active.
func (w *Walker) closeCalls(ctx context.Context) ([]PositionedFrame, error) {
	h := &w.shown
	if w.RecordOnly || w.Reading || h.resolved() || h.ended != nil && w.At.Seq < h.ended.Seq {
		return nil, nil
	}
	var closes *record.RunPart
	err := w.from.Store.View(ctx, w.key, func(v store.View) (err error) {
		if h.unsure {
			err = h.find(v, w.At)
		}
		if err != nil || h.ended == nil {
			return err
		}
		closes, h.open, err = closing(v, *h.ended, w.At.Seq)
		return err
	})
	if spool.CodeOf(err) == spool.NotFound {
		h.ended, err = nil, nil
	}
	if err != nil || h.ended == nil || h.open {
		return nil, err
	}
	if closes == nil {
		h.ended = nil
		return nil, nil
	}
	page, gone, err := w.whole(ctx, closes.Stream)
	if err != nil {
		return nil, err
	}
	h.ended, h.closed = nil, true
	return w.partial(*closes, page, gone), nil
}

// closing returns the part of the thread that closes the open calls of a RUN_ENDED entry's run, for a
// client at seq. It returns nil if the run has no open calls. Open is true while the run is active.
// Nearly all runs have no open calls; closing does not read the messages of these runs.
func closing(v store.View, ended wire.Entry, seq int64) (p *record.RunPart, open bool, err error) {
	id, err := record.StreamOf(ended)
	if err != nil {
		return nil, false, err
	}
	thread, err := v.Thread()
	if err != nil {
		return nil, false, err
	}
	run, err := store.FindRun(v, ended.RunID)
	if err != nil || run.Stream() != id { // the run has continued
		return nil, false, err
	}
	if !run.State.Terminal() {
		return nil, true, nil
	}
	asked := record.StatusOf(ended) == wire.SegmentParked && thread.RunID == run.ID
	if !asked && run.Children == 0 {
		ids, err := record.Encoded(v).MessageIDs(store.MessageQuery{Run: run.ID, SinceSeq: ended.Seq, Limit: 1})
		if err != nil || len(ids) == 0 {
			return nil, false, err
		}
	}
	// A MESSAGES_DROPPED entry drops the last turn and everything after it. A client that has read it
	// shows nothing of the run any more.
	dropped, err := v.Entries(store.EntryQuery{Type: wire.EntryMessagesDropped, After: ended.Seq, Limit: 1})
	if err != nil || len(dropped) > 0 && dropped[0].Seq <= seq {
		return nil, false, err
	}
	part, err := record.ReadRunPart(v, ended, seq)
	if err != nil || !asked && len(part.Since(ended.Seq)) == 0 {
		return nil, false, err
	}
	return &part, false, nil
}

// whole returns all items of a stream. Gone is true if the stream has expired.
func (w *Walker) whole(ctx context.Context, id wire.StreamID) (page store.StreamPage, gone bool, err error) {
	page, err = w.from.Streams.Read(ctx, store.StreamKey{Thread: w.key, ID: id}, wire.Offset{}, 0)
	if errors.Is(err, store.ErrStreamGone) {
		return store.StreamPage{}, true, nil
	}
	return page, false, err
}

// partial returns the frame with a part of the thread. It does not move the walker.
func (w *Walker) partial(p record.RunPart, page store.StreamPage, gone bool) []PositionedFrame {
	past := w.shared && p.Thread.RunID != p.Run.ID
	if past { // the notice of the next run comes after the frame
		p.Thread.State, p.Thread.RunID, p.Thread.Expired = p.Run.State, p.Run.ID, p.Run.Expired
	}
	snap := p.Snapshot(w.At.Seq)
	if !gone {
		snap.Stream = w.endedStream(p, page)
		snap.Stream.Items = p.Open.Items(snap.Stream.Items, p.Thread.LastSeq)
	}
	at := snap.Cursor()
	at.Seq = w.At.Seq
	w.At = at
	frame := w.framed(wire.Frame{Kind: wire.FrameSnapshot, Snapshot: snap})
	frame.Past = past
	return []PositionedFrame{frame}
}

// endedStream returns the stream of an ended segment without content, because the messages contain the
// saved content. The end reaches the record before the stream. So if the stream has no end yet,
// endedStream takes the end from the RUN_ENDED entry.
func (w *Walker) endedStream(p record.RunPart, page store.StreamPage) *wire.StreamSnapshot {
	s := &wire.StreamSnapshot{StreamID: p.Stream, RunID: p.Run.ID, Items: []wire.Item{}}
	for _, item := range page.Items {
		if item.Type.Content() {
			continue
		}
		s.Items = append(s.Items, item)
		if item.Type.End() {
			s.End = &item
		}
	}
	last := record.Farther(page.Last, p.Ended.After)
	if w.At.Stream == p.Stream {
		last = w.At.Offset
	}
	if s.End == nil {
		end := record.EndItem(p.Ended, last)
		s.Items = append(s.Items, end)
		s.End = &end
	}
	if !last.IsZero() {
		s.Offset = &last
	}
	return s
}
