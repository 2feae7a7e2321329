package server_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/access"
)

// guarded are the endpoints that ask who is there, and the scope that each needs.
var guarded = []struct {
	method, path string
	scope        access.Scope
}{
	{http.MethodPost, runPath, access.ScopeWrite},
	{http.MethodGet, outcomePath + "/{runId}", access.ScopeRead},
	{http.MethodPost, controlPath, access.ScopeStop},
	{http.MethodPost, respondPath, access.ScopeApprove},
	{http.MethodPost, compactPath, access.ScopeWrite},
	{http.MethodPost, eventsPath, access.ScopeWrite},
	{http.MethodGet, historyPath, access.ScopeRead},
	{http.MethodGet, recordPath, access.ScopeRead},
	{http.MethodPost, forkPath, access.ScopeWrite},
	{http.MethodGet, streamPath, access.ScopeRead},
	{http.MethodPost, streamTokenPath, access.ScopeRead},
	{http.MethodGet, usagePath, access.ScopeRead},
	{http.MethodGet, branchesPath, access.ScopeRead},
	{http.MethodGet, branchPath, access.ScopeRead},
	{http.MethodPost, restorePath, access.ScopeWrite},
	{http.MethodGet, threadsPath, access.ScopeRead},
	{http.MethodHead, threadsPath, access.ScopeRead},
	{http.MethodDelete, threadsPath, access.ScopeWrite},
	{http.MethodPatch, threadsPath, access.ScopeWrite},
	{http.MethodGet, overviewPath, access.ScopeAdmin},
	{http.MethodGet, adminRunsPath, access.ScopeAdmin},
	{http.MethodGet, jobsPath, access.ScopeAdmin},
	{http.MethodPost, redrivePath, access.ScopeAdmin},
	{http.MethodPost, adminStopPath, access.ScopeAdmin},
	{http.MethodPost, adminRespondPath, access.ScopeAdmin},
	{http.MethodPost, purgePath, access.ScopeAdmin},
	{http.MethodPost, prunePath, access.ScopeAdmin},
	{http.MethodGet, auditPath, access.ScopeAdmin},
}

func TestCredentials(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	for _, e := range guarded {
		for name, c := range map[string]struct{ credentials, text, challenge string }{
			"None":   {"", "a bearer token is required", `Bearer realm="spool"`},
			"Basic":  {"Basic dXNlcjpwYXNz", "a bearer token is required", `Bearer realm="spool", error="invalid_token"`},
			"Wrong":  {"Bearer " + tokenA + "x", "the bearer token is not valid", `Bearer realm="spool", error="invalid_token"`},
			"Prefix": {"Bearer " + tokenA[:4], "the bearer token is not valid", `Bearer realm="spool", error="invalid_token"`},
			"Empty":  {"Bearer ", "the bearer token is not valid", `Bearer realm="spool", error="invalid_token"`},
		} {
			got := b.do(t, call{
				method: e.method, path: e.path, body: "{", header: map[string]string{"Authorization": c.credentials},
			})
			if c.text == "the bearer token is not valid" && name == "Empty" {
				c.text = "" // the client of net/http trims the header
			}
			if got.status != http.StatusUnauthorized || !strings.Contains(got.body, c.text) && e.method != http.MethodHead {
				t.Errorf("%s %s %s: %d %s", e.method, e.path, name, got.status, got.body)
			}
			if h := got.header.Get("WWW-Authenticate"); h != c.challenge {
				t.Errorf("%s %s %s: WWW-Authenticate %s", e.method, e.path, name, h)
			}
		}
	}
}

func TestScopes(t *testing.T) {
	t.Parallel()

	var tokens []access.Token
	for _, missing := range access.AllScopes() {
		rest := slices.DeleteFunc(access.AllScopes(), func(s access.Scope) bool { return s == missing })
		tokens = append(tokens, access.Token{
			Token: "all-but-" + string(missing), Principal: access.Principal{Tenant: "a", Scopes: rest},
		})
	}
	tokens = append(tokens, access.Token{Token: "nothing", Principal: access.Principal{Tenant: "a"}})
	auth, err := access.Tokens(tokens)
	if err != nil {
		t.Fatal(err)
	}
	b := setup(t, server.Config{Authenticator: auth})
	for _, e := range guarded {
		for _, token := range tokens {
			allowed := slices.Contains(token.Scopes, e.scope)
			got := b.as(t, token.Token, e.method, e.path, "{")
			if forbidden := got.status == http.StatusForbidden; forbidden == allowed {
				t.Errorf("%s %s with %s: %d %s", e.method, e.path, token.Token, got.status, got.body)
			}
			want := `{"error":"the scope \"` + string(e.scope) + `\" is required","code":"forbidden"}`
			if !allowed && e.method != http.MethodHead && got.body != want {
				t.Errorf("%s %s with %s: %s", e.method, e.path, token.Token, got.body)
			}
		}
	}
}

type authFunc func(*http.Request) (access.Principal, error)

func (f authFunc) Authenticate(r *http.Request) (access.Principal, error) { return f(r) }

func TestAuthenticatorErrors(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		principal access.Principal
		err       error
		status    int
		want      string
	}{
		"Plain": {
			err: errors.New("secret: no such row"), status: 401,
			want: `{"error":"the credentials are not valid","code":"unauthorized"}`,
		},
		"Unavailable": {
			err: spool.Errorf(spool.Unavailable, "try again"), status: 503, want: `{"error":"try again","code":"unavailable"}`,
		},
		"Forbidden": {
			err: spool.Errorf(spool.Forbidden, "not you"), status: 403, want: `{"error":"not you","code":"forbidden"}`,
		},
		"NoTenant": {
			principal: access.Principal{Scopes: access.AllScopes()}, status: 500,
			want: `{"error":"Internal error","code":"internal"}`,
		},
		"BadTenant": {
			principal: access.Principal{Tenant: "*", Scopes: access.AllScopes()}, status: 500,
			want: `{"error":"Internal error","code":"internal"}`,
		},
		"Panic": {status: 500, want: `{"error":"Internal error","code":"internal"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := setup(t, server.Config{Authenticator: authFunc(func(*http.Request) (access.Principal, error) {
				if name == "Panic" {
					panic("secret")
				}
				return c.principal, c.err
			})})
			got := b.do(t, call{method: http.MethodGet, path: threadsPath})
			if got.status != c.status || got.body != c.want {
				t.Errorf("got %d %s, want %d %s", got.status, got.body, c.status, c.want)
			}
			if c.status >= 500 && !strings.Contains(b.logged.String(), "path=/api/threads") {
				t.Errorf("not logged: %s", b.logged.String())
			}
		})
	}
}

func TestTokensRefused(t *testing.T) {
	t.Parallel()

	a := access.Principal{Tenant: "a", Scopes: access.AllScopes()}
	for name, c := range map[string]struct {
		list []access.Token
		want string
	}{
		"Empty":  {[]access.Token{{Principal: a}}, "token 0 must not be empty or have spaces"},
		"Spaces": {[]access.Token{{Token: "x y", Principal: a}}, "token 0 must not be empty or have spaces"},
		"Tenant": {[]access.Token{{Token: "x"}}, "token 0: tenant is required"},
		"Scope": {
			[]access.Token{{Token: "x", Principal: access.Principal{Tenant: "a", Scopes: []access.Scope{"all"}}}},
			`token 0: unknown scope "all"`,
		},
		"Twice": {[]access.Token{{Token: "x", Principal: a}, {Token: "x", Principal: a}}, "token 1 is listed twice"},
	} {
		if _, err := access.Tokens(c.list); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// The configuration that nobody meant is refused.
func TestNewRefuses(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	known := access.Anonymous("a")
	for name, c := range map[string]struct {
		config server.Config
		want   string
	}{
		"NoAuthenticator": {server.Config{}, "Config.Authenticator is required (or say Insecure: true)"},
		"BasePath": {
			server.Config{Authenticator: known, BasePath: "x"}, "Config.BasePath: it has to begin with a slash: /x",
		},
		"Origin": {
			server.Config{Authenticator: known, CORSOrigins: []string{"example.com"}},
			`Config.CORSOrigins must have the form "https://host" or "https://host:port", not "example.com"`,
		},
		"OriginPath": {
			server.Config{Authenticator: known, CORSOrigins: []string{"https://example.com/"}},
			`Config.CORSOrigins must have the form "https://host" or "https://host:port", not "https://example.com/"`,
		},
		"OpenInsecure": {
			server.Config{Insecure: true, CORSOrigins: []string{"*"}},
			`Config.CORSOrigins must not be "*" on a server without an Authenticator`,
		},
		"OpenLoopback": {
			server.Config{Authenticator: known, Loopback: true, CORSOrigins: []string{"*"}},
			`Config.CORSOrigins must not be "*" on a server without an Authenticator`,
		},
		"Negative": {
			server.Config{Authenticator: known, MaxBodyBytes: -1},
			"Config.MaxBodyBytes, BodyMemory, QueueConcurrency, MaxWait and WriteTimeout must not be negative",
		},
	} {
		if _, err := server.New(b.engine, c.config); spool.CodeOf(err) != spool.Invalid || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
		if err := c.config.Check(); spool.CodeOf(err) != spool.Invalid || err.Error() != c.want {
			t.Errorf("%s: Check says %v, want %q", name, err, c.want)
		}
	}
	if _, err := server.New(nil, server.Config{Insecure: true}); err == nil {
		t.Error("no engine: no error")
	}
}
