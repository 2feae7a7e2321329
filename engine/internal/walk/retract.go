package walk

import (
	"context"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
)

// A segment can end although a part of its stream is in no message: its step failed, somebody stopped
// it, its worker died, or the stream has lost an item. A run can end although the stream has shown a
// call without a result: somebody stopped the run, or nobody answered, while no segment was open. In
// both cases each client gets one snapshot frame, which has the saved messages of this run only.
//
// The frame has a place in the order. In the first case it stands directly before the segment's
// RUN_ENDED. In the second case it stands behind the last RUN_ENDED of the run, and
// before the RUN_STARTED of the next run. The cursor of the frame is the walker's own place: the
// frame jumps over no entry, and a client that comes back with this cursor gets the frame again.
// The walker makes the frame of what the store has now. It takes only the messages that were saved
// before the place, so that a client which replays an old segment gets all later ones in their turn.

// retract returns the snapshot that stands before an entry, with which clients drop the content of a
// segment that no message has. It returns none before most entries.
func (w *Walker) retract(ctx context.Context, ended spool.Entry) ([]Placed, error) {
	if ended.Type != spool.EntryRunEnded || w.RecordOnly || ended.Seq <= w.jump {
		return nil, nil
	}
	id, err := record.StreamOf(ended)
	if err != nil || id == "" || id != w.shown.stream || w.shown.quiet(ended) {
		return nil, err
	}
	page, gone, err := w.whole(ctx, id)
	if err != nil {
		return nil, err
	}
	var p record.RunPart
	err = w.from.Store.View(ctx, w.key, func(v spool.View) (err error) {
		p, err = record.ReadRunPart(v, ended, ended.Seq-1)
		return err
	})
	if spool.CodeOf(err) == spool.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if streamed := record.ReadItems(page.Items); !gone && !streamed.Unsaved() && !streamed.MissesResult(p.Since(p.Segment)) {
		return nil, nil
	}
	return w.partial(p, page, gone), nil
}

// closeCalls returns the snapshot with which clients close the calls of a run that has ended between
// two segments. It returns none while the run is active.
func (w *Walker) closeCalls(ctx context.Context) ([]Placed, error) {
	h := &w.shown
	if w.RecordOnly || w.Reading || h.resolved() || h.ended != nil && w.At.Seq < h.ended.Seq {
		return nil, nil
	}
	var closes *record.RunPart
	err := w.from.Store.View(ctx, w.key, func(v spool.View) (err error) {
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

// closing returns the part of the run of a RUN_ENDED entry that closes its calls, for a client that
// stands at seq. Nil: there is nothing to close. Open is true while the run is active. Nearly all runs
// have nothing to close, and closing reads no messages of those.
func closing(v spool.View, ended spool.Entry, seq int64) (p *record.RunPart, open bool, err error) {
	id, err := record.StreamOf(ended)
	if err != nil {
		return nil, false, err
	}
	thread, err := v.Thread()
	if err != nil {
		return nil, false, err
	}
	run, err := v.Run(ended.RunID)
	if err != nil || run.Stream() != id { // the run has gone on
		return nil, false, err
	}
	if !run.State.Terminal() {
		return nil, true, nil
	}
	asked := record.StatusOf(ended) == spool.SegmentParked && thread.RunID == run.ID
	if !asked && run.Children == 0 {
		ids, err := record.Encoded(v).MessageIDs(spool.MessageQuery{Run: run.ID, SinceSeq: ended.Seq, Limit: 1})
		if err != nil || len(ids) == 0 {
			return nil, false, err
		}
	}
	// A MESSAGES_DROPPED entry takes the last turn, and all behind it: a client that has read it shows
	// nothing of the run any more.
	dropped, err := v.Entries(spool.EntryQuery{Type: spool.EntryMessagesDropped, After: ended.Seq, Limit: 1})
	if err != nil || len(dropped) > 0 && dropped[0].Seq <= seq {
		return nil, false, err
	}
	part, err := record.ReadRunPart(v, ended, seq)
	if err != nil || !asked && len(part.Since(ended.Seq)) == 0 {
		return nil, false, err
	}
	return &part, false, nil
}

// whole returns all items of a stream, or true where it is gone.
func (w *Walker) whole(ctx context.Context, id spool.StreamID) (page spool.StreamPage, gone bool, err error) {
	page, err = w.from.Streams.Read(ctx, spool.StreamKey{Thread: w.key, ID: id}, spool.Offset{}, 0)
	if errors.Is(err, spool.ErrStreamGone) {
		return spool.StreamPage{}, true, nil
	}
	return page, false, err
}

// partial returns the frame with a part of the thread. The walker stands where it stood.
func (w *Walker) partial(p record.RunPart, page spool.StreamPage, gone bool) []Placed {
	past := w.shared && p.Thread.RunID != p.Run.ID
	if past { // the notice of the next run comes behind the frame
		p.Thread.State, p.Thread.RunID = p.Run.State, p.Run.ID
	}
	snap := p.Snapshot(w.At.Seq)
	if !gone {
		snap.Stream = w.endedStream(p, page)
		snap.Stream.Items = p.Open.Items(snap.Stream.Items, p.Thread.LastSeq)
	}
	at := snap.Cursor()
	at.Seq = w.At.Seq
	w.At = at
	frame := w.framed(spool.Frame{Kind: spool.FrameSnapshot, Snapshot: snap})
	frame.Past = past
	return []Placed{frame}
}

// endedStream returns the stream of a segment that is over, without content: the messages have the
// saved content. The record gets the end before the stream does, so a stream without its end ends
// here as its RUN_ENDED entry says.
func (w *Walker) endedStream(p record.RunPart, page spool.StreamPage) *spool.StreamSnapshot {
	s := &spool.StreamSnapshot{StreamID: p.Stream, RunID: p.Run.ID, Items: []spool.Item{}}
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
