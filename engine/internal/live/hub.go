package live

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/walk"
	"github.com/spoolhq/spool/internal/chanlock"
	"github.com/spoolhq/spool/store"
)

// hub reads one thread for all its followers in this process, and adds the frames to the ring. Only the
// hub's goroutine reads.
type hub struct {
	ring

	from    *Config
	key     spool.ThreadKey
	clients int          // guarded by Hubs.mu
	readers atomic.Int32 // clients that need the frames as SSE messages
	owned   atomic.Int32 // clients that see only their own threads
	cancel  context.CancelFunc
	done    chan struct{}
	ready   chan struct{} // closed after the hub's first read
	forget  func()        // called when the thread was deleted
	start   func()        // starts the hub's goroutine, once

	woken    chan struct{}
	dirty    atomic.Bool // the record may have grown
	asked    atomic.Bool // another process asks whether the hub has clients
	events   liveEvents
	walker   walk.Walker
	notice   noticer
	progress walk.Progress // the clients' progress after the last frame
	// stateLock lets one goroutine at a time read the state, so that a later read never returns an
	// older state.
	stateLock chanlock.Lock
	// seen is the state that the walker's last read found at the end of the record. It is nil if that
	// read did not reach the end.
	seen *stateSeen
	// stateKnown is true once the clients know that state.
	stateKnown bool
}

// look makes the hub read the thread soon.
func (h *hub) look() {
	select {
	case h.woken <- struct{}{}:
	default:
	}
}

// see reads the state in the transaction of a read of the record. It ignores an error, because the
// error comes again when the hub reads the state alone.
func (h *hub) see(v store.View) {
	if s, err := h.notice.see(v); err == nil {
		h.seen = &s
	}
}

// askOwner reads the thread's owner after a read of the run stream alone, if a follower sees only its
// own threads. The hub does not rely on wake-ups for this, because a wake-up can get lost and a step
// can take long.
func (h *hub) askOwner(ctx context.Context) {
	if h.owned.Load() == 0 {
		h.missedOwner()
		return
	}
	changes := h.ownerChanges()
	thread, err := readThread(ctx, h.from.Store, h.key)
	if err != nil {
		h.missedOwner()
		return
	}
	h.sawOwner(thread.Owner, changes)
}

// push adds frames to the ring. If a client needs SSE messages, push encodes them once for all clients.
func (h *hub) push(frames []walk.PositionedFrame) {
	if len(frames) == 0 {
		return
	}
	added := make([]ringFrame, len(frames))
	for i, f := range frames {
		if f.Notice { // a notice moves no client
			f.Progress = h.progress
		} else {
			h.progress = f.Progress
		}
		added[i] = ringFrame{PositionedFrame: f}
		if h.readers.Load() > 0 || f.IsSnapshot() {
			added[i].encode()
		}
	}
	h.add(added, h.progress.Position())
}

// liveEvents keeps live events that came as notices and wait for the hub.
type liveEvents struct {
	mu      sync.Mutex
	waiting [][]byte
}
