package engine

import (
	"context"
	"errors"
	"time"

	"github.com/spoolhq/spool"
)

const (
	// recentEnd is how long a stream stays in the snapshot after its segment's end.
	recentEnd = time.Minute
	// snapshotRuns is how many runs a snapshot carries, so that its cost does not grow
	// with the age of the thread.
	snapshotRuns = 100
)

// SnapshotOptions narrow a snapshot's messages.
type SnapshotOptions struct {
	// LastMessageID leaves out this message and those before it. An id that the thread
	// does not have leaves out nothing.
	LastMessageID spool.MessageID
	// Before leaves out this message and those behind it.
	Before spool.MessageID
	// Limit keeps only the newest ones. Zero: all.
	Limit int
}

// Snapshot returns all that a client needs to show the thread and to follow it from
// there. A nil o narrows nothing. It returns a [spool.NotFound] error for a thread that
// does not exist.
//
// Record, messages and runs are one consistent state. The stream is read after them and
// cut at what that state has saved, so that no text is missing or there twice.
func (e *Engine) Snapshot(ctx context.Context, key spool.ThreadKey, o *SnapshotOptions) (*spool.Snapshot, error) {
	if o == nil {
		o = &SnapshotOptions{}
	}
	release, err := e.snapshots.work(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	snap := &spool.Snapshot{}
	err = e.readSnapshot(ctx, key, snap, func(v spool.View) (err error) {
		snap.Messages, err = v.Messages(spool.MessageQuery{After: o.LastMessageID, Before: o.Before, Limit: o.Limit})
		return err
	})
	if err != nil {
		return nil, err
	}
	snap.Messages = filled(snap.Messages)
	return snap, nil
}

// readSnapshot reads all of a snapshot but its messages into snap. It calls messages within
// the same state.
func (e *Engine) readSnapshot(ctx context.Context, key spool.ThreadKey, snap *spool.Snapshot, messages func(v spool.View) error) error {
	snap.LastEventSeq = -1
	var last latest
	var open openCalls
	err := e.store.View(ctx, key, func(v spool.View) (err error) {
		if snap.Thread, err = v.Thread(); err != nil {
			return err
		}
		if snap.Thread.LastSeq > 0 {
			snap.LastEventSeq = snap.Thread.LastSeq
		}
		if err = messages(v); err != nil {
			return err
		}
		if snap.Runs, err = v.Runs(snapshotRuns); err != nil {
			return err
		}
		if snap.Thread.State.Active() {
			if snap.ActiveEvents, err = v.Entries(spool.EntryQuery{Run: snap.Thread.RunID}); err != nil {
				return err
			}
		}
		if open, err = openCallsOf(v, snap.Thread); err != nil {
			return err
		}
		snap.ActiveEvents = open.entries(snap.ActiveEvents)
		if snap.Queue, err = queueOf(v, snap.Thread, true); err != nil {
			return err
		}
		last, err = latestSegment(v, snap.Thread)
		return err
	})
	if err != nil {
		return notFound(err)
	}
	snap.Runs, snap.ActiveEvents = filled(snap.Runs), filled(snap.ActiveEvents)
	snap.Stream, err = e.streamSnapshot(ctx, key, last)
	if snap.Stream != nil {
		snap.Stream.Items = open.items(snap.Stream.Items, snap.Thread.LastSeq)
	}
	return err
}

// filled returns a slice that encodes as a JSON array.
func filled[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// latest is the latest segment of a thread.
type latest struct {
	stream spool.StreamID // empty: the thread has had none
	run    spool.RunID
	seq    int64 // of its RUN_STARTED entry
	// end is its RUN_ENDED entry. Nil: it has not ended.
	end *spool.Entry
	// saved is how much of what the stream says the messages have.
	saved savedUpTo
	// live is true while a worker holds the run in this segment.
	live bool
	now  time.Time
}

func (l latest) inFlight() bool { return l.stream != "" && l.end == nil }

// latestSegment finds the latest segment by its RUN_STARTED entry.
func latestSegment(v spool.View, thread spool.Thread) (latest, error) {
	started, err := v.Entries(spool.EntryQuery{Type: spool.EntryRunStarted, Last: true, Limit: 1})
	if err != nil || len(started) == 0 {
		return latest{}, err
	}
	stream, err := streamOf(started[0])
	if err != nil {
		return latest{}, err
	}
	l := latest{stream: stream, run: started[0].RunID, seq: started[0].Seq, now: v.Now()}
	ended, err := v.Entries(spool.EntryQuery{Type: spool.EntryRunEnded, After: l.seq, Last: true, Limit: 1})
	if err != nil {
		return latest{}, err
	}
	if len(ended) > 0 {
		l.end = &ended[0]
	}
	run, err := v.Run(l.run)
	if missing(err) {
		return l, nil
	}
	if run.Stream() == l.stream {
		if l.saved, err = savedOf(v, run); err != nil {
			return latest{}, err
		}
		l.live = run.State == spool.Running && thread.Leased(l.now)
	}
	return l, err
}

// streamSnapshot returns the segment's stream less what is saved, or nil when it is over
// and gone. A stream that its worker is about to open is empty, and so is one that was lost
// before the record has ended its segment: a client stands behind what is saved of it, since
// the messages of the snapshot have that, and may lack what is saved later.
func (e *Engine) streamSnapshot(ctx context.Context, key spool.ThreadKey, l latest) (*spool.StreamSnapshot, error) {
	if l.stream == "" || l.end != nil && l.now.Sub(l.end.CreatedAt) >= recentEnd {
		return nil, nil //nolint:nilnil // null is the wire's word for it
	}
	snap := &spool.StreamSnapshot{StreamID: l.stream, RunID: l.run, Items: []spool.Item{}}
	page, err := e.streams.Read(ctx, spool.StreamKey{Thread: key, ID: l.stream}, spool.Offset{}, 0)
	switch {
	case errors.Is(err, spool.ErrStreamGone) && l.end == nil:
		if saved := l.saved.last(); !saved.IsZero() {
			snap.Offset = &saved
		}
		return snap, nil
	case errors.Is(err, spool.ErrStreamGone):
		return nil, nil //nolint:nilnil // null is the wire's word for it
	case err != nil:
		return nil, err
	}
	dead := deadIn(l, page)
	for _, item := range page.Items {
		if l.saved.has(item) || dead(item) {
			continue
		}
		snap.Items = append(snap.Items, item)
	}
	// A step may have been saved whose last items are not yet in the stream, and so may the
	// segment's end.
	last := farther(page.Last, l.saved.last())
	switch {
	case page.Ended && len(page.Items) > 0:
		end := page.Items[len(page.Items)-1]
		snap.End = &end
	case l.end != nil:
		last = farther(last, l.end.After)
		end := endItem(*l.end, last)
		snap.Items = append(snap.Items, end)
		snap.End = &end
	}
	if !last.IsZero() {
		snap.Offset = &last
	}
	return snap, nil
}
