package live

import (
	"sync"
	"sync/atomic"

	"github.com/spoolhq/spool/engine/internal/walk"
	"github.com/spoolhq/spool/wire"
)

const (
	// ringFrames and ringBytes bound the frames in a ring. A client that falls behind the ring reads
	// storage until it has caught up.
	ringFrames = 1024
	ringBytes  = 1 << 20
)

// ring keeps the newest frames of a thread. Only the hub's goroutine changes the ring, so that
// goroutine may read it without mu. Each client has an index in the ring.
type ring struct {
	// behind counts the followers that read storage or wait for it.
	behind     atomic.Int32
	mu         sync.Mutex
	frames     []ringFrame
	first      int64 // index of the oldest frame in the ring
	next       int64 // index of the next frame to be added
	bytes      int
	notices    int64 // the number of notices and snapshots so far
	head       walk.Position
	positioned bool // head is valid
	// base is the position at which the hub started. The frame with the index begin was the first one
	// after it.
	base    walk.Position
	begin   int64
	epoch   int64 // how often the hub has begun at the present, or has lost its position
	ended   bool
	owner   ownership
	changed chan struct{} // closed when a field above changes
	// sleepers are woken, and removed, when changed is closed.
	sleepers []*sleeper
}

// ownership is what a hub knows about the owner of its thread.
type ownership struct {
	subject string
	known   bool
	// changes counts the wake-ups for a change of the owner. A read that began before the last wake-up
	// may have seen the previous owner.
	changes int64
}

// ringFrame is a frame in the form that every client gets.
type ringFrame struct {
	walk.PositionedFrame

	text []byte // the SSE message, nil until a client needs it
	// notices is the number of notices and snapshots before this frame.
	notices int64
}

// entryBytes is the approximate size of a frame without its data.
const entryBytes = 320

// size returns the approximate size of the frame in the ring, in bytes.
func (f *ringFrame) size() int {
	switch {
	case f.text != nil:
		return len(f.text)
	case f.Kind == wire.FrameStream:
		return entryBytes + len(f.Item.Data)
	default:
		return entryBytes + len(f.Event.Payload)
	}
}

// moveTo sets the position after which the next frames come.
func (r *ring) moveTo(at walk.Position) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.head, r.positioned = at, true
	r.base, r.begin = at, r.next
	r.epoch++
	r.notices++ // no client has the state that the hub has just read
	r.change()
}

// reset forgets the position. Then the clients read storage.
func (r *ring) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.positioned = false
	r.epoch++
	r.next++ // so that no client is up to date, not even one that has every frame
	r.first = r.next
	r.bytes = 0
	r.frames = nil
	r.change()
}

// currentEpoch returns the ring's epoch. Frames of another one may lack what happened in between.
func (r *ring) currentEpoch() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.epoch
}

// nudge makes the followers that read storage look again. What they wait for may be behind the hub already: a hub
// that begins at the present counts the items of an ended segment as read before they are there.
func (r *ring) nudge() {
	if r.behind.Load() == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.change()
}

// end notes that no frame will follow.
func (r *ring) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	r.change()
}

// add adds frames. Head is the position after the last of them.
func (r *ring) add(frames []ringFrame, head walk.Position) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range frames {
		f.notices = r.notices
		if f.Notice || f.IsSnapshot() {
			r.notices++
		}
		r.frames = append(r.frames, f)
		r.next++
		r.bytes += f.size()
		for len(r.frames) > ringFrames || r.bytes > ringBytes && len(r.frames) > 1 {
			r.bytes -= r.frames[0].size()
			r.frames[0] = ringFrame{}
			r.frames = r.frames[1:]
			r.first++
		}
	}
	r.head = head
	r.change()
}

// change wakes the clients. The caller must hold mu.
func (r *ring) change() {
	close(r.changed)
	r.changed = make(chan struct{})
	r.wakeSleepers()
}

// mark returns the index of the next frame to be added, and whether the hub has a position or has
// ended. Changed is closed when either may have changed.
func (r *ring) mark() (next int64, positioned bool, changed <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.next, r.positioned || r.ended, r.changed
}

// noticeCount returns the number of notices so far.
func (r *ring) noticeCount() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.notices
}

// find returns the index of the frame after p if the ring has it, and how many notices precede that
// frame. Changed is closed when a later call may return something else. A snapshot frame does not move
// p, and counts as after p unless hasSnapshot is true.
func (r *ring) find(p walk.Position, hasSnapshot bool) (index, notices int64, ok bool, changed <-chan struct{}) {
	return r.findFrame(hasSnapshot, func(at walk.Position) bool { return at == p })
}

// findRecord does the same as find for a client that reads only the record. A position beyond the
// record is after all frames.
func (r *ring) findRecord(p walk.Position) (index, notices int64, ok bool, changed <-chan struct{}) {
	p = p.Record()
	index, notices, ok, changed = r.findFrame(true, func(at walk.Position) bool { return at.Record() == p })
	if ok || p.Turn != "" {
		return index, notices, ok, changed
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.next, r.notices, r.positioned && r.head.Seq < p.Seq, r.changed
}

// findFrame returns the index of the first frame after a position. Snapshot frames may be at the
// position itself, because they do not move it. With hasSnapshot, findFrame skips these.
func (r *ring) findFrame(
	hasSnapshot bool, is func(at walk.Position) bool,
) (index, notices int64, ok bool, changed <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended { // the last frame says that the thread was deleted
		return r.next - 1, r.notices - 1, true, r.changed
	}
	if !r.positioned {
		return 0, 0, false, r.changed
	}
	// at is the first of the frames that end at the position. Several may, because notices do not move
	// it.
	at, snapshot := int64(-1), int64(-1)
	for i := r.next - 1; i >= r.first; i-- {
		slot := &r.frames[i-r.first]
		if !is(slot.Position()) {
			if at >= 0 {
				break
			}
			continue
		}
		at = i
		if slot.IsSnapshot() {
			snapshot = max(snapshot, i)
		}
	}
	switch {
	case hasSnapshot && snapshot >= 0:
		return snapshot + 1, r.noticesBefore(snapshot + 1), true, r.changed
	case r.first == r.begin && is(r.base): // the ring has every frame since base, even if all of them are notices
		return r.first, r.noticesBefore(r.first), true, r.changed
	case at >= 0 && r.frames[at-r.first].IsSnapshot():
		return at, r.noticesBefore(at), true, r.changed
	case at >= 0:
		return at + 1, r.noticesBefore(at + 1), true, r.changed
	case is(r.head):
		return r.next, r.notices, true, r.changed
	default:
		return 0, 0, false, r.changed
	}
}

func (r *ring) noticesBefore(index int64) int64 {
	if index >= r.next {
		return r.notices
	}
	return r.frames[index-r.first].notices
}

// framesFrom returns the frames from index on. It returns false if the ring has lost them. Ended is true if
// no frame will follow.
func (r *ring) framesFrom(index int64, into []ringFrame) (frames []ringFrame, ok, ended bool, changed <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if index < r.first || !r.positioned && !r.ended {
		return nil, false, r.ended, r.changed
	}
	for ; index < r.next && len(into) < cap(into); index++ {
		into = append(into, r.frames[index-r.first])
	}
	return into, true, r.ended, r.changed
}

// eventsBefore returns the live events that are in the ring before the index and after the given number
// of notices.
func (r *ring) eventsBefore(index, notices int64) (events []ringFrame) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.frames[:max(min(index, r.next)-r.first, 0)] {
		if frame := r.frames[i]; isEvent(frame.PositionedFrame) && frame.notices >= notices {
			events = append(events, frame)
		}
	}
	return events
}

// isEvent reports whether the frame is a live event of an application.
func isEvent(f walk.PositionedFrame) bool {
	return f.Notice && f.Event.Type != wire.NoticeStateChange && f.Event.Type != wire.NoticeThreadDeleted
}
