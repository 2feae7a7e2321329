package auth

import (
	"context"
	"net/http"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/server/internal/call"
)

var bearerTokens = rest.Scheme{
	Name: "bearer", Type: "http", HTTP: "bearer",
	Description: "A token of the server's configuration, which has the token's tenant and scopes.",
}

// gate stands before a route: it has the authenticator identify the caller, and then checks the scope.
type gate struct {
	auth *Auth
	need access.Scope
	// also is a second scope, which the document lists and the endpoint checks. Empty: there is none.
	also access.Scope
}

// Scheme implements [rest.Authenticator].
func (g gate) Scheme() rest.Scheme {
	s := bearerTokens
	if a, ok := g.auth.config.Authenticator.(interface{ Scheme() rest.Scheme }); ok {
		s = a.Scheme()
	}
	s.Scopes = []string{string(g.need)}
	if g.also != "" {
		s.Scopes = append(s.Scopes, string(g.also))
	}
	return s
}

// Authenticate implements [rest.Authenticator].
func (g gate) Authenticate(r *http.Request) (rest.Principal, error) {
	p, err := g.auth.config.Authenticator.Authenticate(r)
	switch {
	case spool.CodeOf(err) == spool.Internal:
		g.auth.config.Log.WarnContext(r.Context(), "authentication failed", "error", err, "method", r.Method, "path",
			r.URL.Path)
		err = spool.Errorf(spool.Unauthorized, "the credentials are not valid")
	case err == nil:
		err = p.Check()
	}
	if err == nil {
		return &call.Caller{Principal: p, Ends: p.Until}, nil
	}
	if spool.CodeOf(err) == spool.Unauthorized {
		err = g.auth.Failed(r, g.auth.credentialKind(r), err)
	}
	e := call.MapError(call.Settled(r.Context(), err))
	if e.Status == http.StatusUnauthorized {
		e.Header = http.Header{"Www-Authenticate": {challenge(r)}}
	}
	return nil, e
}

// credentialKind returns the kind of a request's credentials.
func (a *Auth) credentialKind(r *http.Request) string {
	if r.Header.Get("Authorization") == "" && (!a.config.CookieAuth || r.Header.Get("Cookie") == "") {
		return FailedMissing
	}
	return FailedBearer
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
