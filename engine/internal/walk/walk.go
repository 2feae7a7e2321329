package walk

import (
	"context"
	"errors"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
)

const (
	// PageSize is how much a walker reads at once.
	PageSize = 256
	// healAfter is how long a walker waits for an item that the record says was written,
	// before it takes it for lost with its worker.
	healAfter = 2 * time.Second
)

// Next returns the frames that follow and that storage has already, empty at the
// present. Grown says whether the record may have more entries than were read.
func (w *Walker) Next(ctx context.Context, grown bool) ([]Placed, error) {
	if w.restored.due {
		return w.snapshot(ctx)
	}
	if w.reading {
		frames, err := w.items(ctx)
		if len(frames) > 0 || err != nil {
			return frames, err
		}
	}
	if !grown || w.atEnd {
		return nil, nil
	}
	s, err := w.stretch(ctx, PageSize)
	if err != nil {
		return nil, err
	}
	w.shown.open = false // it may have ended since
	var frames []Placed
	for i, entry := range s.entries {
		if frames, err = w.settled(ctx, frames); err != nil {
			return givenFirst(frames, err)
		}
		frames = append(frames, s.before(entry.Seq, w)...)
		if w.reading && w.itemsFirst(entry) {
			if len(frames) > 0 {
				return frames, nil
			}
			return w.await(ctx, entry)
		}
		if frames, err = w.retracted(ctx, frames, entry); err != nil {
			return givenFirst(frames, err)
		}
		frames = append(frames, w.pass(entry))
		if w.reading || w.restored.due {
			w.atEnd = w.shared && s.last && i == len(s.entries)-1 && len(s.turns) == 0 && !w.restored.due
			return frames, nil // the items of the stream that it has opened come next, or a snapshot
		}
	}
	if frames, err = w.settled(ctx, frames); err != nil {
		return givenFirst(frames, err)
	}
	w.atEnd = w.shared && s.last
	return append(frames, s.rest(w)...), nil
}

// items returns items of the stream that is read, with the entries written among them.
func (w *Walker) items(ctx context.Context) ([]Placed, error) {
	page, err := w.from.Streams.Read(ctx, w.stream(), w.at.Offset, PageSize)
	if errors.Is(err, spool.ErrStreamGone) {
		return w.gone(ctx)
	}
	if err == nil {
		err = w.checkItems(ctx, page)
	}
	if err != nil {
		return nil, err
	}
	if whole := record.Whole(w.at.Offset, page.Items); whole < len(page.Items) {
		if whole == 0 { // the item that comes next was lost
			return w.snapshot(ctx)
		}
		page.Items, page.Ended = page.Items[:whole], false
	}
	frames := make([]Placed, 0, len(page.Items))
	for i := range page.Items {
		item := &page.Items[i]
		among, err := w.upTo(ctx, item.Seq)
		if err != nil {
			return nil, err
		}
		frames = append(frames, among...)
		w.at.Offset = item.Offset
		w.reading, w.lacking = !item.Type.End(), false
		w.shown.item(*item)
		if w.cut.Has(*item) {
			continue
		}
		frames = append(frames, w.framed(spool.Frame{Kind: spool.FrameStream, StreamID: w.at.Stream, Item: item}))
	}
	if page.Ended {
		w.reading = false // the end was read before
	}
	if !w.reading {
		w.atEnd = false // an ended stream has an entry behind it
	}
	if len(frames) == 0 && len(page.Items) > 0 && w.reading { // all of them were cut
		return w.items(ctx)
	}
	if len(frames) > 0 {
		w.blocked = time.Time{}
	}
	return frames, nil
}

// upTo passes the entries up to a seq, with the turns between them.
func (w *Walker) upTo(ctx context.Context, seq int64) (frames []Placed, err error) {
	for w.at.Seq < seq {
		s, err := w.stretch(ctx, int(seq-w.at.Seq))
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
		frames = append(frames, s.rest(w)...)
	}
	return frames, nil
}

// pass goes behind an entry, and to the stream that it opens.
func (w *Walker) pass(entry spool.Entry) Placed {
	w.at.Seq, w.turn = entry.Seq, ""
	w.blocked = time.Time{}
	w.NoteMessages(entry)
	w.shown.entry(entry)
	switch {
	case entry.Type == spool.EntryRunEnded:
		if id, err := record.StreamOf(entry); err == nil && id == w.at.Stream && id != "" {
			w.at.Offset = record.Farther(w.at.Offset, entry.After) // also where its last items were lost
		}
	case entry.Type == spool.EntryRunStarted && !w.RecordOnly:
		switch id, err := record.StreamOf(entry); {
		case err != nil, entry.Seq < w.jump:
		case entry.Seq == w.jump:
			w.reading = w.jumpRead
		default:
			w.at.Stream, w.at.Offset, w.reading = id, spool.Offset{}, true
			w.cut, w.lacking = record.Saved{}, false
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
		if entry.Stream == "" { // its writer did not know the stream: the next item that knows the entry comes behind it
			return true
		}
		return entry.Stream == w.at.Stream && entry.After.Compare(w.at.Offset) > 0
	}
}

// await returns the items that stand before an entry. Those that do not come were lost
// with their worker: the stream is then ended in its place.
func (w *Walker) await(ctx context.Context, entry spool.Entry) ([]Placed, error) {
	frames, err := w.items(ctx)
	if len(frames) > 0 || err != nil || !w.reading {
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

func (w *Walker) stream() spool.StreamKey { return spool.StreamKey{Thread: w.key, ID: w.at.Stream} }

// Position returns where the walker stands. It reports false while no hub can stand at
// the same place.
func (w *Walker) Position() (Position, bool) {
	cutting := w.reading && w.at.Offset.Compare(w.cut.Last()) < 0
	settled := w.at.Seq >= w.jump && !w.RecordOnly && !cutting && !w.restored.due && w.shown.settled()
	return positionAt(w.at, w.turn, w.reading), settled
}

// checkItems returns [record.ErrThreadGone] if items that were read may be of another thread, whose run
// and stream can have the same ids. The hub's walker looks only after a wake-up for a
// deletion: it reads each delta, and a look costs more than that.
func (w *Walker) checkItems(ctx context.Context, page spool.StreamPage) error {
	if len(page.Items) == 0 || w.deleted != nil && !w.deleted.Load() {
		return nil
	}
	return w.from.Store.View(ctx, w.key, func(v spool.View) error { return record.SameThread(v, w.made) })
}
