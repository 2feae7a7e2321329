package snapshot

import (
	"context"
	"errors"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/internal/excerpt"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// RecentEnd is how long a stream stays in snapshots after its segment has ended.
const RecentEnd = time.Minute

// Streams is the part of [store.Live] that reads of threads need.
type Streams interface {
	Read(ctx context.Context, key store.StreamKey, after wire.Offset, limit int) (store.StreamPage, error)
}

// reader reads snapshots of threads.
type reader struct {
	store   record.Viewer
	streams Streams
}

// read reads a snapshot without its messages into snap. It calls messages in the same transaction.
func (r reader) read(
	ctx context.Context, key spool.ThreadKey, snap *wire.Snapshot, messages func(v store.View) error,
) error {
	snap.LastEventSeq = -1
	var last record.Segment
	var open record.OpenCalls
	err := r.store.View(ctx, key, func(v store.View) (err error) {
		if snap.Thread, err = v.Thread(); err != nil {
			return err
		}
		if snap.Thread.LastSeq > 0 {
			snap.LastEventSeq = snap.Thread.LastSeq
		}
		if err = messages(v); err != nil {
			return err
		}
		runs, err := v.Runs(wire.RunQuery{Limit: excerpt.MaxRuns})
		if err != nil {
			return err
		}
		snap.Runs = make([]wire.Run, len(runs))
		for i, r := range runs {
			snap.Runs[i] = r.Run
		}
		if snap.Thread.State.Active() {
			if snap.ActiveEvents, err = v.Entries(store.EntryQuery{Run: snap.Thread.RunID}); err != nil {
				return err
			}
		}
		if open, err = record.OpenCallsOf(v, snap.Thread); err != nil {
			return err
		}
		snap.ActiveEvents = open.Entries(snap.ActiveEvents)
		if snap.Queue, err = record.QueueOf(v, snap.Thread, true); err != nil {
			return err
		}
		last, err = record.LatestSegment(v, snap.Thread)
		return err
	})
	if err != nil {
		return record.NotFound(err)
	}
	snap.ActiveEvents = record.NonNil(snap.ActiveEvents)
	snap.Stream, err = r.stream(ctx, key, last)
	if snap.Stream != nil {
		snap.Stream.Items = open.Items(snap.Stream.Items, snap.Thread.LastSeq)
	}
	return err
}

// stream returns the segment's stream without the content that the messages have. It returns nil if the
// stream has ended and has expired. A stream that the worker has not opened yet is empty. So is a
// stream that was lost before the record has ended its segment: then the client's position is after the
// saved part, which the snapshot's messages contain, or before all items: see [record.Saved.Unread].
func (r reader) stream(ctx context.Context, key spool.ThreadKey, l record.Segment) (*wire.StreamSnapshot, error) {
	if l.Stream == "" || l.End != nil && l.Now.Sub(l.End.CreatedAt) >= RecentEnd {
		return nil, nil //nolint:nilnil // the wire has null here
	}
	snap := &wire.StreamSnapshot{StreamID: l.Stream, RunID: l.Run, Items: []wire.Item{}}
	page, err := r.streams.Read(ctx, store.StreamKey{Thread: key, ID: l.Stream}, wire.Offset{}, 0)
	switch {
	case errors.Is(err, store.ErrStreamGone) && l.End == nil:
		at, saved := l.Saved.Unread()
		if !at.IsZero() {
			snap.Offset, snap.Saved = &at, saved
		}
		return snap, nil
	case errors.Is(err, store.ErrStreamGone):
		return nil, nil //nolint:nilnil // the wire has null here
	case err != nil:
		return nil, err
	}
	dead := deadIn(l, page)
	for _, item := range page.Items {
		if l.Saved.Has(item) || dead(item) {
			continue
		}
		snap.Items = append(snap.Items, item)
	}
	// The saved last items of a step, or the segment's end, may not be in the stream yet.
	last := record.Farther(page.Last, l.Saved.Last())
	switch {
	case page.Ended && len(page.Items) > 0:
		end := page.Items[len(page.Items)-1]
		snap.End = &end
	case l.End != nil:
		last = record.Farther(last, l.End.After)
		end := record.EndItem(*l.End, last)
		snap.Items = append(snap.Items, end)
		snap.End = &end
	}
	if !last.IsZero() {
		snap.Offset = &last
	}
	return snap, nil
}

// deadIn returns a function that reports which items of a page must not be shown. If the record has
// ended the segment, that is all content: the messages have the saved part, and no message will ever
// have the rest. If only the stream has ended, the stream may have been read later than the messages.
// Then only content that no step has saved must not be shown.
func deadIn(l record.Segment, page store.StreamPage) func(wire.Item) bool {
	switch {
	case l.End != nil:
		return func(item wire.Item) bool { return item.Type.Content() }
	case page.Ended:
		return record.ReadItems(page.Items).Lost
	default:
		return func(wire.Item) bool { return false }
	}
}
