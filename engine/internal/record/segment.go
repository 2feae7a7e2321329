package record

import (
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Segment is the latest segment of a thread.
type Segment struct {
	Stream wire.StreamID // empty if the thread has had no segment
	Run    spool.RunID
	Seq    int64 // seq of the segment's RUN_STARTED entry
	// End is the segment's RUN_ENDED entry, or nil if the segment has not ended.
	End *wire.Entry
	// Saved says how much of the stream the messages contain.
	Saved Saved
	// Live is true while a worker executes the run in this segment.
	Live bool
	Now  time.Time
}

func (l Segment) InFlight() bool { return l.Stream != "" && l.End == nil }

// LatestSegment finds the latest segment by its RUN_STARTED entry.
func LatestSegment(v store.View, thread wire.Thread) (Segment, error) {
	started, err := v.Entries(store.EntryQuery{Type: wire.EntryRunStarted, Last: true, Limit: 1})
	if err != nil || len(started) == 0 {
		return Segment{}, err
	}
	stream, err := StreamOf(started[0])
	if err != nil {
		return Segment{}, err
	}
	l := Segment{Stream: stream, Run: started[0].RunID, Seq: started[0].Seq, Now: v.Now()}
	ended, err := v.Entries(store.EntryQuery{Type: wire.EntryRunEnded, After: l.Seq, Last: true, Limit: 1})
	if err != nil {
		return Segment{}, err
	}
	if len(ended) > 0 {
		l.End = &ended[0]
	}
	run, err := store.FindRun(v, l.Run)
	if Missing(err) {
		return l, nil
	}
	if run.Stream() == l.Stream {
		if l.Saved, err = SavedOf(v, run); err != nil {
			return Segment{}, err
		}
		l.Live = run.State == wire.Running && thread.Leased(l.Now)
	}
	return l, err
}

// NamedStream is what the record says about the stream that a cursor names.
type NamedStream struct {
	Seq  int64       // seq of its RUN_STARTED entry; zero if the stream is not the thread's
	Over bool        // the cursor is after its RUN_ENDED entry
	Past bool        // the stream's grace period is over
	Last wire.Offset // the offset of its RUN_ENDED entry; zero if the cursor is before that entry
}

// FindStream looks for the cursor's stream in the record.
func FindStream(v store.View, c wire.Cursor, grace time.Duration) (named NamedStream, err error) {
	run, _, ok := c.Stream.Split()
	if !ok {
		return named, nil
	}
	for _, t := range []wire.EntryType{wire.EntryRunStarted, wire.EntryRunEnded} {
		entries, err := v.Entries(store.EntryQuery{Type: t, Run: run})
		if err != nil {
			return named, err
		}
		for _, entry := range entries {
			if id, err := StreamOf(entry); err != nil || id != c.Stream {
				continue
			}
			if t == wire.EntryRunStarted {
				named.Seq = entry.Seq
				continue
			}
			if named.Over = entry.Seq <= c.Seq; named.Over {
				named.Last = entry.After
			}
			named.Past = v.Now().Sub(entry.CreatedAt) >= grace
		}
	}
	return named, nil
}
