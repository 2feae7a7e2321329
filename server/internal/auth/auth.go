// Package auth authenticates callers before the routes and checks their scopes. It counts wrong credentials
// and delays the answers to them, and it issues and checks the tokens that open one stream. It knows the
// engine and the call, and not the server.
package auth

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/server/internal/call"
)

// Config configures authentication. The fields are those of the server's configuration.
type Config struct {
	Engine *engine.Engine
	// Authenticator identifies the caller. Nil: every caller is the default tenant.
	Authenticator access.Authenticator
	CookieAuth    bool
	// FailedLogins is how many wrong credentials of an address are answered without delay. Zero: all.
	FailedLogins   int
	TrustedProxies []netip.Prefix
	// TokenKeys and TokenTTL are the keys and the lifetime of the tokens that open a stream.
	TokenKeys [][]byte
	TokenTTL  time.Duration
	Log       *slog.Logger
	// Closing ends when answers must no longer be delayed.
	Closing context.Context //nolint:containedctx // the lifetime of the server
}

// Auth knows the callers of a server. It is safe for concurrent use.
type Auth struct {
	// Everybody is the caller of every request on a server without authentication. Nil: there is
	// an authenticator.
	Everybody *access.Principal

	config   Config
	keys     [][]byte
	failures access.Failures
}

// New returns an [spool.Invalid] error that names the field for a configuration that cannot work.
func New(c Config) (*Auth, error) {
	if c.Authenticator == nil {
		c.Authenticator = access.Anonymous(spool.DefaultTenant)
	}
	a := &Auth{config: c}
	if open, ok := c.Authenticator.(access.Everybody); ok {
		a.Everybody = &access.Principal{Tenant: open.Tenant, Scopes: access.AllScopes()}
		if err := a.Everybody.Check(); err != nil {
			return nil, spool.Errorf(spool.Invalid, "Config.Authenticator: %s", spool.MessageOf(errors.Unwrap(err)))
		}
	}
	var err error
	a.keys, err = tokenKeys(c.TokenKeys, c.TokenTTL)
	return a, err
}

// vouch reports whether the credentials that have made a link or a token are still good, and returns what ends with
// them.
func (a *Auth) vouch(ctx context.Context, credentials string) (valid context.Context, ok bool) {
	if v, bearer := a.config.Authenticator.(access.Voucher); bearer {
		return v.Vouch(ctx, credentials)
	}
	return nil, true
}

// Options returns the options of a route whose caller needs a scope. The endpoint itself checks a second one, unless
// also is empty. With orToken, the token of a stream opens the route too.
func (a *Auth) Options(need, also access.Scope, orToken bool) []rest.RouteOption {
	if a.Everybody != nil {
		return []rest.RouteOption{rest.NoAuth()}
	}
	g := gate{a, need, also}
	asked := rest.Auth(g)
	if orToken {
		asked = rest.Auth(tokenGate{a}, g)
	}
	return []rest.RouteOption{asked, rest.Permit(g), challenges}
}

// challenges documents the header that names the credentials that a gate accepts.
var challenges = rest.SendsHeader("WWW-Authenticate", "How to authenticate.", http.StatusUnauthorized)

// Opener returns the caller that opens a stream, which ends when the credentials do. On a server without
// authentication no gate has checked the token yet, so that Opener does.
func (a *Auth) Opener(ctx context.Context) (*call.Caller, error) {
	if a.Everybody == nil {
		who, _ := rest.PrincipalAs[*call.Caller](ctx) // a guarded route has one
		return who, nil
	}
	who, err := tokenGate{a}.Authenticate(rest.RequestOf(ctx))
	if errors.Is(err, rest.ErrNoCredentials) {
		return &call.Caller{}, nil
	}
	if err != nil {
		return nil, err
	}
	known, _ := who.(*call.Caller)
	return known, nil
}

// Operates reports whether the caller of a request that needs no credentials has the scope admin. Wrong
// credentials are refused, so that nobody tries them there.
func (a *Auth) Operates(r *http.Request) (bool, error) {
	if a.Everybody != nil {
		return true, nil
	}
	if a.credentialKind(r) == FailedMissing {
		return false, nil
	}
	who, err := gate{auth: a, need: access.ScopeAdmin}.Authenticate(r)
	if err != nil {
		return false, err
	}
	c, ok := who.(*call.Caller)
	return ok && slices.Contains(c.Scopes, access.ScopeAdmin), nil
}

// Caller returns the caller of a request to a route that is open to all, if the caller has a scope.
func (a *Auth) Caller(r *http.Request, need access.Scope) (access.Principal, error) {
	if a.Everybody != nil {
		return *a.Everybody, nil
	}
	who, err := gate{auth: a, need: need}.Authenticate(r)
	if err != nil {
		return access.Principal{}, err
	}
	c, ok := who.(*call.Caller)
	if !ok || !c.May(need) {
		return access.Principal{}, spool.Errorf(spool.Forbidden, "the scope %q is required", need)
	}
	return c.Principal, nil
}
