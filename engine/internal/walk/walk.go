package walk

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
)

const (
	// PageSize is how much a walker reads at once.
	PageSize = 256
	// healAfter is how long a walker waits for an item that the record refers to, before it takes
	// the item for lost with its worker.
	healAfter = 2 * time.Second
)

// Next returns the next frames that storage has, none at the present. Grown says whether the record
// may have more entries than the walker has read.
func (w *Walker) Next(ctx context.Context, grown bool) ([]Placed, error) {
	if w.SnapshotDue {
		return w.snapshot(ctx)
	}
	if w.Reading {
		frames, err := w.items(ctx)
		if len(frames) > 0 || err != nil {
			return frames, err
		}
	}
	if !grown || w.AtEnd {
		return nil, nil
	}
	s, err := w.stretch(ctx, PageSize)
	if err != nil {
		return nil, err
	}
	w.shown.open = false // it may have ended since
	frames, err := w.along(ctx, &s)
	if len(frames) > 0 {
		return frames, nil // an error comes again
	}
	return nil, err
}

// along returns the frames of a stretch, up to the place where items or a snapshot come next.
func (w *Walker) along(ctx context.Context, s *stretch) (frames []Placed, err error) {
	for len(s.entries) > 0 {
		entry := s.entries[0]
		closed, err := w.closeCalls(ctx)
		frames = append(frames, closed...)
		if err != nil {
			return frames, err
		}
		frames = append(frames, s.before(entry.Seq, w)...)
		if w.Reading && w.itemsFirst(entry) {
			if len(frames) > 0 {
				return frames, nil
			}
			return w.await(ctx, entry)
		}
		retracted, err := w.retract(ctx, entry)
		frames = append(frames, retracted...)
		if err != nil {
			return frames, err
		}
		frames, s.entries = append(frames, w.pass(entry)), s.entries[1:]
		if w.Reading || w.SnapshotDue {
			w.AtEnd = w.shared && s.last && len(s.entries) == 0 && len(s.turns) == 0 && !w.SnapshotDue
			return frames, nil
		}
	}
	closed, err := w.closeCalls(ctx)
	frames = append(frames, closed...)
	if err != nil {
		return frames, err
	}
	w.AtEnd = w.shared && s.last
	return append(frames, s.before(math.MaxInt64, w)...), nil
}

// items returns the next items of the stream, with the entries between them.
func (w *Walker) items(ctx context.Context) ([]Placed, error) {
	page, err := w.from.Streams.Read(ctx, w.stream(), w.At.Offset, PageSize)
	if errors.Is(err, spool.ErrStreamGone) {
		return w.gone(ctx)
	}
	if err == nil {
		err = w.checkItems(ctx, page)
	}
	if err != nil {
		return nil, err
	}
	if whole := record.Whole(w.At.Offset, page.Items); whole < len(page.Items) {
		if whole == 0 { // the item that comes next was lost
			return w.snapshot(ctx)
		}
		page.Items, page.Ended = page.Items[:whole], false
	}
	frames := make([]Placed, 0, len(page.Items))
	for i := range page.Items {
		item := &page.Items[i]
		entries, err := w.upTo(ctx, item.Seq)
		if err != nil {
			return nil, err
		}
		frames = append(frames, entries...)
		w.At.Offset = item.Offset
		w.Reading, w.emptySnapshot = !item.Type.End(), false
		w.shown.item(*item)
		if w.cut.Has(*item) {
			continue
		}
		frames = append(frames, w.framed(spool.Frame{Kind: spool.FrameStream, StreamID: w.At.Stream, Item: item}))
	}
	if page.Ended {
		w.Reading = false // the end was read before
	}
	if !w.Reading {
		w.AtEnd = false // an ended stream has an entry behind it
	}
	if len(frames) == 0 && len(page.Items) > 0 && w.Reading { // all of them were cut
		return w.items(ctx)
	}
	if len(frames) > 0 {
		w.blocked = time.Time{}
	}
	return frames, nil
}

// upTo passes the entries up to a seq, with the turns between them.
func (w *Walker) upTo(ctx context.Context, seq int64) (frames []Placed, err error) {
	for w.At.Seq < seq {
		s, err := w.stretch(ctx, int(seq-w.At.Seq))
		if err != nil {
			return nil, err
		}
		if len(s.entries) == 0 && len(s.turns) == 0 {
			break
		}
		for _, entry := range s.entries {
			frames = append(frames, s.before(entry.Seq, w)...)
			frames = append(frames, w.pass(entry))
		}
		frames = append(frames, s.before(math.MaxInt64, w)...)
	}
	return frames, nil
}

// pass goes behind an entry, and to the stream that it opens.
func (w *Walker) pass(entry spool.Entry) Placed {
	w.At.Seq, w.Turn = entry.Seq, ""
	w.blocked = time.Time{}
	w.NoteMessages(entry)
	w.shown.entry(entry)
	switch {
	case entry.Type == spool.EntryRunEnded:
		if id, err := record.StreamOf(entry); err == nil && id == w.At.Stream && id != "" {
			w.At.Offset = record.Farther(w.At.Offset, entry.After) // also where its last items were lost
		}
	case entry.Type == spool.EntryRunStarted && !w.RecordOnly:
		switch id, err := record.StreamOf(entry); {
		case err != nil, entry.Seq < w.jump:
		case entry.Seq == w.jump:
			w.Reading = w.jumpRead
		default:
			w.At.Stream, w.At.Offset, w.Reading = id, spool.Offset{}, true
			w.cut, w.emptySnapshot = record.Saved{}, false
			w.shown = shownSegment{stream: id, plain: true}
		}
	}
	return w.framed(spool.Frame{Kind: spool.FrameThread, Event: &entry})
}

// itemsFirst reports whether items of the stream that is read stand before the entry.
func (w *Walker) itemsFirst(entry spool.Entry) bool {
	switch entry.Type {
	case spool.EntryRunEnded, spool.EntryRunStarted:
		return true
	default:
		if entry.Stream == "" { // written outside of the segment: the next item that knows the entry comes behind it
			return true
		}
		return entry.Stream == w.At.Stream && entry.After.Compare(w.At.Offset) > 0
	}
}

// await returns the items that stand before an entry. An item that does not come in time was lost
// with its worker: the walker passes the entry, or has the stream ended before a RUN_ENDED.
func (w *Walker) await(ctx context.Context, entry spool.Entry) ([]Placed, error) {
	frames, err := w.items(ctx)
	if len(frames) > 0 || err != nil || !w.Reading {
		return frames, err
	}
	now := time.Now()
	if w.blocked.IsZero() {
		w.blocked = now
	}
	if now.Sub(w.blocked) < healAfter {
		return nil, nil
	}
	if entry.Type != spool.EntryRunEnded {
		return []Placed{w.pass(entry)}, nil
	}
	w.from.EndStream(ctx, w.stream(), entry)
	return w.items(ctx)
}

func (w *Walker) stream() spool.StreamKey { return spool.StreamKey{Thread: w.key, ID: w.At.Stream} }

// checkItems returns [record.ErrThreadGone] if the items may be of another thread, whose run and stream
// can have the same ids. A hub's walker checks only after a wake-up for a deletion: it reads each
// delta, and the check costs more than that.
func (w *Walker) checkItems(ctx context.Context, page spool.StreamPage) error {
	if len(page.Items) == 0 || w.deleted != nil && !w.deleted.Load() {
		return nil
	}
	return w.from.Store.View(ctx, w.key, func(v spool.View) error { return record.SameThread(v, w.made) })
}
