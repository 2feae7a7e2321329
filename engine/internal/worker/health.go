package worker

import (
	"sync"
	"time"

	"github.com/spoolhq/spool"
)

// Health keeps the result of the last poll of this process's workers. The zero value has no workers.
type Health struct {
	mu      sync.Mutex
	workers int
	at      time.Time
	err     error
}

func (h *Health) started() (stopped func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.workers++
	h.at, h.err = time.Now(), nil
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.workers--
	}
}

// polled notes a poll for jobs. A poll without a free slot counts as well.
func (h *Health) polled(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at, h.err = time.Now(), err
}

// A worker counts as stuck after latePolls missed polls, but not before latePoll has passed.
const (
	latePolls = 5
	latePoll  = 15 * time.Second
)

// Check returns an error if the workers do not poll for jobs. Clients may see the error.
func (h *Health) Check(every time.Duration) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.workers == 0:
		return spool.Errorf(spool.Unavailable, "no worker runs")
	case h.err != nil:
		return &spool.Error{Code: spool.Unavailable, Message: "the queue hands out no jobs", Err: h.err}
	case time.Since(h.at) > max(latePolls*every, latePoll):
		return spool.Errorf(spool.Unavailable, "the worker is stuck")
	default:
		return nil
	}
}
