package walk

import (
	"context"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
)

// A segment can end although no message has a part of its stream: its step failed, somebody stopped
// it, or its worker died. A run can end although the stream has shown a call without a result:
// somebody stopped the run, or nobody answered, while no segment was open. In both cases each
// client gets one snapshot frame, which has what is saved of this run and nothing else.
//
// The walker puts the frame into its order. In the first case it stands directly before the
// segment's RUN_ENDED. In the second case it stands behind the last RUN_ENDED of the run, and
// before the RUN_STARTED of the next run. The cursor of the frame is the walker's own place: the
// frame jumps over no entry, and a client that comes back with this cursor gets the frame again.
// The walker makes the frame of what the store has now. It takes only the messages that were saved
// before the place, so that a client which replays an old segment gets all later ones in their turn.

// retracted adds the frame of retract that stands before an entry, if there is one.
func (w *Walker) retracted(ctx context.Context, frames []Placed, entry spool.Entry) ([]Placed, error) {
	if entry.Type != spool.EntryRunEnded || w.RecordOnly || entry.Seq <= w.jump {
		return frames, nil
	}
	frame, err := w.retract(ctx, entry)
	return append(frames, frame...), err
}

// settled adds the frame of settle that stands where the walker stands, if there is one.
func (w *Walker) settled(ctx context.Context, frames []Placed) ([]Placed, error) {
	if w.reading || w.shown.settled() {
		return frames, nil
	}
	frame, err := w.settle(ctx)
	return append(frames, frame...), err
}

// givenFirst returns the frames that there are before an error, which comes again.
func givenFirst(frames []Placed, err error) ([]Placed, error) {
	if len(frames) > 0 {
		return frames, nil
	}
	return nil, err
}

// retract returns the frame by which clients drop the content of a segment that no message has.
// Ended is the entry that comes next.
func (w *Walker) retract(ctx context.Context, ended spool.Entry) ([]Placed, error) {
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
	if streamed := record.ReadItems(page.Items); !gone && !streamed.Unsaved() && !streamed.LacksResult(p.Since(p.Segment)) {
		return nil, nil
	}
	return w.partial(p, page, gone), nil
}

// settle returns the frame by which clients close the calls of a run that has ended between
// two segments. It returns none while the run has not ended.
func (w *Walker) settle(ctx context.Context) ([]Placed, error) {
	h := &w.shown
	if w.RecordOnly || h.ended == nil && !h.unsure || h.ended != nil && w.at.Seq < h.ended.Seq {
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
		if end, err = endOf(v, *h.ended); err != nil || !end.closes {
			return err
		}
		if left, err := leftView(v, h.ended.Seq, w.at.Seq); err != nil || left {
			end.closes = false // the client shows nothing of the run any more
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
	if !end.closes || !end.asked && len(p.Since(ended.Seq)) == 0 {
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
	snap := p.Snapshot(w.at.Seq)
	if !gone {
		snap.Stream = w.endedStream(p, page)
		snap.Stream.Items = p.Open.Items(snap.Stream.Items, p.Thread.LastSeq)
	}
	at := snap.Cursor()
	at.Seq = w.at.Seq
	w.at = at
	frame := w.framed(spool.Frame{Kind: spool.FrameSnapshot, Snapshot: snap})
	frame.Past = past
	return []Placed{frame}
}

// endedStream returns the stream of a segment that is over, without any content: the messages
// have all of it that is saved. The record gets the end before the stream does. A stream without
// its end ends here as its RUN_ENDED entry says.
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
