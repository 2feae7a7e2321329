package walk

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

const (
	// PageSize is how many items or entries a walker reads at once.
	PageSize = 256
	// healAfter is how long a walker waits for an item that the record refers to. After that, the
	// walker assumes that the item was lost with its worker.
	healAfter = 2 * time.Second
	// lostAfter is the age of an entry whose item does not come any more. A new walker that meets such an entry
	// does not wait, because its client may come back before the wait is over. A walker that is older than
	// healAfter waits: a commit may have taken that long, and its items follow a moment later.
	lostAfter = 10 * time.Second
	// manyFrames is the number of frames after which a walker allocates room for the whole stretch.
	// Most stretches have fewer frames, because a stream comes next.
	manyFrames = 16
)

// Next returns the next frames in storage, or none at the present. Grown says whether the record may
// have entries that the walker has not read.
func (w *Walker) Next(ctx context.Context, grown bool) ([]PositionedFrame, error) {
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
	w.shown.open = false // the run may have ended since
	frames, err := w.along(ctx, &s)
	if len(frames) > 0 {
		return frames, nil // the error comes again at the next call
	}
	return nil, err
}

// along returns the frames of a stretch, up to the point at which items or a snapshot come next.
func (w *Walker) along(ctx context.Context, s *stretch) (frames []PositionedFrame, err error) {
	for len(s.entries) > 0 {
		entry := &s.entries[0]
		closed, err := w.closeCalls(ctx)
		frames = append(frames, closed...)
		if err != nil {
			return frames, err
		}
		if w.Reading && w.itemsFirst(entry) { // they also come before the turns that are before the entry
			if len(frames) > 0 {
				return frames, nil
			}
			return w.await(ctx, s)
		}
		frames = append(frames, s.before(entry.Seq, w)...)
		retracted, err := w.retract(ctx, entry)
		frames = append(frames, retracted...)
		if err != nil {
			return frames, err
		}
		if len(frames) == manyFrames {
			frames = slices.Grow(frames, len(s.entries)+len(s.turns))
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
func (w *Walker) items(ctx context.Context) ([]PositionedFrame, error) {
	page, err := w.from.Streams.Read(ctx, w.stream(), w.At.Offset, PageSize)
	unopened := w.unopened
	w.unopened = false
	if errors.Is(err, store.ErrStreamGone) {
		if unopened {
			return nil, nil
		}
		return w.gone(ctx)
	}
	if err == nil {
		err = w.checkItems(ctx, page)
	}
	if err != nil {
		return nil, err
	}
	if len(page.Items) > 0 && !w.unread.IsZero() {
		return w.snapshot(ctx)
	}
	if whole := record.Whole(w.At.Offset, page.Items); whole < len(page.Items) {
		if whole == 0 { // the next item was lost
			return w.snapshot(ctx)
		}
		page.Items, page.Ended = page.Items[:whole], false
	}
	frames := make([]PositionedFrame, 0, len(page.Items))
	for i := range page.Items {
		item := &page.Items[i]
		entries, err := w.upTo(ctx, item.Seq)
		frames = append(frames, entries...)
		if err != nil && len(frames) > 0 { // the walker is behind these frames, and the error comes again at the next call
			w.blocked = time.Time{}
			return frames, nil
		}
		if err != nil {
			return nil, err
		}
		w.At.Offset = item.Offset
		w.Reading, w.emptySnapshot = !item.Type.End(), false
		w.shown.item(*item)
		if w.cut.Has(*item) {
			continue
		}
		frames = append(frames, w.framed(wire.Frame{Kind: wire.FrameStream, StreamID: w.At.Stream, Item: item}))
	}
	if page.Ended {
		w.Reading = false // the end was already read
	}
	if !w.Reading {
		w.AtEnd = false // an entry follows the end of a stream
	}
	if len(frames) == 0 && len(page.Items) > 0 && w.Reading { // all of them were cut
		return w.items(ctx)
	}
	if len(frames) > 0 {
		w.blocked, w.timedOut = time.Time{}, false
	}
	return frames, nil
}

// upTo passes the entries up to a seq, with the turns between them. With an error it returns the frames that it has
// passed.
func (w *Walker) upTo(ctx context.Context, seq int64) (frames []PositionedFrame, err error) {
	for w.At.Seq < seq {
		s, err := w.stretch(ctx, int(seq-w.At.Seq))
		if err != nil {
			return frames, err
		}
		if len(s.entries) == 0 && len(s.turns) == 0 {
			break
		}
		for i := range s.entries {
			frames = append(frames, s.before(s.entries[i].Seq, w)...)
			frames = append(frames, w.pass(&s.entries[i]))
		}
		frames = append(frames, s.before(math.MaxInt64, w)...)
	}
	return frames, nil
}

// pass moves the walker after an entry, and to the stream that the entry opens.
func (w *Walker) pass(entry *wire.Entry) PositionedFrame {
	w.At.Seq, w.Turn = entry.Seq, ""
	w.blocked = time.Time{}
	w.NoteMessages(entry)
	w.shown.entry(entry)
	switch {
	case entry.Type == wire.EntryRunEnded:
		if id, err := record.StreamOf(*entry); err == nil && id == w.At.Stream && id != "" {
			w.At.Offset = record.Farther(w.At.Offset, entry.After) // even if its last items were lost
		}
	case entry.Type == wire.EntryRunStarted && !w.RecordOnly:
		switch id, err := record.StreamOf(*entry); {
		case err != nil, entry.Seq < w.jump:
		case entry.Seq == w.jump:
			w.Reading = w.jumpRead
		default:
			w.At.Stream, w.At.Offset, w.Reading, w.timedOut = id, wire.Offset{}, true, false
			w.cut, w.emptySnapshot, w.unread = record.Saved{}, false, wire.Offset{}
			w.shown = shownSegment{stream: id, plain: true}
		}
	}
	return w.framed(wire.Frame{Kind: wire.FrameThread, Event: entry})
}

// itemsFirst reports whether items of the current stream come before the entry.
func (w *Walker) itemsFirst(entry *wire.Entry) bool {
	switch entry.Type {
	case wire.EntryRunEnded, wire.EntryRunStarted:
		return true
	default:
		if entry.Stream == "" { // written outside the segment: the next item after the entry comes with its seq
			return true
		}
		return entry.Stream == w.At.Stream && entry.After.Compare(w.At.Offset) > 0
	}
}

// await returns the items that come before the first entry of a stretch. If an item does not come in time, it was
// lost with its worker. Then the walker passes the entry, with the turns before it. But before a RUN_ENDED entry
// it ends the stream and reads the end.
//
// The items after a lost one are lost too. So the walker waits once for a stream, unless an entry is so young that
// its item may still come.
func (w *Walker) await(ctx context.Context, s *stretch) ([]PositionedFrame, error) {
	entry := &s.entries[0]
	age := s.now.Sub(entry.CreatedAt)
	frames, err := w.items(ctx)
	if len(frames) > 0 || err != nil || !w.Reading {
		return frames, err
	}
	now := time.Now()
	if w.blocked.IsZero() {
		w.blocked = now
	}
	lost := age >= lostAfter && now.Sub(w.born) < healAfter
	if now.Sub(w.blocked) < healAfter && !lost && (!w.timedOut || age < healAfter) {
		return nil, nil
	}
	w.timedOut = true
	if entry.Type != wire.EntryRunEnded {
		frames = s.before(entry.Seq, w)
		return append(frames, w.pass(entry)), nil
	}
	w.from.EndStream(ctx, w.stream(), *entry)
	return w.items(ctx)
}

func (w *Walker) stream() store.StreamKey { return store.StreamKey{Thread: w.key, ID: w.At.Stream} }

// checkItems returns [record.ErrThreadGone] if the items may belong to another thread, whose run and
// stream can have the same ids. The walker of a hub checks only after a wake-up for a deletion, because
// the check costs more than reading a delta.
func (w *Walker) checkItems(ctx context.Context, page store.StreamPage) error {
	if len(page.Items) == 0 || w.deleted != nil && !w.deleted.Load() {
		return nil
	}
	return w.from.Store.View(ctx, w.key, func(v store.View) error { return record.SameThread(v, w.createdAt) })
}
