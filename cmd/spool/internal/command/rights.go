package command

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/cmd/spool/internal/config"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/wire"
)

// holders knows the principals of tokens by their credentials. An [access.TokenList] is one.
type holders interface {
	Holder(ctx context.Context, credentials string) (access.Principal, bool)
}

// rights looks up what the makers of schedules, delayed starts and endpoints may do.
type rights struct {
	// tokens is nil in a process without tokens.
	tokens holders
	// printed says that the only token was made for this process. It says nothing about the tokens of other processes.
	printed bool
	// ownThreads is the option auth.threads of the configuration.
	ownThreads bool
	// open says that requests need no token, so that everybody may do everything.
	open bool
}

// rights returns what looks rights up. The server is configured before.
func (s *setup) rights(c *config.Config) rights {
	r := rights{ownThreads: c.OwnThreads, open: s.server.Loopback, printed: s.token != ""}
	r.tokens, _ = s.server.Authenticator.(holders)
	return r
}

// mayStart is the [option.Schedules.MayStart] of the process.
func (r rights) mayStart(ctx context.Context, m wire.Maker) (wire.Rights, error) {
	return r.of(ctx, m, "schedules.max_scopes", access.ScopeWrite)
}

// mayTell is the [option.Webhooks.MayTell] of the process.
func (r rights) mayTell(ctx context.Context, m wire.Maker, approver string) error {
	need := []access.Scope{access.ScopeWebhooks}
	if approver != "" {
		need = append(need, access.ScopeApprove)
	}
	now, err := r.of(ctx, m, "webhooks.max_age", need...)
	if err == nil && now.OwnOnly && !m.OwnOnly {
		return errEnded
	}
	return err
}

var (
	errEnded    = spool.Errorf(spool.Forbidden, "The token of its maker is not valid any more, or may do less")
	errNoTokens = spool.Errorf(spool.Unavailable, "this process has no tokens, and cannot look up the maker's")
)

// of returns what a maker may do now, if it has the scopes that it needs. With the option, makers without a token need
// no look-up.
func (r rights) of(ctx context.Context, m wire.Maker, withOption string, need ...access.Scope) (wire.Rights, error) {
	switch {
	case m.Kind == wire.MakerPrincipal && r.open && m.Credentials == "" && m.Tenant == spool.DefaultTenant:
		return m.Rights, nil
	case m.Kind == wire.MakerPrincipal:
		return wire.Rights{}, unknown("the configuration has no " + withOption)
	case r.tokens == nil:
		return wire.Rights{}, errNoTokens
	}
	p, ok := r.tokens.Holder(ctx, m.Credentials)
	switch {
	case r.printed && ok:
		return wire.Rights{}, unknown("the token was made for this process, and the configuration has none")
	case r.printed:
		return wire.Rights{}, errNoTokens
	case !ok || p.Tenant != m.Tenant:
		return wire.Rights{}, errEnded
	}
	for _, scope := range need {
		if !p.May(scope) {
			return wire.Rights{}, errEnded
		}
	}
	return wire.Rights{
		Scopes:     p.ScopeNames(),
		OwnOnly:    m.OwnOnly || r.ownThreads && !p.AllThreads && !p.May(access.ScopeAdmin),
		MayNotStop: m.MayNotStop || !p.May(access.ScopeStop),
	}, nil
}

// unknown returns the error about a maker that nobody could look up later.
func unknown(why string) error {
	return &spool.Error{
		Code: spool.Forbidden, Err: option.ErrNoLookup,
		Message: "The server cannot look up what the maker may do: " + why,
	}
}
