package live

import (
	"context"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
)

// A segment can end although no message has a part of what it said: its step failed, it was
// stopped, or its worker died. A run can end although the stream has shown a call without a
// result: somebody stopped it, or nobody answered, while no segment was open. In both cases
// each client gets one snapshot frame, which has what is saved of this run and nothing else.
//
// The walker puts the frame into its order. The first kind stands directly before the
// segment's RUN_ENDED. The second kind stands behind the last RUN_ENDED of the run, and
// before the RUN_STARTED of the next run. The cursor of the frame is the walker's own place:
// no entry is jumped over, and a client that comes back with this cursor gets the frame
// again. The walker makes the frame of what the store has now. Of the messages it takes
// only those that were saved before the place, so that a client which replays an old
// segment gets all later ones in their turn.

// shownSegment is what a walker knows of what its client was told.
type shownSegment struct {
	// stream is the one of which the client may have items. Empty: it has the RUN_ENDED of
	// the last one.
	stream spool.StreamID
	// plain is true while the walker has read every item of the stream by itself, and they
	// tell neither of a nested run nor of a limit that has ended the run.
	plain bool
	// ended is the RUN_ENDED entry behind which the client stands, if the run may have had
	// open calls there. Nil: there is nothing to close.
	ended *spool.Entry
	// open is true once the walker has seen that the run behind ended has not ended.
	open bool
	// unsure is true while the walker has still to look for ended.
	unsure bool
	// closed is true while the last frame was the one that closes the calls.
	closed bool
}

// settled reports whether a hub tells the client everything from here on.
func (h *shownSegment) settled() bool { return !h.unsure && (h.ended == nil || h.open) }

// item notes an item that the walker has read.
func (h *shownSegment) item(item spool.Item) {
	switch item.Type {
	case spool.ItemSubagentStarted:
		h.plain = false
	case spool.ItemRunFinished:
		var f spool.StreamFinished
		h.plain = h.plain && item.Decode(&f) == nil && f.FinishReason == spool.StopCompleted
	default:
	}
}

// entry notes an entry that the walker has passed.
func (h *shownSegment) entry(entry spool.Entry) {
	h.closed = false
	if entry.Type != spool.EntryRunEnded {
		return
	}
	if id, err := record.StreamOf(entry); err != nil || id != h.stream {
		return
	}
	quiet := h.quiet(entry)
	*h = shownSegment{}
	if !quiet {
		h.ended = &entry
	}
}

// quiet reports whether a segment ended in a way that leaves nothing unsaid or unsaved.
func (h *shownSegment) quiet(ended spool.Entry) bool {
	return h.plain && record.StatusOf(ended) == spool.SegmentFinished
}

// find looks for the RUN_ENDED entry behind which a client with this cursor stands. A cursor
// without a stream may also stand within a segment.
func (h *shownSegment) find(v spool.View, at spool.Cursor) error {
	*h = shownSegment{stream: at.Stream}
	if at.Stream == "" {
		return h.findBare(v, max(at.Seq, 0))
	}
	run, _, _ := at.Stream.Split()
	entries, err := v.Entries(spool.EntryQuery{Type: spool.EntryRunEnded, Run: run})
	for _, entry := range entries {
		id, err := record.StreamOf(entry)
		if err == nil && entry.Seq <= at.Seq && id == at.Stream {
			*h = shownSegment{ended: &entry}
		}
	}
	return err
}

func (h *shownSegment) findBare(v spool.View, seq int64) error {
	started, err := record.LastUpTo(v, spool.EntryRunStarted, seq)
	if err != nil || started == nil {
		return err
	}
	ended, err := record.LastUpTo(v, spool.EntryRunEnded, seq)
	if err != nil || ended != nil && ended.Seq > started.Seq {
		h.ended = ended
		return err
	}
	h.stream, err = record.StreamOf(*started)
	return err
}

// retracted adds the frame of retract that stands before an entry, if there is one.
func (w *walker) retracted(ctx context.Context, frames []placedFrame, entry spool.Entry) ([]placedFrame, error) {
	if entry.Type != spool.EntryRunEnded || w.recordOnly || entry.Seq <= w.jump {
		return frames, nil
	}
	frame, err := w.retract(ctx, entry)
	return append(frames, frame...), err
}

// settled adds the frame of settle that stands where the walker stands, if there is one.
func (w *walker) settled(ctx context.Context, frames []placedFrame) ([]placedFrame, error) {
	if w.reading || w.shown.settled() {
		return frames, nil
	}
	frame, err := w.settle(ctx)
	return append(frames, frame...), err
}

// givenFirst returns the frames that there are before an error, which comes again.
func givenFirst(frames []placedFrame, err error) ([]placedFrame, error) {
	if len(frames) > 0 {
		return frames, nil
	}
	return nil, err
}

// retract returns the frame by which clients drop what a segment has said and no message
// has. Ended is the entry that comes next.
func (w *walker) retract(ctx context.Context, ended spool.Entry) ([]placedFrame, error) {
	id, err := record.StreamOf(ended)
	if err != nil || id == "" || id != w.shown.stream || w.shown.quiet(ended) {
		return nil, err
	}
	page, gone, err := w.whole(ctx, id)
	if err != nil {
		return nil, err
	}
	at := w.at
	at.Seq = ended.Seq - 1
	var p record.RunPart
	err = w.from.Store.View(ctx, w.key, func(v spool.View) (err error) {
		p, err = record.ReadRunPart(v, ended, at.Seq, true)
		return err
	})
	if spool.CodeOf(err) == spool.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if said := record.ReadItems(page.Items); !gone && !said.Unsaved() && !said.LacksResult(p.Since(p.Segment)) {
		return nil, nil
	}
	return w.partial(p, page, gone), nil
}

// settle returns the frame by which clients close the calls of a run that has ended between
// two segments. It returns none while the run has not ended.
func (w *walker) settle(ctx context.Context) ([]placedFrame, error) {
	h := &w.shown
	if w.recordOnly || h.ended == nil && !h.unsure || h.ended != nil && w.at.Seq < h.ended.Seq {
		return nil, nil
	}
	var p *record.RunPart
	var end runEnd
	err := w.from.Store.View(ctx, w.key, func(v spool.View) (err error) {
		if h.unsure {
			err = h.find(v, w.at)
		}
		if err != nil || h.ended == nil {
			return err
		}
		if end, err = endOf(v, *h.ended); err != nil || !end.closed {
			return err
		}
		if left, err := leftView(v, h.ended.Seq, w.at.Seq); err != nil || left {
			end.closed = false // the client was told that it shows nothing of the run
			return err
		}
		read, err := record.ReadRunPart(v, *h.ended, w.at.Seq, false)
		p = &read
		return err
	})
	switch {
	case spool.CodeOf(err) == spool.NotFound:
		h.ended = nil
		return nil, nil
	case err != nil, h.ended == nil:
		return nil, err
	case end.over: // the run has gone on
		h.ended = nil
		return nil, nil
	case end.open:
		h.open = true
		return nil, nil
	}
	ended := *h.ended
	h.ended, h.open = nil, false
	if !end.closed || !end.asked && len(p.Since(ended.Seq)) == 0 {
		return nil, nil
	}
	page, gone, err := w.whole(ctx, p.Stream)
	if err != nil {
		h.ended = &ended
		return nil, err
	}
	h.closed = true
	return w.partial(*p, page, gone), nil
}

// runEnd is what became of a run behind the end of a segment.
type runEnd struct {
	over bool // it has gone on
	open bool // it has not ended
	// asked is true when its calls were waiting for an answer.
	asked bool
	// closed is true when clients may have to be told that calls were closed.
	closed bool
}

// endOf reads what became of the run of a RUN_ENDED entry. Of nearly all runs there is nothing
// to tell, so this reads no message.
func endOf(v spool.View, ended spool.Entry) (end runEnd, err error) {
	id, err := record.StreamOf(ended)
	if err != nil {
		return end, err
	}
	thread, err := v.Thread()
	if err != nil {
		return end, err
	}
	run, err := v.Run(ended.RunID)
	switch {
	case err != nil:
		return end, err
	case run.Stream() != id:
		return runEnd{over: true}, nil
	case !run.State.Terminal():
		return runEnd{open: true}, nil
	}
	end.asked = record.StatusOf(ended) == spool.SegmentParked && thread.RunID == run.ID
	if end.closed = end.asked || run.Children > 0; end.closed {
		return end, nil
	}
	ids, err := record.Encoded(v).MessageIDs(spool.MessageQuery{Run: run.ID, SinceSeq: ended.Seq, Limit: 1})
	end.closed = len(ids) > 0
	return end, err
}

// leftView reports whether the messages of a run whose last RUN_ENDED entry is ended have left the
// view by seq. A MESSAGES_DROPPED entry there takes the last turn, and all behind it.
func leftView(v spool.View, ended, seq int64) (bool, error) {
	dropped, err := v.Entries(spool.EntryQuery{Type: spool.EntryMessagesDropped, After: ended, Limit: 1})
	return err == nil && len(dropped) > 0 && dropped[0].Seq <= seq, err
}

// whole returns all items of a stream, or true where it is gone.
func (w *walker) whole(ctx context.Context, id spool.StreamID) (page spool.StreamPage, gone bool, err error) {
	page, err = w.from.Streams.Read(ctx, spool.StreamKey{Thread: w.key, ID: id}, spool.Offset{}, 0)
	if errors.Is(err, spool.ErrStreamGone) {
		return spool.StreamPage{}, true, nil
	}
	return page, false, err
}

// partial returns the frame with a part of the thread. The walker stands where it stood.
func (w *walker) partial(p record.RunPart, page spool.StreamPage, gone bool) []placedFrame {
	past := w.shared && p.Thread.RunID != p.Run.ID
	if past { // clients are told of the next run behind the frame
		p.Thread.State, p.Thread.RunID = p.Run.State, p.Run.ID
	}
	snap := p.Snapshot(w.at.Seq)
	if !gone {
		snap.Stream = w.endedStream(p, page)
		snap.Stream.Items = p.Open.Items(snap.Stream.Items, p.Thread.LastSeq)
	}
	at := snap.Cursor()
	at.Seq = w.at.Seq
	w.at = at
	frame := w.framed(spool.Frame{Kind: spool.FrameSnapshot, Snapshot: snap})
	frame.past = past
	return []placedFrame{frame}
}

// endedStream returns the stream of a segment that is over, without any content: the messages
// have all of it that is saved. The stream may not know yet that it is over, as the record is
// told first. It then ends here as its RUN_ENDED entry says.
func (w *walker) endedStream(p record.RunPart, page spool.StreamPage) *spool.StreamSnapshot {
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
	if w.at.Stream == p.Stream {
		last = w.at.Offset
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
