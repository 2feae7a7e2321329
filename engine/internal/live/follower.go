package live

import (
	"bytes"
	"errors"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/walk"
)

// errOver ends a follower in order: the engine was closed, or the thread was deleted.
var errOver = spool.Errorf(spool.Unavailable, "the engine is closed")

// errIdle says that no frame came within the time that the caller waits.
var errIdle = errors.New("nothing came")

// follower is one client: a walker until it has caught up, then a place in the hub's
// ring, and a walker again when it falls behind.
type follower struct {
	hubs        *Hubs
	hub         *hub
	walker      walk.Walker
	mode        walk.Mode
	made        time.Time // when the thread was made
	first       []ringFrame
	noticesSeen int64       // how many of the hub's notices the client knows
	eventsFrom  int64       // how many notices stand before the first live event that the client still needs
	state       []byte      // the last notice of the state
	run         spool.RunID // the run of that notice
	passed      bool        // the next snapshot frame of the hub is not for this client
	joined      bool
	closed      bool
	index       int64                    // of the next frame in the ring
	batch       *[maxBatch]ringFrame     // the ring frames that the caller has. Nil: none
	lent        []*spool.EncodedSnapshot // the snapshots that the caller has
	timer       *time.Timer
	// subject is whose threads the client may see. Nil: all.
	subject *string
}

// maxBatch is how many frames a client takes from the ring at once.
const maxBatch = 32

// batches are pooled, so that a waiting client takes no memory for one.
var batches = sync.Pool{New: func() any { return new([maxBatch]ringFrame) }}

// close gives back all that the follower has. It may be called more than once.
func (f *follower) close() {
	if f.closed {
		return
	}
	f.closed = true
	f.lend(f.first)
	releaseFormed(f.first)
	f.release()
	if f.timer != nil {
		f.timer.Stop()
	}
	if f.mode.Encodes {
		f.hub.readers.Add(-1)
	}
	if f.subject != nil {
		f.hub.owned.Add(-1)
	}
	f.hubs.leave(f.hub)
}

func (f *follower) release() {
	if f.batch != nil {
		clear(f.batch[:])
		batches.Put(f.batch)
		f.batch = nil
	}
	for _, snap := range f.lent {
		snap.Release()
	}
	f.lent = nil
}

// lend notes the snapshots that the caller has from now on.
func (f *follower) lend(frames []ringFrame) {
	for i := range frames {
		if snap := frames[i].Encoded; snap != nil {
			f.lent = append(f.lent, snap)
		}
	}
}

// unringed returns a walker's frames as frames of a ring.
func unringed(frames []walk.Placed) []ringFrame {
	out := make([]ringFrame, len(frames))
	for i, f := range frames {
		out[i].Placed = f
	}
	return out
}

// releaseFormed releases the snapshots of frames that the client has not got.
func releaseFormed(frames []ringFrame) {
	for i := range frames {
		frames[i].Formed.Release()
	}
}

// isNews reports whether a notice differs from the last one that the client got, and remembers it.
// The notice that a connection begins with may have read the state a moment before the hub did.
func (f *follower) isNews(frame walk.Placed) bool {
	if frame.Event.Type != spool.NoticeStateChange {
		return true
	}
	if bytes.Equal(f.state, frame.Event.Payload) || frame.Past && f.run != frame.Event.RunID {
		return false
	}
	f.state, f.run = frame.Event.Payload, frame.Event.RunID
	return true
}
