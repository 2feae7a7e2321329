// Package live sends clients what happens on a thread, when it happens: the entries of the record, the
// items of the run streams, and notices of the thread's state. Clients get them as one sequence of
// frames, which is the same live and replayed.
//
// Each thread that a client follows has one hub in the process. The hub reads the thread once for all
// its followers, with a [walk.Walker], and keeps the newest frames in a ring. A follower has an index
// in the ring. A follower that starts at an old cursor or falls behind reads storage with its own
// walker until it has caught up.
//
// The package reads the store and the run streams, and writes none of them. It gets wake-ups, and sends those
// that ask who follows a thread. It imports the root package and, of the engine's parts, record, toolresult and
// walk.
package live

import (
	"sync"

	"github.com/spoolhq/spool"
)

// Hubs contains the hubs of the threads that clients follow in this process. It is safe for concurrent
// use.
type Hubs struct {
	Config

	mu   sync.Mutex
	open map[spool.ThreadKey]*hub

	closing chan struct{}
	close   sync.Once
}

// New returns a Hubs without an open hub.
func New(c Config) *Hubs {
	return &Hubs{Config: c, open: make(map[spool.ThreadKey]*hub), closing: make(chan struct{})}
}

// Close ends all followers. It may be called more than once.
func (h *Hubs) Close() {
	h.close.Do(func() {
		close(h.closing)
		h.wakeAll()
	})
}

// Clients returns how many clients follow a thread.
func (h *Hubs) Clients() (n int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, hub := range h.open {
		n += int64(hub.clients)
	}
	return n
}

// join returns the hub of the thread and adds a client to it. The client must leave. The first client starts the
// hub.
func (h *Hubs) join(key spool.ThreadKey) (_ *hub, first bool, _ error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if hub := h.open[key]; hub != nil {
		hub.clients++
		return hub, false, nil
	}
	hub, err := openHub(&h.Config, key)
	if err != nil {
		return nil, false, err
	}
	hub.forget = func() { h.forget(hub) }
	h.open[key] = hub
	return hub, true, nil
}

// leave removes a client from its hub. The last client stops the hub.
func (h *Hubs) leave(hub *hub) {
	h.mu.Lock()
	hub.clients--
	last := hub.clients == 0
	if last && h.open[hub.key] == hub {
		delete(h.open, hub.key)
	}
	h.mu.Unlock()
	if last {
		hub.stop()
	}
}

// forget removes a hub whose thread was deleted. A client that follows a new thread with the same id
// gets a new hub.
func (h *Hubs) forget(hub *hub) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open[hub.key] == hub {
		delete(h.open, hub.key)
	}
}
