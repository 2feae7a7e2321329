package engine

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/internal/chanlock"
)

const (
	// ringFrames and ringBytes bound what a hub keeps for its clients. One that falls
	// behind them reads storage until it has caught up.
	ringFrames = 1024
	ringBytes  = 1 << 20
)

// hubs are the threads that somebody follows in this process.
type hubs struct {
	mu   sync.Mutex
	open map[spool.ThreadKey]*hub
}

// hub reads one thread for all who follow it in this process. It keeps the newest frames,
// encoded, in a ring; each client has only a place in it.
type hub struct {
	e       *Engine
	key     spool.ThreadKey
	clients int          // under hubs.mu
	readers atomic.Int32 // clients that want the frames as SSE messages
	owned   atomic.Int32 // clients that see only threads of their own
	cancel  context.CancelFunc
	done    chan struct{}
	ready   chan struct{} // closed once the hub has looked for the first time

	woken  chan struct{}
	dirty  atomic.Bool // the record may have grown
	heard  heard
	walker walker
	notice noticer
	stand  walked // where the last frame has left the clients
	// looks keeps looks at the state apart: who looks later knows the same or more, so that
	// no client is told of an older state behind a newer one.
	looks chanlock.Lock
	// seen is the state as it was at the end of the record that the walker has read last. Nil:
	// it was not looked at.
	seen *sight
	// looked is true once the clients know the state as it was then.
	looked bool

	mu      sync.Mutex
	ring    []ringFrame
	first   int64 // index of the oldest frame held
	next    int64 // index of the frame to come
	bytes   int
	notices int64 // how many there have been
	head    position
	placed  bool // head is valid
	// base is where the hub was placed, before the frame with the index begin.
	base    position
	begin   int64
	ended   bool
	owner   ownership
	changed chan struct{} // closed when anything of the above changes
}

// ringFrame is a frame as all clients get it.
type ringFrame struct {
	walked

	text []byte // as an SSE message. Nil: nobody wanted it yet
	// notices is how many frames there were before this one that tell the state: notices, and
	// snapshots.
	notices int64
}

// join returns the hub of the thread, with one client more. The client must leave.
func (e *Engine) join(key spool.ThreadKey) (*hub, error) {
	e.hubs.mu.Lock()
	defer e.hubs.mu.Unlock()
	if h := e.hubs.open[key]; h != nil {
		h.clients++
		return h, nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	h := &hub{
		e: e, key: key, clients: 1, cancel: cancel, done: make(chan struct{}), ready: make(chan struct{}),
		woken: make(chan struct{}, 1), changed: make(chan struct{}),
		walker: walker{e: e, key: key, shared: true, deleted: new(atomic.Bool)}, notice: noticer{key: key}, looks: chanlock.New(),
	}
	h.walker.beside = h.see
	unsubscribe, err := e.bus.Subscribe(ctx, key, h.wake)
	if err != nil {
		cancel()
		return nil, err
	}
	unlisten, err := e.bus.Listen(ctx, key, h.hear)
	if err != nil {
		unsubscribe()
		cancel()
		return nil, err
	}
	h.dirty.Store(true)
	e.hubs.open[key] = h
	go func() {
		defer close(h.done)
		defer unsubscribe()
		defer unlisten()
		h.run(ctx)
	}()
	return h, nil
}

// leave takes a client away. The last one ends the hub.
func (h *hub) leave() {
	h.e.hubs.mu.Lock()
	h.clients--
	last := h.clients == 0
	if last && h.e.hubs.open[h.key] == h {
		delete(h.e.hubs.open, h.key)
	}
	h.e.hubs.mu.Unlock()
	if last {
		h.cancel()
		<-h.done
	}
}

func (h *hub) wake(kind spool.WakeKind) {
	switch kind {
	case spool.WakeDeleted:
		h.walker.deleted.Store(true)
		h.dirty.Store(true)
	case spool.WakeOwner:
		h.ownerChanged()
		h.dirty.Store(true)
	case spool.WakeRecord:
		h.dirty.Store(true)
	case spool.WakeStream:
	default:
		return
	}
	h.look()
}

// look has the hub read the thread soon.
func (h *hub) look() {
	select {
	case h.woken <- struct{}{}:
	default:
	}
}

// run reads the thread whenever it is woken, and once in a while without.
func (h *hub) run(ctx context.Context) {
	tick := time.NewTicker(h.e.config.Poll)
	defer tick.Stop()
	for first := true; ; first = false {
		notices := h.takeHeard()
		err := h.read(ctx)
		h.tellHeard(notices)
		if first {
			close(h.ready)
		}
		if err != nil && ctx.Err() == nil {
			concerning(h.e.config.Log, h.key, "").WarnContext(ctx, "follow thread", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-h.woken:
		case <-tick.C:
			h.dirty.Store(true)
		}
	}
}

// read takes in all that has come.
func (h *hub) read(ctx context.Context) error {
	grown := h.dirty.Swap(false)
	h.looked = false
	if grown {
		h.walker.atEnd = false
	}
	if !h.isPlaced() {
		if err := h.place(ctx); err != nil {
			h.dirty.Store(true)
			return h.endIfDeleted(err)
		}
		h.looked, h.walker.atEnd = true, true // it has just been placed there
	}
	for {
		more, err := h.advance(ctx, grown)
		switch {
		case errors.Is(err, errReset):
			h.reset()
			h.dirty.Store(true)
			return nil
		case err != nil:
			h.dirty.Store(true)
			if errors.Is(err, record.ErrThreadGone) {
				return h.endIfDeleted(err)
			}
			return err
		case !more:
			if grown && h.walker.blocked.IsZero() && !h.looked {
				return h.notify(ctx)
			}
			if !h.walker.blocked.IsZero() {
				h.dirty.Store(true) // the entry that waits has still to be passed
			}
			return nil
		}
		grown = grown || !h.walker.reading // an ended stream has an entry behind it
	}
}

// advance adds the frames that come next. It reports false at the present.
func (h *hub) advance(ctx context.Context, grown bool) (more bool, err error) {
	more, rest, err := h.withSnapshots(ctx, grown)
	if err != nil || !more {
		return false, err
	}
	h.tell(ctx, rest)
	return true, nil
}

// withSnapshots takes the frames that come next, adds those up to the last snapshot, and
// returns the rest. A snapshot frame tells the state too, and so nobody looks at the state
// between its making and its place in the ring. A notice of the state follows it in any case.
//
// Where the walker has come to the end of the record, it has seen the state there. If nothing
// has to be told in between, it adds all frames, and a notice of that state if it is news.
func (h *hub) withSnapshots(ctx context.Context, grown bool) (more bool, rest []walked, err error) {
	h.looks.Lock()
	defer h.looks.Unlock()
	h.seen = nil
	changes := h.ownerChanges()
	frames, err := h.walker.next(ctx, grown)
	n := len(frames)
	for n > 0 && !frames[n-1].isSnapshot() {
		n--
	}
	switch {
	case h.seen != nil && n == 0:
		h.sawOwner(h.seen.thread.Owner, changes)
	case n > 0, slices.ContainsFunc(frames, func(f walked) bool { return f.Kind == spool.FrameThread }):
		h.missedOwner()
	case len(frames) > 0:
		h.askOwner(ctx)
	}
	if n > 0 {
		h.push(frames[:n])
		h.notice.again = true
	}
	rest = frames[n:]
	switch {
	case n > 0 || slices.ContainsFunc(rest, walked.isTurn):
		h.looked = false
	case err == nil && h.seen != nil && h.walker.atEnd:
		h.push(rest)
		h.push(h.notice.tell(*h.seen))
		rest, h.looked = nil, true
	}
	return len(frames) > 0, rest, err
}

// see looks at the state beside a read of the record. What fails here fails again when the
// state is looked at alone.
func (h *hub) see(v spool.View) {
	if s, err := h.notice.see(v); err == nil {
		h.seen = &s
	}
}

// place puts the walker at the present.
func (h *hub) place(ctx context.Context) error {
	changes := h.ownerChanges()
	var last record.Segment
	var thread spool.Thread
	var turns []spool.Message
	err := h.e.store.View(ctx, h.key, func(v spool.View) (err error) {
		if thread, err = v.Thread(); err != nil {
			return err
		}
		if err = record.CheckSame(thread, h.walker.made); err != nil {
			return err
		}
		if last, err = record.LatestSegment(v, thread); err != nil {
			return err
		}
		if turns, err = record.TurnsAt(v, thread.LastSeq); err != nil {
			return err
		}
		return h.notice.start(v, thread)
	})
	if err != nil {
		return err
	}
	h.sawOwner(thread.Owner, changes)
	w := &h.walker
	w.made = thread.CreatedAt
	w.at, w.reading = spool.Cursor{Seq: thread.LastSeq}, false
	w.turn = lastOf(turns, func(spool.MessageID) bool { return true })
	w.heard = heardOf{stream: last.Stream}
	if last.End != nil {
		w.heard = heardOf{}
		if thread.State.Active() && thread.RunID == last.Run {
			w.heard.ended = last.End
		}
	}
	if last.Stream != "" {
		page, err := h.e.streams.Read(ctx, spool.StreamKey{Thread: h.key, ID: last.Stream}, record.Farthest, 1)
		switch {
		case err == nil:
			w.at.Stream, w.at.Offset, w.reading = last.Stream, page.Last, last.InFlight() && !page.Ended
			if last.End != nil {
				w.at.Offset = record.Farther(page.Last, last.End.After)
			}
		case !errors.Is(err, spool.ErrStreamGone):
			return err
		case last.Live && last.InFlight(): // its worker is about to open it
			w.at.Stream, w.reading = last.Stream, true
		case last.End == nil: // clients stand behind what is saved of it: see streamSnapshot
			w.at.Stream, w.at.Offset = last.Stream, last.Saved.Last()
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stand = walked{at: w.at, turn: w.turn, reading: w.reading}
	h.head, h.placed = h.stand.position(), true
	h.base, h.begin = h.head, h.next
	h.change()
	return nil
}

func (h *hub) isPlaced() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.placed
}

// reset forgets where the thread was. The clients find their own way.
func (h *hub) reset() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.placed = false
	h.next++    // no client is up to date, not even the one that had all
	h.notices++ // the state that the next place takes for known was told to nobody
	h.first = h.next
	h.bytes = 0
	h.ring = nil
	h.change()
}

// tell adds what the walker has passed. Around a user turn it adds states: that of the run
// before, which has ended, and that of the turn's own run.
func (h *hub) tell(ctx context.Context, frames []walked) {
	for i, f := range frames {
		if !f.isTurn() {
			continue
		}
		h.push(frames[:i])
		err := h.tellState(ctx, func(v spool.View) ([]walked, error) { return h.notice.ended(v, f.Event.RunID) })
		h.push(frames[i : i+1])
		if err == nil {
			err = h.tellState(ctx, func(v spool.View) ([]walked, error) { return h.notice.begun(v, f.Event.RunID) })
		}
		if err != nil { // the state is told when all was passed
			h.dirty.Store(true)
		}
		h.tell(ctx, frames[i+1:])
		return
	}
	h.push(frames)
}

// notify adds the notices that follow from the thread's row.
func (h *hub) notify(ctx context.Context) error {
	err := h.tellState(ctx, h.notice.look)
	if err != nil {
		h.dirty.Store(true)
		return h.endIfDeleted(err)
	}
	return nil
}

// tellState adds what a look at the thread's state returns.
func (h *hub) tellState(ctx context.Context, look func(spool.View) ([]walked, error)) error {
	h.looks.Lock()
	defer h.looks.Unlock()
	changes := h.ownerChanges()
	h.notice.ownerRead = false
	var frames []walked
	err := h.e.store.View(ctx, h.key, func(v spool.View) (err error) {
		frames, err = look(v)
		return err
	})
	if err == nil && h.notice.ownerRead {
		h.sawOwner(h.notice.owner, changes)
	}
	if err == nil && len(frames) > 0 {
		h.push(frames)
	}
	return err
}

// state returns a notice of the state as it is now, and how many notices there have been
// that it overtakes. It is that of the thread that was made at that time. Also is called in
// the same transaction. Nil: nothing is.
func (h *hub) state(ctx context.Context, made time.Time, also func(v spool.View) error) (state walked, told int64, err error) {
	select {
	case h.looks <- struct{}{}:
	case <-ctx.Done():
		return walked{}, 0, ctx.Err()
	}
	defer h.looks.Unlock()
	err = h.e.store.View(ctx, h.key, func(v spool.View) error {
		if err := record.SameThread(v, made); err != nil {
			return err
		}
		if also != nil {
			if err := also(v); err != nil {
				return err
			}
		}
		state, err = hello(v)
		return err
	})
	return state, h.told(), err
}

// endIfDeleted ends the hub of a thread that is not there any more. Who follows a thread
// of the same name from now on gets another one.
func (h *hub) endIfDeleted(err error) error {
	if !missing(err) {
		return err
	}
	h.e.hubs.mu.Lock()
	if h.e.hubs.open[h.key] == h {
		delete(h.e.hubs.open, h.key)
	}
	h.e.hubs.mu.Unlock()
	h.mu.Lock()
	ended := h.ended
	h.mu.Unlock()
	if ended {
		return nil
	}
	h.push([]walked{noticeFrame(h.key, spool.NoticeThreadDeleted, "", spool.ThreadDeleted{ThreadID: h.key.ID}, time.Now())})
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	h.change()
	return nil
}

// push adds frames to the ring, encoded once for all.
func (h *hub) push(frames []walked) {
	if len(frames) == 0 {
		return
	}
	added := make([]ringFrame, len(frames))
	for i, f := range frames {
		if f.notice { // it moves nobody
			f.at, f.turn, f.reading = h.stand.at, h.stand.turn, h.stand.reading
		} else {
			h.stand = walked{at: f.at, turn: f.turn, reading: f.reading}
		}
		added[i] = ringFrame{walked: f}
		if h.readers.Load() > 0 || f.isSnapshot() {
			added[i].encode()
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, f := range added {
		f.notices = h.notices
		if f.notice || f.isSnapshot() {
			h.notices++
		}
		h.ring = append(h.ring, f)
		h.next++
		h.bytes += f.size()
		for len(h.ring) > ringFrames || h.bytes > ringBytes && len(h.ring) > 1 {
			h.bytes -= h.ring[0].size()
			h.ring[0] = ringFrame{}
			h.ring = h.ring[1:]
			h.first++
		}
	}
	h.head = h.stand.position()
	h.change()
}

// change tells the clients. The caller holds mu.
func (h *hub) change() {
	close(h.changed)
	h.changed = make(chan struct{})
}

// mark returns the index of the frame to come, and whether the hub has its place. Changed is
// closed when either may have changed.
func (h *hub) mark() (next int64, placed bool, changed <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.next, h.placed || h.ended, h.changed
}

// told returns how many notices there have been.
func (h *hub) told() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.notices
}

// find returns the index of the frame behind p, if the ring has it, and how many notices
// there were before. Changed is closed when a later call may answer differently.
// A snapshot frame does not move p, and so it is behind p for a client that was not told.
func (h *hub) find(p position, told bool) (index, notices int64, ok bool, changed <-chan struct{}) {
	return h.findFrame(told, func(at position) bool { return at == p })
}

// findRecord is find for who reads the record alone. A seq beyond the record is behind all
// frames.
func (h *hub) findRecord(p position) (index, notices int64, ok bool, changed <-chan struct{}) {
	p = p.record()
	index, notices, ok, changed = h.findFrame(true, func(at position) bool { return at.record() == p })
	if ok || p.turn != "" {
		return index, notices, ok, changed
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.next, h.notices, h.placed && h.head.seq < p.seq, h.changed
}

// findFrame returns the index of the first frame behind a position. With told, that is none
// of the snapshot frames which do not move it.
func (h *hub) findFrame(told bool, is func(at position) bool) (index, notices int64, ok bool, changed <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended { // the last frame tells that the thread is gone
		return h.next - 1, h.notices - 1, true, h.changed
	}
	if !h.placed {
		return 0, 0, false, h.changed
	}
	// The frame after which p stands, the first of several: notices do not move.
	at, snapshot := int64(-1), int64(-1)
	for i := h.next - 1; i >= h.first; i-- {
		slot := &h.ring[i-h.first]
		if !is(slot.position()) {
			if at >= 0 {
				break
			}
			continue
		}
		at = i
		if slot.isSnapshot() {
			snapshot = max(snapshot, i)
		}
	}
	switch {
	case told && snapshot >= 0:
		return snapshot + 1, h.noticesBefore(snapshot + 1), true, h.changed
	case h.first == h.begin && is(h.base): // the ring has all that has come since, if only notices
		return h.first, h.noticesBefore(h.first), true, h.changed
	case at >= 0 && h.ring[at-h.first].isSnapshot():
		return at, h.noticesBefore(at), true, h.changed
	case at >= 0:
		return at + 1, h.noticesBefore(at + 1), true, h.changed
	case is(h.head):
		return h.next, h.notices, true, h.changed
	default:
		return 0, 0, false, h.changed
	}
}

func (h *hub) noticesBefore(index int64) int64 {
	if index >= h.next {
		return h.notices
	}
	return h.ring[index-h.first].notices
}

// from returns the frames from index on. It reports false when the ring has lost them.
// Ended is true when none will follow.
func (h *hub) from(index int64, into []ringFrame) (frames []ringFrame, ok, ended bool, changed <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if index < h.first || !h.placed && !h.ended {
		return nil, false, h.ended, h.changed
	}
	for ; index < h.next && len(into) < cap(into); index++ {
		into = append(into, h.ring[index-h.first])
	}
	return into, true, h.ended, h.changed
}
