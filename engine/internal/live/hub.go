package live

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/walk"
	"github.com/spoolhq/spool/internal/chanlock"
)

// hub reads one thread for all its followers in this process, and puts what it reads into the
// ring. Only its goroutine reads.
type hub struct {
	ring

	from    *Config
	key     spool.ThreadKey
	clients int          // under Hubs.mu
	readers atomic.Int32 // clients that want the frames as SSE messages
	owned   atomic.Int32 // clients that see only threads of their own
	cancel  context.CancelFunc
	done    chan struct{}
	ready   chan struct{} // closed once the hub has looked for the first time
	forget  func()        // called once the thread was deleted
	run     func()

	woken  chan struct{}
	dirty  atomic.Bool // the record may have grown
	events liveEvents
	walker walk.Walker
	notice noticer
	stand  walk.Stand // where the last frame has left the clients
	// stateLock keeps reads of the state apart: a later read knows the same or more, so that no
	// client gets an older state behind a newer one.
	stateLock chanlock.Lock
	// seen is the state as it was at the end of the record that the walker has read last. Nil:
	// it was not looked at.
	seen *stateSeen
	// stateKnown is true once the clients know the state as it was then.
	stateKnown bool
}

// look has the hub read the thread soon.
func (h *hub) look() {
	select {
	case h.woken <- struct{}{}:
	default:
	}
}

// see looks at the state beside a read of the record. What fails here fails again when the
// state is looked at alone.
func (h *hub) see(v spool.View) {
	if s, err := h.notice.see(v); err == nil {
		h.seen = &s
	}
}

// askOwner notes whose the thread is behind a read of a run stream alone, for followers that
// see only threads of their own. A wake-up can get lost, and a step can go on for long.
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

// push adds frames to the ring, encoded once for all.
func (h *hub) push(frames []walk.Placed) {
	if len(frames) == 0 {
		return
	}
	added := make([]ringFrame, len(frames))
	for i, f := range frames {
		if f.Notice { // it moves nobody
			f.Stand = h.stand
		} else {
			h.stand = f.Stand
		}
		added[i] = ringFrame{Placed: f}
		if h.readers.Load() > 0 || f.IsSnapshot() {
			added[i].encode()
		}
	}
	h.add(added, h.stand.Position())
}

// liveEvents are live events that came over the bus.
type liveEvents struct {
	mu      sync.Mutex
	waiting [][]byte
}
