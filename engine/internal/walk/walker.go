// Package walk reads a thread's record and run streams from storage as one sequence of frames. The
// sequence is the same whenever it is read: a segment's RUN_STARTED, its items with the entries that
// were written between them, its RUN_ENDED, the next segment.
//
// An entry stores the item before it, an item stores the entry before it, and a user turn stores the
// entry before it. A [Walker] keeps all three orders. It puts a snapshot where data has expired, or
// where a stream had content that no message will contain.
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
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Sources is what a walker reads.
type Sources struct {
	// Store hides the threads that the actor of a context must not see.
	Store     record.Viewer
	Streams   snapshot.Streams
	Snapshots *snapshot.Snapshots
	// EndStream ends the stream of a worker that died, with the content of its segment's RUN_ENDED
	// entry.
	EndStream func(ctx context.Context, key store.StreamKey, ended wire.Entry)
	// StreamGrace is how long a run stream stays readable after its end.
	StreamGrace time.Duration
}

// Mode says in which form a client wants the frames.
type Mode struct {
	// RecordOnly leaves the streams out.
	RecordOnly bool
	// Encodes makes snapshots encoded as JSON.
	Encodes bool
	// Form is the form of the snapshots, or nil.
	Form wire.SnapshotForm
}

// Walker reads one thread for one reader. Only one goroutine may use it.
type Walker struct {
	Mode
	Progress

	// SnapshotDue is true if the client needs a snapshot because a branch was restored.
	SnapshotDue bool
	// AtEnd is true if a hub's walker has read the whole record. The hub clears it when the record may
	// have grown.
	AtEnd bool

	from *Sources
	key  spool.ThreadKey
	// createdAt is the thread's creation time. The walker reads no other thread with the same id. Zero: not
	// known yet.
	createdAt time.Time
	// deleted becomes true when a thread with this id was deleted. It is nil except in the walker of a
	// hub.
	deleted *atomic.Bool
	// last is the last message that the client has, for a snapshot. It is empty if the client has none,
	// or if a later frame makes the client drop it.
	last spool.MessageID
	// known is the last message that the client had when it came. The client gets no user turns up to
	// that message.
	known spool.MessageID
	// restoredTo is the seq up to which a client without a cursor has read the messages by itself.
	restoredTo int64
	// emptySnapshot is true if the client's snapshot has no item of the current stream and the client
	// has got no item of it since. The stream may have expired.
	emptySnapshot bool
	// unread is the last saved item of the stream if At says that the client needs a snapshot before it can go on
	// with the stream: see [record.Saved.Unread]. Otherwise it is zero.
	unread wire.Offset
	// jump is the seq of the RUN_STARTED entry of the cursor's stream, while the walker reads the
	// entries before that. None of these entries moves the walker to another stream. Zero: none.
	jump     int64
	jumpRead bool // the value of Reading for that stream
	// cut is the part of the stream that the messages contain, if the walker began without an offset in
	// the stream. The walker skips that part item by item, because nested runs save their steps before
	// the enclosing step is saved.
	cut record.Saved
	// shown decides about the snapshot frames between segments.
	shown shownSegment
	// shared is true for the walker of a hub, which has no client that a snapshot could go to.
	shared bool
	// atRecordEnd is called in the transaction of each read that reaches the end of the record. It may
	// be nil.
	atRecordEnd func(v store.View)
	// unopened is true if the walker has just seen that the worker of the current stream has not opened it yet.
	unopened bool
	// ahead is the stretch that follows the client's cursor, if it was read with the cursor. Nil: it was not.
	ahead *stretch
	// blocked is the time since when the walker waits for an item.
	blocked time.Time
	// born is when the walker of a client was made. A hub's walker has none: it counts as old.
	born time.Time
	// timedOut is true if the next item of the stream has not come in time.
	timedOut bool
}

// New returns the walker of a client, for the thread that was created at o.CreatedAt.
func New(from *Sources, key spool.ThreadKey, o wire.FollowOptions, mode Mode) Walker {
	return Walker{
		Mode: mode, Progress: Progress{Turn: o.LastTurnID},
		from: from, key: key,
		createdAt: o.CreatedAt, last: o.LastMessageID, known: o.LastMessageID, born: time.Now(),
	}
}

// NewShared returns the walker of a hub. AtRecordEnd is called in the transaction of each read that
// reaches the end of the record.
func NewShared(from *Sources, key spool.ThreadKey, atRecordEnd func(v store.View)) Walker {
	return Walker{from: from, key: key, shared: true, deleted: new(atomic.Bool), atRecordEnd: atRecordEnd}
}

// MoveTo sets the walker's progress to its client's progress after frames of a hub.
func (w *Walker) MoveTo(s Progress) {
	switch {
	case !w.RecordOnly:
		w.Progress = s
	case s.At.Seq >= w.At.Seq:
		w.At.Seq, w.Turn = s.At.Seq, s.Turn
	}
}

// Resume prepares the walker to continue from its client's position.
func (w *Walker) Resume() { w.shown = shownSegment{stream: w.At.Stream, unsure: true} }

// CanJoin reports whether a hub at the same position would send the client the same frames.
func (w *Walker) CanJoin() bool {
	cutting := w.Reading && w.At.Offset.Compare(w.cut.Last()) < 0
	return w.At.Seq >= w.jump && !w.RecordOnly && !cutting && !w.SnapshotDue && w.shown.resolved()
}

// WaitsForEnd reports whether calls that the client shows are closed at the end of a run that was active when the
// walker last looked.
func (w *Walker) WaitsForEnd() bool { return w.shown.open }

// Joined tells the walker that its client gets the next frames from a hub.
func (w *Walker) Joined() { w.ahead = nil }

// HasSnapshot reports whether the last frame was the snapshot that closes the calls of a run.
func (w *Walker) HasSnapshot() bool { return w.shown.closed }

// Waits reports whether the walker waits for an item before it passes the next entry.
func (w *Walker) Waits() bool { return !w.blocked.IsZero() }

// ThreadDeleted notes that a thread with the walker's id was deleted. Any goroutine may call it.
func (w *Walker) ThreadDeleted() { w.deleted.Store(true) }

// framed returns a frame that does not move the walker. Unless it is a user turn, the frame has a
// cursor with which a client comes back.
func (w *Walker) framed(f wire.Frame) PositionedFrame {
	if f.Kind != wire.FrameThread || f.Event.Seq > 0 {
		at := w.At
		f.Cursor = &at
	}
	return PositionedFrame{Frame: f, Progress: w.Progress}
}
