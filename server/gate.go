package server

import (
	"context"
	"net/http"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/internal/call"
)

// SchemeAuthenticator is an [Authenticator] that says how its credentials travel, for the
// OpenAPI document. One that does not is documented as bearer tokens.
type SchemeAuthenticator interface {
	Authenticator
	// Scheme describes the credentials. It is the same at each call.
	Scheme() rest.Scheme
}

var bearerTokens = rest.Scheme{
	Name: "bearer", Type: "http", HTTP: "bearer",
	Description: "A token of the server's configuration, which says for which tenant it stands and what it may do.",
}

// gate stands before a route: it asks the server's authenticator who the caller is, and
// then for the scope.
type gate struct {
	server *Server
	need   Scope
}

// Scheme implements [rest.Authenticator].
func (g gate) Scheme() rest.Scheme {
	s := bearerTokens
	if a, ok := g.server.auth.(SchemeAuthenticator); ok {
		s = a.Scheme()
	}
	s.Scopes = []string{string(g.need)}
	return s
}

// Authenticate implements [rest.Authenticator].
func (g gate) Authenticate(r *http.Request) (rest.Principal, error) {
	p, err := g.server.auth.Authenticate(r)
	switch {
	case spool.CodeOf(err) == spool.Internal:
		g.server.log.WarnContext(r.Context(), "authentication failed", "error", err, "method", r.Method, "path", r.URL.Path)
		err = spool.Errorf(spool.Unauthorized, "the credentials are not valid")
	case err == nil:
		err = p.Check()
	}
	if err == nil {
		return &call.Caller{Principal: p, Ends: p.Until}, nil
	}
	if spool.CodeOf(err) == spool.Unauthorized {
		err = g.server.failed(r, g.server.given(r), err)
	}
	e := call.MapError(call.Settled(r.Context(), err))
	if e.Status == http.StatusUnauthorized {
		e.Header = http.Header{"Www-Authenticate": {challenge(r)}}
	}
	return nil, e
}

// given returns what kind of credentials a request came with.
func (s *Server) given(r *http.Request) string {
	if r.Header.Get("Authorization") == "" && (!s.config.CookieAuth || r.Header.Get("Cookie") == "") {
		return failedMissing
	}
	return failedBearer
}

// Check implements [rest.Permission].
func (g gate) Check(ctx context.Context) error {
	p := call.By(ctx)
	if !p.May(g.need) {
		return spool.Errorf(spool.Forbidden, "the scope %q is required", g.need)
	}
	if p.Subject == "" && call.OwnOnly(ctx, p) {
		return spool.Errorf(spool.Forbidden, "the credentials name no subject, whose threads could be shown")
	}
	return nil
}

// challenge returns the WWW-Authenticate header of RFC 6750.
func challenge(r *http.Request) string {
	if r.Header.Get("Authorization") == "" {
		return `Bearer realm="spool"`
	}
	return `Bearer realm="spool", error="invalid_token"`
}
