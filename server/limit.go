package server

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/rest/throttle"
	"github.com/spoolhq/spool/server/internal/call"
)

// Limits bound what one principal may do, which is a tenant's subject. Principals of a tenant
// without a subject count together, and so does everybody on a server without an
// Authenticator. Each process counts by itself.
type Limits struct {
	// FailedLogins is how many requests with wrong credentials an address may send within
	// 15 min before the answers to such requests are held back, each longer than the one before
	// and up to 5 s. Requests with valid credentials never are. Zero: no answer is held back.
	FailedLogins int
	// OpenStreams bounds the event streams that are open at the same time. One more is
	// refused with 429. Zero: no bound.
	OpenStreams int
	// StartsPerMinute bounds the starts in any minute, those that are refused included. One
	// more is refused with 429. Zero: no bound.
	StartsPerMinute int
}

func (l Limits) check() error {
	if l.OpenStreams < 0 || l.StartsPerMinute < 0 || l.FailedLogins < 0 {
		return spool.Errorf(spool.Invalid, "Config.Limits.FailedLogins, OpenStreams and StartsPerMinute must not be negative")
	}
	return nil
}

// takeStart counts a start of the principal, or refuses it.
func (s *Server) takeStart(ctx context.Context, p Principal) error {
	if s.starts == nil {
		return nil
	}
	rate := throttle.Rate{Limit: s.config.Limits.StartsPerMinute, Window: time.Minute}
	state, err := s.starts.Take(ctx, p.ID(), rate)
	if err != nil || state.Allowed {
		return err
	}
	return &call.Later{Err: spool.Errorf(spool.Limit, "too many starts: %d a minute are allowed", rate.Limit), After: state.RetryAfter}
}

// openStreams counts the event streams by who has opened them.
type openStreams struct {
	mu   sync.Mutex
	open map[string]int
}

// streamPlace is the place of one stream among those. A nil one is of a server without a
// bound.
type streamPlace struct {
	of   *openStreams
	who  string
	left atomic.Bool
}

// takeStream takes a place for a stream of the principal, or refuses it. The place is given
// back when the stream ends, and at the latest with the request, however that ends.
func (s *Server) takeStream(r *http.Request, p Principal) (*streamPlace, error) {
	limit := s.config.Limits.OpenStreams
	if limit == 0 {
		return nil, nil //nolint:nilnil // there is no bound, and so there are no places
	}
	place := &streamPlace{of: &s.streams, who: p.ID()}
	if !place.take(limit) {
		return nil, &call.Later{Err: spool.Errorf(spool.Limit, "too many open streams: %d at a time are allowed", limit), After: time.Second}
	}
	context.AfterFunc(r.Context(), place.release)
	return place, nil
}

func (p *streamPlace) take(limit int) bool {
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

// release gives the place back, once.
func (p *streamPlace) release() {
	if p == nil || p.left.Swap(true) {
		return
	}
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	if p.of.open[p.who]--; p.of.open[p.who] == 0 {
		delete(p.of.open, p.who)
	}
}
