package live

import (
	"sync"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/walk"
)

const (
	// ringFrames and ringBytes bound what a ring keeps for its clients. A client that falls
	// behind the ring reads storage until it has caught up.
	ringFrames = 1024
	ringBytes  = 1 << 20
)

// ring has the newest frames of a thread. Only the hub's goroutine changes the ring, and so may read
// it without mu. Each client has a place in it.
type ring struct {
	mu      sync.Mutex
	frames  []ringFrame
	first   int64 // index of the oldest frame held
	next    int64 // index of the frame to come
	bytes   int
	notices int64 // how many there have been
	head    walk.Position
	placed  bool // head is valid
	// base is where the hub was placed, before the frame with the index begin.
	base    walk.Position
	begin   int64
	ended   bool
	owner   ownership
	changed chan struct{} // closed when anything of the above changes
}

// ownership is whose a thread is, as its hub knows it.
type ownership struct {
	subject string
	known   bool
	// changes counts the wake-ups for a change of the owner. A read that began before the last
	// wake-up may have seen the owner before.
	changes int64
}

// ringFrame is a frame as every client gets it.
type ringFrame struct {
	walk.Placed

	text []byte // as an SSE message. Nil: nobody wanted it yet
	// notices is how many notices and snapshots there were before this frame.
	notices int64
}

// entryBytes is about how many bytes a frame takes besides its data.
const entryBytes = 320

// size returns about how many bytes the frame takes in the ring.
func (f *ringFrame) size() int {
	switch {
	case f.text != nil:
		return len(f.text)
	case f.Kind == spool.FrameStream:
		return entryBytes + len(f.Item.Data)
	default:
		return entryBytes + len(f.Event.Payload)
	}
}

// place sets the position at which the next frames begin.
func (r *ring) place(at walk.Position) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.head, r.placed = at, true
	r.base, r.begin = at, r.next
	r.notices++ // no client has the state that the place takes for known
	r.change()
}

// reset forgets the position. The clients read storage.
func (r *ring) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.placed = false
	r.next++ // no client is up to date, not even the one that had all
	r.first = r.next
	r.bytes = 0
	r.frames = nil
	r.change()
}

// end says that no frame will follow.
func (r *ring) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	r.change()
}

// add adds frames, behind which the head stands.
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
}

// mark returns the index of the frame to come, and whether the hub has its place. Changed is
// closed when either may have changed.
func (r *ring) mark() (next int64, placed bool, changed <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.next, r.placed || r.ended, r.changed
}

// noticeCount returns how many notices there have been.
func (r *ring) noticeCount() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.notices
}

// find returns the index of the frame behind p, if the ring has it, and how many notices
// there were before. Changed is closed when a later call may answer differently.
// A snapshot frame does not move p. It is behind p unless the client has it.
func (r *ring) find(p walk.Position, hasSnapshot bool) (index, notices int64, ok bool, changed <-chan struct{}) {
	return r.findFrame(hasSnapshot, func(at walk.Position) bool { return at == p })
}

// findRecord is find for a client that reads the record alone. A seq beyond the record is behind
// all frames.
func (r *ring) findRecord(p walk.Position) (index, notices int64, ok bool, changed <-chan struct{}) {
	p = p.Record()
	index, notices, ok, changed = r.findFrame(true, func(at walk.Position) bool { return at.Record() == p })
	if ok || p.Turn != "" {
		return index, notices, ok, changed
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.next, r.notices, r.placed && r.head.Seq < p.Seq, r.changed
}

// findFrame returns the index of the first frame behind a position. With hasSnapshot, that is none
// of the snapshot frames which do not move it.
func (r *ring) findFrame(hasSnapshot bool, is func(at walk.Position) bool) (index, notices int64, ok bool, changed <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended { // the last frame says that the thread is gone
		return r.next - 1, r.notices - 1, true, r.changed
	}
	if !r.placed {
		return 0, 0, false, r.changed
	}
	// The frame after which the position stands, the first of several: notices do not move.
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
	case r.first == r.begin && is(r.base): // the ring has all that has come since, if only notices
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

// take returns the frames from index on. It reports false when the ring has lost them.
// Ended is true when none will follow.
func (r *ring) take(index int64, into []ringFrame) (frames []ringFrame, ok, ended bool, changed <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if index < r.first || !r.placed && !r.ended {
		return nil, false, r.ended, r.changed
	}
	for ; index < r.next && len(into) < cap(into); index++ {
		into = append(into, r.frames[index-r.first])
	}
	return into, true, r.ended, r.changed
}

// eventsBefore returns the live events that the ring has before the index, behind so many notices.
func (r *ring) eventsBefore(index, notices int64) (events []ringFrame) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.frames[:max(min(index, r.next)-r.first, 0)] {
		if frame := r.frames[i]; isEvent(frame.Placed) && frame.notices >= notices {
			events = append(events, frame)
		}
	}
	return events
}

// isEvent reports whether the frame is a live event of an application's.
func isEvent(f walk.Placed) bool {
	return f.Notice && f.Event.Type != spool.NoticeStateChange && f.Event.Type != spool.NoticeThreadDeleted
}
