package worker

import (
	"sync"
	"time"

	"github.com/spoolhq/spool"
)

// Health is how the last look for jobs of a process's workers went. The zero value is one of no
// workers.
type Health struct {
	mu      sync.Mutex
	working int
	at      time.Time
	err     error
}

func (h *Health) begin() (end func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.working++
	h.at, h.err = time.Now(), nil
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.working--
	}
}

// looked notes a look for jobs. One for which there was no room counts as well.
func (h *Health) looked(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at, h.err = time.Now(), err
}

// lateLooks is how many looks in a row may be missing, but for a short time, until a worker
// counts as stuck.
const (
	lateLooks = 5
	lateLook  = 15 * time.Second
)

// Check reports what keeps the workers from looking for jobs, which they do every so often. An error
// is safe to be shown.
func (h *Health) Check(every time.Duration) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.working == 0:
		return spool.Errorf(spool.Unavailable, "no worker runs")
	case h.err != nil:
		return &spool.Error{Code: spool.Unavailable, Message: "the queue hands out no jobs", Err: h.err}
	case time.Since(h.at) > max(lateLooks*every, lateLook):
		return spool.Errorf(spool.Unavailable, "the worker is stuck")
	default:
		return nil
	}
}
