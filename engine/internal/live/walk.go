package live

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/snapshot"
)

const (
	// walkPage is how much a walker reads at once.
	walkPage = 256
	// healAfter is how long a walker waits for an item that the record says was written,
	// before it takes it for lost with its worker.
	healAfter = 2 * time.Second
)

// walker reads a thread's record and run streams from storage as one sequence of frames,
// which is the same whenever it is read: a segment's RUN_STARTED, its items with the
// entries written among them, its RUN_ENDED, the next segment. Entries know the item
// they stand behind, and items the entry; a walker only has to respect both. A user turn
// knows the entry that it stands behind.
type walker struct {
	from *Config
	key  spool.ThreadKey
	// made is when the thread was. The walker reads no other thread of its id. Zero: not known
	// yet.
	made time.Time
	// deleted is set once a thread of the id was deleted. Nil: the walker is not told.
	deleted *atomic.Bool
	// last is the last message that the client has, for a snapshot. Empty: none, or one that
	// the walker has told to drop since.
	last spool.MessageID
	// known is the last message that the client came with: it is told of no turn up to there.
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
	// recordOnly leaves the streams out.
	recordOnly bool
	// encodes says that the client wants its snapshots encoded.
	encodes bool
	// form is the form in which the client wants its snapshots. Nil: as they are.
	form spool.SnapshotForm
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

// placedFrame is a frame, and where it leaves the walker.
type placedFrame struct {
	spool.Frame

	at      spool.Cursor
	turn    spool.MessageID
	reading bool // whether the stream at.Stream has more to come
	// encoded is the snapshot of a frame whose Snapshot has few messages. Nil: it has all.
	encoded *snapshot.Encoded
	// formed is the same for a client of another protocol.
	formed *snapshot.Formed
	// notice is true for what has no place in the order: the state, and live events.
	notice bool
	// past is true for the state in which a run has ended that does not have the thread any
	// more.
	past bool
}

// isSnapshot reports whether the frame tells of a thread or a run as a whole.
func (f placedFrame) isSnapshot() bool { return f.Kind == spool.FrameSnapshot }

func isSnapshot(f placedFrame) bool { return f.isSnapshot() }

// errReset tells a walker without a client that its stream is gone.
var errReset = errors.New("the stream is gone")

// place sets the walker to a client's cursor, or to "now" without one. It returns a
// snapshot frame where the cursor's place does not exist any more. View runs what it is given
// in a transaction.
func (w *walker) place(ctx context.Context, c *spool.Cursor, view func(read func(v spool.View) error) error) ([]placedFrame, error) {
	var thread spool.Thread
	var last record.Segment
	var named record.NamedStream
	err := view(func(v spool.View) (err error) {
		if thread, err = v.Thread(); err != nil {
			return err
		}
		if err := record.CheckSame(thread, w.made); err != nil {
			return err
		}
		if err := w.placeTurn(v, c); err != nil {
			return err
		}
		if err := w.placeRestored(v, thread, c); err != nil {
			return err
		}
		if last, err = record.LatestSegment(v, thread); err != nil || c == nil {
			return err
		}
		if err := w.shown.find(v, *c); err != nil || c.Stream == "" {
			return err
		}
		named, err = record.FindStream(v, *c, w.from.StreamGrace)
		return err
	})
	if err != nil {
		return nil, err
	}
	switch {
	case w.recordOnly:
		if c != nil {
			w.at.Seq = max(c.Seq, 0)
		}
		return nil, nil
	case c == nil:
		w.beginNow(last)
		return nil, nil
	case c.Seq > thread.LastSeq, c.Stream != "" && named.Seq == 0, named.Past, w.restored.due:
		return w.snapshot(ctx)
	case c.Stream == "":
		w.beginBehind(last, max(c.Seq, 0))
		return w.settle(ctx)
	}
	w.at = *c
	w.at.Seq = max(c.Seq, 0)
	page, err := w.from.Streams.Read(ctx, w.stream(), c.Offset, 1)
	switch {
	case errors.Is(err, spool.ErrStreamGone) && c.Offset.IsZero() && last.Live && last.Stream == c.Stream:
	case errors.Is(err, spool.ErrStreamGone):
		return w.snapshot(ctx)
	case err != nil:
		return nil, err
	case c.Offset.Compare(record.Farther(page.Last, named.Last)) > 0 && (last.Stream != c.Stream || c.Offset.Compare(last.Saved.Last()) > 0):
		return w.snapshot(ctx)
	}
	more := !named.Over && (!page.Ended || len(page.Items) > 0)
	if named.Seq > w.at.Seq {
		w.jump, w.jumpRead = named.Seq, more
	} else {
		w.reading = more
	}
	return w.settle(ctx)
}

// placeTurn finds out which of the user turns at a client's place the client has, by its
// last message, or the last turn that it has named.
func (w *walker) placeTurn(v spool.View, c *spool.Cursor) error {
	shown := w.turn
	if w.known == "" && shown == "" {
		return nil
	}
	seq := int64(0)
	if c != nil {
		seq = max(c.Seq, 0)
	}
	turns, err := record.TurnsAt(v, seq)
	w.turn = lastOf(turns, func(id spool.MessageID) bool { return id == w.known || id == shown })
	return err
}

// beginNow places a walker without a cursor: the record is read from its start, and of
// the streams only the one in flight, from what the messages lack.
func (w *walker) beginNow(last record.Segment) {
	w.at = spool.Cursor{Stream: last.Stream, Offset: last.Saved.Main}
	w.cut = last.Saved
	w.jump, w.jumpRead = last.Seq, last.InFlight()
	w.shown = shownSegment{stream: last.Stream}
	if last.End != nil { // all segments are over: the record alone tells of them
		w.at.Offset = last.End.After
		w.shown = shownSegment{ended: last.End}
	}
}

// beginBehind places a walker with a cursor that names no stream. A stream in flight that
// the cursor is already in is read from what the messages lack; every later one from its
// start.
func (w *walker) beginBehind(last record.Segment, seq int64) {
	w.at = spool.Cursor{Seq: seq}
	if last.InFlight() && last.Seq <= seq {
		w.at.Stream, w.at.Offset, w.reading = last.Stream, last.Saved.Main, true
		w.cut = last.Saved
		w.shown = shownSegment{stream: last.Stream}
	}
}

// next returns the frames that follow and that storage has already, empty at the
// present. Grown says whether the record may have more entries than were read.
func (w *walker) next(ctx context.Context, grown bool) ([]placedFrame, error) {
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
	s, err := w.stretch(ctx, walkPage)
	if err != nil {
		return nil, err
	}
	w.shown.open = false // it may have ended since
	var frames []placedFrame
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
func (w *walker) items(ctx context.Context) ([]placedFrame, error) {
	page, err := w.from.Streams.Read(ctx, w.stream(), w.at.Offset, walkPage)
	if errors.Is(err, spool.ErrStreamGone) {
		return w.gone(ctx)
	}
	if err == nil {
		err = w.checkItems(ctx, page)
	}
	if err != nil {
		return nil, err
	}
	frames := make([]placedFrame, 0, len(page.Items))
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
func (w *walker) upTo(ctx context.Context, seq int64) (frames []placedFrame, err error) {
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
func (w *walker) pass(entry spool.Entry) placedFrame {
	w.at.Seq, w.turn = entry.Seq, ""
	w.blocked = time.Time{}
	w.noteMessages(entry)
	w.shown.entry(entry)
	switch {
	case entry.Type == spool.EntryRunEnded:
		if id, err := record.StreamOf(entry); err == nil && id == w.at.Stream && id != "" {
			w.at.Offset = record.Farther(w.at.Offset, entry.After) // also where its last items were lost
		}
	case entry.Type == spool.EntryRunStarted && !w.recordOnly:
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
func (w *walker) itemsFirst(entry spool.Entry) bool {
	switch entry.Type {
	case spool.EntryRunEnded, spool.EntryRunStarted:
		return true
	default:
		if entry.Stream == "" { // by somebody who does not know the stream: the next item that knows of it comes behind
			return true
		}
		return entry.Stream == w.at.Stream && entry.After.Compare(w.at.Offset) > 0
	}
}

// await returns the items that stand before an entry. Those that do not come were lost
// with their worker: the stream is then ended in its place.
func (w *walker) await(ctx context.Context, entry spool.Entry) ([]placedFrame, error) {
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
		return []placedFrame{w.pass(entry)}, nil
	}
	w.from.EndStream(ctx, w.stream(), entry)
	return w.items(ctx)
}

// gone decides what to do without the stream: wait for one whose worker is about to open
// it, or for the end of one that was already gone when the client got a snapshot, else give
// the client a snapshot.
func (w *walker) gone(ctx context.Context) ([]placedFrame, error) {
	if w.at.Offset.IsZero() || w.lacking {
		var last record.Segment
		err := w.from.Store.View(ctx, w.key, func(v spool.View) error {
			thread, err := v.Thread()
			if err == nil {
				last, err = record.LatestSegment(v, thread)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if last.Stream == w.at.Stream && last.End == nil {
			if last.Live && w.at.Offset.IsZero() {
				return nil, nil
			}
			if w.lacking && last.Saved.Last().Compare(w.at.Offset) <= 0 { // a snapshot would say the same again
				w.reading = false
				return nil, nil
			}
		}
	}
	return w.snapshot(ctx)
}

// snapshot stands for all that is missing, and goes on behind it.
func (w *walker) snapshot(ctx context.Context) ([]placedFrame, error) {
	if w.recordOnly {
		return nil, nil
	}
	if w.shared {
		return nil, errReset
	}
	snap, encoded, formed, err := w.takeSnapshot(ctx, spool.SnapshotOptions{LastMessageID: w.last})
	if err != nil {
		return nil, err
	}
	if err = record.CheckSame(snap.Thread, w.made); err == nil {
		w.at = snap.Cursor()
		w.turn, err = w.turnIn(ctx, snap)
	}
	if err != nil {
		encoded.Release()
		formed.Release()
		return nil, err
	}
	w.restored.due = false
	w.shown = shownSegment{stream: w.at.Stream, unsure: snap.Thread.State.Active()}
	w.cut = record.Saved{}
	w.reading = snap.Stream != nil && snap.Stream.End == nil
	w.lacking = w.reading && len(snap.Stream.Items) == 0
	w.jump = 0
	frame := w.framed(spool.Frame{Kind: spool.FrameSnapshot, Snapshot: snap})
	frame.encoded, frame.formed = encoded, formed
	w.at.Seq = max(w.at.Seq, 0)
	frame.at = w.at
	return []placedFrame{frame}, nil
}

// turnIn returns the last user turn behind the last entry of a snapshot that the client has
// with it.
func (w *walker) turnIn(ctx context.Context, snap *spool.Snapshot) (turn spool.MessageID, err error) {
	err = w.from.Store.View(ctx, w.key, func(v spool.View) error {
		turns, err := record.TurnsAt(v, max(snap.LastEventSeq, 0))
		turn = lastOf(turns, func(id spool.MessageID) bool {
			return id == w.last || slices.ContainsFunc(snap.Messages, func(m spool.Message) bool { return m.ID == id })
		})
		return err
	})
	return turn, err
}

func (w *walker) stream() spool.StreamKey { return spool.StreamKey{Thread: w.key, ID: w.at.Stream} }

// framed returns a frame that leaves the walker where it stands. The frame has a cursor, by
// which a client comes back, unless it tells of a user turn.
func (w *walker) framed(f spool.Frame) placedFrame {
	if f.Kind != spool.FrameThread || f.Event.Seq > 0 {
		at := w.at
		f.Cursor = &at
	}
	return placedFrame{Frame: f, at: w.at, turn: w.turn, reading: w.reading}
}

// position is where a walker stands, for comparison with another's. A stream counts only
// while it is read.
type position struct {
	seq    int64
	turn   spool.MessageID // the last one told behind the entry, empty for none
	stream spool.StreamID
	offset spool.Offset
}

func positionAt(at spool.Cursor, turn spool.MessageID, reading bool) position {
	if !reading {
		return position{seq: at.Seq, turn: turn}
	}
	return position{at.Seq, turn, at.Stream, at.Offset}
}

// position returns where the frame leaves its walker.
func (f placedFrame) position() position { return positionAt(f.at, f.turn, f.reading) }

// record returns the position of a walker that reads no streams.
func (p position) record() position { return position{seq: p.seq, turn: p.turn} }

// position returns where the walker stands. It reports false while no hub can stand at
// the same place.
func (w *walker) position() (position, bool) {
	cutting := w.reading && w.at.Offset.Compare(w.cut.Last()) < 0
	settled := w.at.Seq >= w.jump && !w.recordOnly && !cutting && !w.restored.due && w.shown.settled()
	return positionAt(w.at, w.turn, w.reading), settled
}

// takeSnapshot returns a snapshot, which is encoded, or in another form, for a walker that
// wants it so. It then has no messages but those behind its last entry.
func (w *walker) takeSnapshot(ctx context.Context, o spool.SnapshotOptions) (snap *spool.Snapshot, encoded *snapshot.Encoded, formed *snapshot.Formed, err error) {
	switch {
	case w.encodes:
		if encoded, err = w.from.Snapshots.Encoded(ctx, w.key, o); err == nil {
			snap = encoded.Rest()
		}
	case w.form != nil:
		if formed, err = w.from.Snapshots.Formed(ctx, w.key, w.form); err == nil {
			snap = formed.Snapshot
		}
	default:
		snap, err = w.from.Snapshots.Snapshot(ctx, w.key, o)
	}
	return snap, encoded, formed, err
}
