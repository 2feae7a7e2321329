// Package walk reads a thread's record and run streams from storage as one sequence of frames, which
// is the same whenever it is read: a segment's RUN_STARTED, its items with the entries written among
// them, its RUN_ENDED, the next segment.
//
// An entry knows the item that it stands behind, an item knows the entry, and a user turn knows the
// entry. A [Walker] respects all three, and puts a snapshot in the place of what is gone or what no
// message will have.
//
// The package reads the store and the run streams, and writes neither. It knows neither hubs nor
// clients. It imports the root package, engine/internal/record and engine/internal/snapshot.
package walk

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/snapshot"
)

// Sources are what a walker reads.
type Sources struct {
	// Store hides the threads that the actor of a context must not see.
	Store     record.Viewer
	Streams   snapshot.Streams
	Snapshots *snapshot.Snapshots
	// EndStream ends the stream of a worker that went away, as the RUN_ENDED entry of its segment
	// says.
	EndStream func(ctx context.Context, key spool.StreamKey, ended spool.Entry)
	// StreamGrace is how long a run stream can be read after its end.
	StreamGrace time.Duration
}

// Mode says what a client wants of the frames.
type Mode struct {
	// RecordOnly leaves the streams out.
	RecordOnly bool
	// Encodes has the snapshots encoded.
	Encodes bool
	// Form is the form of the snapshots. Nil: as they are.
	Form spool.SnapshotForm
}

// Walker walks over one thread for one reader. It is for one goroutine.
type Walker struct {
	Mode
	Stand

	// SnapshotDue is true while the client has still to get a snapshot, as a branch has come back.
	SnapshotDue bool
	// AtEnd is true once a hub's walker has passed all of the record. The hub clears it when it
	// hears of more.
	AtEnd bool

	from *Sources
	key  spool.ThreadKey
	// made is when the thread was. The walker reads no other thread of its id. Zero: not known
	// yet.
	made time.Time
	// deleted is set once a thread of the id was deleted. Nil: nobody sets it.
	deleted *atomic.Bool
	// last is the last message that the client has, for a snapshot. Empty: none, or one that a
	// later frame has the client drop.
	last spool.MessageID
	// known is the last message that the client came with: it gets no user turn up to there.
	known spool.MessageID
	// restoredTo is the seq up to which a client without a cursor has read the messages by itself.
	restoredTo int64
	// emptySnapshot is true while the client has a snapshot without any item of the stream that the
	// walker reads, and has got no item of it since. The stream may have been gone.
	emptySnapshot bool
	// jump is the RUN_STARTED entry of the stream that the client stands in, while the walker reads
	// the entries before it. None of them moves the walker to another stream. Zero: none.
	jump     int64
	jumpRead bool // whether that stream has more to come
	// cut is the part of the stream that the messages have, for a walker that began without a place
	// in the stream. The walker leaves that part out: nested runs save their steps before the step
	// around them is saved.
	cut record.Saved
	// shown decides about the snapshot frames between segments.
	shown shownSegment
	// shared is true for a hub's walker, which has no client to send a snapshot to.
	shared bool
	// atRecordEnd is called in the transaction of each read that reaches the end of the record. It
	// may be nil.
	atRecordEnd func(v spool.View)
	// blocked is since when the walker waits for an item.
	blocked time.Time
}

// New returns the walker of a client, for the thread that was made at o.CreatedAt.
func New(from *Sources, key spool.ThreadKey, o spool.FollowOptions, mode Mode) Walker {
	return Walker{
		Mode: mode, Stand: Stand{Turn: o.LastTurnID},
		from: from, key: key, made: o.CreatedAt, last: o.LastMessageID, known: o.LastMessageID,
	}
}

// NewShared returns the walker of a hub. AtRecordEnd is called in the transaction of each read that
// goes to the end of the record.
func NewShared(from *Sources, key spool.ThreadKey, atRecordEnd func(v spool.View)) Walker {
	return Walker{from: from, key: key, shared: true, deleted: new(atomic.Bool), atRecordEnd: atRecordEnd}
}

// MoveTo puts the walker where its client stands behind a hub's frames.
func (w *Walker) MoveTo(s Stand) {
	switch {
	case !w.RecordOnly:
		w.Stand = s
	case s.At.Seq >= w.At.Seq:
		w.At.Seq, w.Turn = s.At.Seq, s.Turn
	}
}

// Resume has the walker go on from where its client stands.
func (w *Walker) Resume() { w.shown = shownSegment{stream: w.At.Stream, unsure: true} }

// CanJoin reports whether the client would get the same frames from a hub that stands here.
func (w *Walker) CanJoin() bool {
	cutting := w.Reading && w.At.Offset.Compare(w.cut.Last()) < 0
	return w.At.Seq >= w.jump && !w.RecordOnly && !cutting && !w.SnapshotDue && w.shown.resolved()
}

// HasSnapshot reports whether the last frame was the snapshot that closes the calls of a run.
func (w *Walker) HasSnapshot() bool { return w.shown.closed }

// Waits reports whether the walker waits for an item before it passes the next entry.
func (w *Walker) Waits() bool { return !w.blocked.IsZero() }

// ThreadDeleted says that a thread of the id was deleted. It may be called from any goroutine.
func (w *Walker) ThreadDeleted() { w.deleted.Store(true) }

// framed returns a frame that leaves the walker where it stands. The frame has a cursor, by
// which a client comes back, unless it tells of a user turn.
func (w *Walker) framed(f spool.Frame) Placed {
	if f.Kind != spool.FrameThread || f.Event.Seq > 0 {
		at := w.At
		f.Cursor = &at
	}
	return Placed{Frame: f, Stand: w.Stand}
}
