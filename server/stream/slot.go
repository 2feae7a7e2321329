package stream

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/server/internal/call"
)

// openStreams counts the event streams of each principal.
type openStreams struct {
	mu   sync.Mutex
	open map[string]int
}

// Slot is the slot of one stream among those of its principal. It is nil on a server without a limit.
type Slot struct {
	of   *openStreams
	who  string
	left atomic.Bool
}

// Take takes a slot for a stream of the principal, or refuses it. The slot is released when the stream ends,
// and at the latest with the request.
func (s *Streams) Take(r *http.Request, p access.Principal) (*Slot, error) {
	limit := s.config.Limit
	if limit == 0 {
		return nil, nil //nolint:nilnil // there is no bound, and so there are no slots
	}
	slot := &Slot{of: &s.open, who: p.ID()}
	if !slot.acquire(limit) {
		return nil, &call.LaterError{
			Err: spool.Errorf(spool.Limit, "too many open streams: %d at a time are allowed", limit), After: time.Second,
		}
	}
	context.AfterFunc(r.Context(), slot.Release)
	return slot, nil
}

func (p *Slot) acquire(limit int) bool {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	if p.of.open[p.who] >= limit {
		return false
	}
	if p.of.open == nil {
		p.of.open = make(map[string]int)
	}
	p.of.open[p.who]++
	return true
}

// Release releases the slot. Only the first call counts.
func (p *Slot) Release() {
	if p == nil || p.left.Swap(true) {
		return
	}
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	if p.of.open[p.who]--; p.of.open[p.who] == 0 {
		delete(p.of.open, p.who)
	}
}
