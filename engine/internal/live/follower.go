package live

import (
	"bytes"
	"errors"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/walk"
	"github.com/spoolhq/spool/wire"
)

// errOver ends a follower without an error for its client: the engine was closed, or the thread was
// deleted.
var errOver = spool.Errorf(spool.Unavailable, "the engine is closed")

// errIdle says that no frame came within the time for which the caller waits.
var errIdle = errors.New("nothing came")

// follower follows a thread for one client. It reads storage with a walker until it has caught up. Then
// it takes frames from the hub's ring. If it falls behind, it reads storage again.
type follower struct {
	hubs        *Hubs
	hub         *hub
	walker      walk.Walker
	mode        walk.Mode
	createdAt   time.Time // the thread's creation time
	first       []ringFrame
	noticesSeen int64       // how many of the hub's notices the client knows
	eventsFrom  int64       // how many notices precede the first live event that the client still needs
	state       []byte      // the last notice of the state
	run         spool.RunID // the run of that notice
	passed      bool        // the next snapshot frame of the hub must not go to this client
	joined      bool
	behind      bool // the ring counts it in behind
	closed      bool
	epoch       int64                   // of the ring, before the walker last read storage
	index       int64                   // of the next frame in the ring
	batch       *[maxBatch]ringFrame    // the ring frames that the caller is using, or nil
	lent        []*wire.EncodedSnapshot // the snapshots that the caller is using
	timer       *time.Timer
	waited      <-chan struct{} // what the last wait in next waited for
	sleeper     sleeper
	// subject is the owner whose threads the client may see. Nil: all threads.
	subject *string
}

// maxBatch is how many frames a client takes from the ring at once.
const maxBatch = 32

// batches is a pool, so that a waiting client uses no memory for a batch.
var batches = sync.Pool{New: func() any { return new([maxBatch]ringFrame) }}

// close releases everything that the follower has. It may be called more than once.
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
	f.hub.forgetSleeper(&f.sleeper)
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

// lend notes the snapshots that the caller will use.
func (f *follower) lend(frames []ringFrame) {
	for i := range frames {
		if snap := frames[i].Encoded; snap != nil {
			f.lent = append(f.lent, snap)
		}
	}
}

// toRing returns a walker's frames as frames of a ring.
func toRing(frames []walk.PositionedFrame) []ringFrame {
	out := make([]ringFrame, len(frames))
	for i, f := range frames {
		out[i].PositionedFrame = f
	}
	return out
}

// releaseFormed releases the snapshots of frames that the client will not get.
func releaseFormed(frames []ringFrame) {
	for i := range frames {
		frames[i].Formed.Release()
	}
}

// isNews reports whether a notice differs from the last notice that the client got, and remembers it.
// They may be equal at the beginning of a connection, when the follower reads the state a moment before
// the hub does.
func (f *follower) isNews(frame walk.PositionedFrame) bool {
	if frame.Event.Type != wire.NoticeStateChange {
		return true
	}
	if bytes.Equal(f.state, frame.Event.Payload) || frame.Past && f.run != frame.Event.RunID {
		return false
	}
	f.state, f.run = frame.Event.Payload, frame.Event.RunID
	return true
}
