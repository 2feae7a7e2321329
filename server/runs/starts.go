package runs

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/throttle"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/server/internal/auth"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/wire"
)

// Starts limits the starts of each principal, and gets the host state for a run. It is safe for concurrent
// use.
type Starts struct {
	auth      *auth.Auth
	perMinute int
	counter   *throttle.MemoryCounter
	hostState func(r *http.Request, p access.Principal) (json.RawMessage, error)
}

// NewStarts returns a Starts that allows each principal perMinute starts a minute, zero for any number. The
// host state is optional.
func NewStarts(
	a *auth.Auth, perMinute int, hostState func(r *http.Request, p access.Principal) (json.RawMessage, error),
) *Starts {
	return &Starts{a, perMinute, throttle.Memory(0), hostState}
}

// Take counts a start of the principal, or refuses it. A handler calls it when it knows that the request is a
// start: invalid requests and requests of AG-UI that only show a run do not count.
func (s *Starts) Take(ctx context.Context, p access.Principal) error {
	if s.perMinute == 0 {
		return nil
	}
	state, err := s.counter.Take(ctx, p.ID(), throttle.Rate{Limit: s.perMinute, Window: time.Minute})
	if err != nil || state.Allowed {
		return err
	}
	return &call.LaterError{
		Err: spool.Errorf(spool.Limit, "too many starts: %d a minute are allowed", s.perMinute), After: state.RetryAfter,
	}
}

// Run starts a run for the caller of ctx, and counts the start. It fills in what the caller may do and the host's
// state. An error of the limit or of the host comes before anything is started.
func (s *Starts) Run(
	ctx context.Context, e *engine.Engine, key spool.ThreadKey, start wire.StartRequest,
) (wire.RunResult, error) {
	who := call.By(ctx)
	if err := s.Take(ctx, who); err != nil {
		return wire.RunResult{}, err
	}
	state, err := s.state(ctx)
	if err != nil {
		return wire.RunResult{}, err
	}
	start.HostState, start.By, start.Scopes, start.MayNotStop = state, who.Subject, who.ScopeNames(),
		!who.May(access.ScopeStop)
	if !start.StartAt.IsZero() {
		m := s.auth.Maker(ctx)
		start.Maker = &m
	}
	result, err := e.Run(call.Acting(ctx), key, start)
	if result.Warning != "" { // an event stream has no other place for it
		rest.ResponseOf(ctx).Header().Set("X-Spool-Warning", result.Warning)
	}
	return result, err
}

// state returns the host's state for a run of the caller.
func (s *Starts) state(ctx context.Context) (json.RawMessage, error) {
	if s.hostState == nil {
		return nil, nil
	}
	state, err := s.hostState(rest.RequestOf(ctx), call.By(ctx))
	if err != nil {
		return nil, err
	}
	if err := spool.CheckHostState(state); err != nil { // the host's mistake, not the client's
		return nil, &spool.Error{Code: spool.Internal, Message: "Config.HostState", Err: err}
	}
	return state, nil
}
