package server

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/rest"
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

// caller is a principal as a request carries it.
type caller struct {
	Principal

	// until is when a stream that the caller opens ends. Zero: when it is over.
	until time.Time
	// made is when the one thread that the caller may see was made. Zero: any thread.
	made time.Time
}

// PrincipalID implements [rest.Principal].
func (c *caller) PrincipalID() string { return c.id() }

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
		err = p.check()
	}
	if err == nil {
		return &caller{Principal: p, until: p.Until}, nil
	}
	if spool.CodeOf(err) == spool.Unauthorized {
		err = g.server.failed(r, g.server.given(r), err)
	}
	e := mapError(settled(r.Context(), err))
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
	p := g.server.asking(ctx)
	if !slices.Contains(p.Scopes, g.need) {
		return spool.Errorf(spool.Forbidden, "the scope %q is required", g.need)
	}
	if p.Subject == "" && g.server.ownOnly(p) {
		return spool.Errorf(spool.Forbidden, "the credentials name no subject, whose threads could be shown")
	}
	return nil
}

// check returns an error without a code: a principal without a tenant is a mistake in
// the authenticator.
func (p Principal) check() error {
	if err := spool.CheckID("tenant", string(p.Tenant)); err != nil {
		return &spool.Error{Code: spool.Internal, Message: "authenticator returned a principal without a valid tenant", Err: err}
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

// id tells principals apart. A tenant has no slash.
func (p Principal) id() string { return string(p.Tenant) + "/" + p.Subject }

// key names a thread of the principal's tenant.
func (p Principal) key(id spool.ThreadID) spool.ThreadKey {
	return spool.ThreadKey{Tenant: p.Tenant, ID: id}
}
