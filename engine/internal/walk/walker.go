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
	Store     snapshot.Store
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

// Walker reads a thread's record and run streams from storage as one sequence of frames,
// which is the same whenever it is read: a segment's RUN_STARTED, its items with the
// entries written among them, its RUN_ENDED, the next segment. Entries know the item
// they stand behind, and items the entry; a walker only has to respect both. A user turn
// knows the entry that it stands behind.
type Walker struct {
	Mode

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
	at    spool.Cursor
	// turn is the last user turn behind the entry at at.Seq that the client has. Empty: none.
	turn spool.MessageID
	// reading is true while the stream at.Stream has more to come.
	reading bool
	// lacking is true while the client has a snapshot without any item of the stream that is
	// read, and nothing of it has come since. The stream may have been gone.
	lacking bool
	// jump is the RUN_STARTED entry before which no entry moves the read, as the client
	// has a place in a later stream already. Zero: none.
	jump     int64
	jumpRead bool // whether that stream has more to come
	// cut is what the messages already have of the stream that a walker without a place in
	// it began with. It leaves that out, as the steps of nested runs are saved before the
	// one around them.
	cut record.Saved
	// restored is what the walker knows of branches that have come back.
	restored restoredBranch
	// shown is what decides about the snapshot frames between segments.
	shown shownSegment
	// shared is true for a hub's walker, which has no client to send a snapshot to.
	shared bool
	// atEnd is true once a hub's walker has passed all of the record, until it hears of more.
	atEnd bool
	// atRecordEnd is called in the transaction of each read that goes to the end of the record. Nil:
	// nothing is.
	atRecordEnd func(v spool.View)
	// blocked is since when the walker waits for an item.
	blocked time.Time
}

// restoredBranch is what a walker knows of branches that have come back.
type restoredBranch struct {
	// due is true while the client has still to get the snapshot.
	due bool
	// known is the seq up to which the client has read the messages by itself, as it came
	// without a cursor.
	known int64
}

// New returns the walker of a client, for the thread that was made at o.CreatedAt.
func New(from *Sources, key spool.ThreadKey, o spool.FollowOptions, mode Mode) Walker {
	return Walker{
		Mode: mode, from: from, key: key, made: o.CreatedAt, last: o.LastMessageID, known: o.LastMessageID, turn: o.LastTurnID,
	}
}

// NewShared returns the walker of a hub. AtRecordEnd is called in the transaction of each read that
// goes to the end of the record.
func NewShared(from *Sources, key spool.ThreadKey, atRecordEnd func(v spool.View)) Walker {
	return Walker{from: from, key: key, shared: true, deleted: new(atomic.Bool), atRecordEnd: atRecordEnd}
}

// MoveTo has the walker stand behind a frame that its client has got from a hub.
func (w *Walker) MoveTo(f Placed) {
	switch {
	case !w.RecordOnly:
		w.at, w.turn, w.reading = f.At, f.Turn, f.Reading
	case f.At.Seq >= w.at.Seq:
		w.at.Seq, w.turn = f.At.Seq, f.Turn
	}
}

// Resume has the walker go on from where its client stands.
func (w *Walker) Resume() { w.shown = shownSegment{stream: w.at.Stream, unsure: true} }

// Stand returns a frame without content that stands where the walker does.
func (w *Walker) Stand() Placed {
	return Placed{At: w.at, Turn: w.turn, Reading: w.reading}
}

// SnapshotDue reports whether the next frame is a snapshot.
func (w *Walker) SnapshotDue() bool { return w.restored.due }

// HasSnapshot reports whether the last frame was the one that closes the calls of a run.
func (w *Walker) HasSnapshot() bool { return w.shown.closed }

// Waits reports whether the walker waits for an item before it passes the next entry.
func (w *Walker) Waits() bool { return !w.blocked.IsZero() }

// Reads reports whether the stream that the walker reads has more to come.
func (w *Walker) Reads() bool { return w.reading }

// IsAtEnd reports whether a hub's walker has passed all of the record.
func (w *Walker) IsAtEnd() bool { return w.atEnd }

// RecordGrew says that the record may have more entries.
func (w *Walker) RecordGrew() { w.atEnd = false }

// ThreadDeleted says that a thread of the id was deleted.
func (w *Walker) ThreadDeleted() { w.deleted.Store(true) }

// framed returns a frame that leaves the walker where it stands. The frame has a cursor, by
// which a client comes back, unless it tells of a user turn.
func (w *Walker) framed(f spool.Frame) Placed {
	if f.Kind != spool.FrameThread || f.Event.Seq > 0 {
		at := w.at
		f.Cursor = &at
	}
	return Placed{Frame: f, At: w.at, Turn: w.turn, Reading: w.reading}
}
