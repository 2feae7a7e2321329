package server_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server"
)

// guarded are the endpoints that ask who is there, and the scope that each needs.
var guarded = []struct {
	method, path string
	scope        server.Scope
}{
	{http.MethodPost, runPath, server.ScopeWrite},
	{http.MethodGet, outcomePath + "/{runId}", server.ScopeRead},
	{http.MethodPost, controlPath, server.ScopeStop},
	{http.MethodPost, respondPath, server.ScopeApprove},
	{http.MethodPost, compactPath, server.ScopeWrite},
	{http.MethodPost, eventsPath, server.ScopeWrite},
	{http.MethodGet, historyPath, server.ScopeRead},
	{http.MethodGet, recordPath, server.ScopeRead},
	{http.MethodPost, forkPath, server.ScopeWrite},
	{http.MethodGet, streamPath, server.ScopeRead},
	{http.MethodPost, streamTokenPath, server.ScopeRead},
	{http.MethodGet, usagePath, server.ScopeRead},
	{http.MethodGet, branchesPath, server.ScopeRead},
	{http.MethodGet, branchPath, server.ScopeRead},
	{http.MethodPost, restorePath, server.ScopeWrite},
	{http.MethodGet, threadsPath, server.ScopeRead},
	{http.MethodHead, threadsPath, server.ScopeRead},
	{http.MethodDelete, threadsPath, server.ScopeWrite},
	{http.MethodPatch, threadsPath, server.ScopeWrite},
	{http.MethodGet, overviewPath, server.ScopeAdmin},
	{http.MethodGet, adminRunsPath, server.ScopeAdmin},
	{http.MethodGet, jobsPath, server.ScopeAdmin},
	{http.MethodPost, redrivePath, server.ScopeAdmin},
	{http.MethodPost, adminStopPath, server.ScopeAdmin},
	{http.MethodPost, adminRespondPath, server.ScopeAdmin},
	{http.MethodPost, purgePath, server.ScopeAdmin},
	{http.MethodPost, prunePath, server.ScopeAdmin},
	{http.MethodGet, auditPath, server.ScopeAdmin},
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
			got := b.do(t, call{method: e.method, path: e.path, body: "{", header: map[string]string{"Authorization": c.credentials}})
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

	var tokens []server.Token
	for _, missing := range server.AllScopes() {
		rest := slices.DeleteFunc(server.AllScopes(), func(s server.Scope) bool { return s == missing })
		tokens = append(tokens, server.Token{Token: "all-but-" + string(missing), Principal: server.Principal{Tenant: "a", Scopes: rest}})
	}
	tokens = append(tokens, server.Token{Token: "nothing", Principal: server.Principal{Tenant: "a"}})
	auth, err := server.Tokens(tokens)
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

type authFunc func(*http.Request) (server.Principal, error)

func (f authFunc) Authenticate(r *http.Request) (server.Principal, error) { return f(r) }

func TestAuthenticatorErrors(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		principal server.Principal
		err       error
		status    int
		want      string
	}{
		"Plain":       {err: errors.New("secret: no such row"), status: 401, want: `{"error":"the credentials are not valid","code":"unauthorized"}`},
		"Unavailable": {err: spool.Errorf(spool.Unavailable, "try again"), status: 503, want: `{"error":"try again","code":"unavailable"}`},
		"Forbidden":   {err: spool.Errorf(spool.Forbidden, "not you"), status: 403, want: `{"error":"not you","code":"forbidden"}`},
		"NoTenant":    {principal: server.Principal{Scopes: server.AllScopes()}, status: 500, want: `{"error":"Internal error","code":"internal"}`},
		"BadTenant":   {principal: server.Principal{Tenant: "*", Scopes: server.AllScopes()}, status: 500, want: `{"error":"Internal error","code":"internal"}`},
		"Panic":       {status: 500, want: `{"error":"Internal error","code":"internal"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := setup(t, server.Config{Authenticator: authFunc(func(*http.Request) (server.Principal, error) {
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

	a := server.Principal{Tenant: "a", Scopes: server.AllScopes()}
	for name, c := range map[string]struct {
		list []server.Token
		want string
	}{
		"Empty":  {[]server.Token{{Principal: a}}, "token 0 must not be empty or have spaces"},
		"Spaces": {[]server.Token{{Token: "x y", Principal: a}}, "token 0 must not be empty or have spaces"},
		"Tenant": {[]server.Token{{Token: "x"}}, "token 0: tenant is required"},
		"Scope":  {[]server.Token{{Token: "x", Principal: server.Principal{Tenant: "a", Scopes: []server.Scope{"all"}}}}, `token 0: unknown scope "all"`},
		"Twice":  {[]server.Token{{Token: "x", Principal: a}, {Token: "x", Principal: a}}, "token 1 is listed twice"},
	} {
		if _, err := server.Tokens(c.list); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// The configuration that nobody meant is refused.
func TestNewRefuses(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	known := server.Anonymous("a")
	for name, c := range map[string]struct {
		config server.Config
		want   string
	}{
		"NoAuthenticator": {server.Config{}, "Config.Authenticator is required (or say Insecure: true)"},
		"BasePath":        {server.Config{Authenticator: known, BasePath: "x"}, "Config.BasePath: it has to begin with a slash: /x"},
		"Origin":          {server.Config{Authenticator: known, CORSOrigins: []string{"example.com"}}, `Config.CORSOrigins must have the form "https://host" or "https://host:port", not "example.com"`},
		"OriginPath":      {server.Config{Authenticator: known, CORSOrigins: []string{"https://example.com/"}}, `Config.CORSOrigins must have the form "https://host" or "https://host:port", not "https://example.com/"`},
		"OpenInsecure":    {server.Config{Insecure: true, CORSOrigins: []string{"*"}}, `Config.CORSOrigins must not be "*" on a server without an Authenticator`},
		"OpenLoopback":    {server.Config{Authenticator: known, Loopback: true, CORSOrigins: []string{"*"}}, `Config.CORSOrigins must not be "*" on a server without an Authenticator`},
		"Negative":        {server.Config{Authenticator: known, MaxBodyBytes: -1}, "Config.MaxBodyBytes, BodyMemory, QueueConcurrency, MaxWait and WriteTimeout must not be negative"},
	} {
		if _, err := server.New(b.engine, c.config); spool.CodeOf(err) != spool.Invalid || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if _, err := server.New(nil, server.Config{Insecure: true}); err == nil {
		t.Error("no engine: no error")
	}
}
