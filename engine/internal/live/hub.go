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
	owned   atomic.Int32 // clients that see only their own threads
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
	stand  walk.Stand // where the clients stand behind the last frame
	// stateLock lets one goroutine read the state at a time, so that a later read returns the same
	// state or a newer one.
	stateLock chanlock.Lock
	// seen is the state at the end of the record, as the walker's last read has seen it. Nil: that
	// read has not reached the end.
	seen *stateSeen
	// stateKnown is true once the clients know that state.
	stateKnown bool
}

// look has the hub read the thread soon.
func (h *hub) look() {
	select {
	case h.woken <- struct{}{}:
	default:
	}
}

// see reads the state in the transaction of a read of the record. It drops an error, which comes again
// when the hub reads the state alone.
func (h *hub) see(v spool.View) {
	if s, err := h.notice.see(v); err == nil {
		h.seen = &s
	}
}

// askOwner reads the thread's owner after a read of the run stream alone, for followers that see only
// their own threads. A wake-up can get lost, and a step can take long.
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
