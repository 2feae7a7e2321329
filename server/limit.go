package server

import (
	"context"
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
	return &call.LaterError{Err: spool.Errorf(spool.Limit, "too many starts: %d a minute are allowed", rate.Limit), After: state.RetryAfter}
}
