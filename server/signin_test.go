package server_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/access"
)

// desk lets the subject "anna" of the tenant "acme" sign in with the ticket "for-anna", and everybody without a subject
// with "for-all".
type desk struct{ failure error }

func (desk) ClientMetadata() json.RawMessage { return json.RawMessage(`{"client_id":"me"}`) }

func (d desk) BeginSignIn(
	_ context.Context, ticket string, tenant spool.Tenant, subject string,
) (string, *http.Cookie, error) {
	if d.failure != nil {
		return "", nil, d.failure
	}
	if ticket != "for-anna" || tenant != "acme" || subject != "anna" {
		if ticket != "for-all" || subject != "" {
			return "", nil, spool.Errorf(spool.NotFound, "this link is not yours")
		}
	}
	return "https://login.example/authorize?state=s1",
		&http.Cookie{Name: "sign-in", Value: "secret", HttpOnly: true, MaxAge: 600}, nil
}

func (d desk) FinishSignIn(r *http.Request) (string, error) {
	if c, err := r.Cookie("sign-in"); err != nil || c.Value != "secret" || r.URL.Query().Get("state") != "s1" {
		return "", spool.Errorf(spool.NotFound, "there is no such sign-in")
	}
	return "<b>shop</b>", d.failure
}

const annaToken, benToken, readerToken = "token-of-anna-16", "token-of-ben-1616", "token-of-a-reader"

func deskTokens(t *testing.T) access.Authenticator {
	t.Helper()

	list, err := access.Tokens([]access.Token{
		{
			Token:     annaToken,
			Principal: access.Principal{Tenant: "acme", Subject: "anna", Scopes: []access.Scope{access.ScopeWrite}},
		},
		{
			Token:     benToken,
			Principal: access.Principal{Tenant: "acme", Subject: "ben", Scopes: []access.Scope{access.ScopeWrite}},
		},
		{
			Token:     readerToken,
			Principal: access.Principal{Tenant: "acme", Subject: "anna", Scopes: []access.Scope{access.ScopeRead}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// isPage fails unless an answer is a page for a person, which runs nothing and is in no cache.
func (a answer) isPage(t *testing.T, status int, want string) {
	t.Helper()

	policy := a.header.Get("Content-Security-Policy")
	if a.status != status || !strings.Contains(a.body, want) ||
		a.header.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Errorf("%d %v %s\nwant %d %s", a.status, a.header, a.body, status, want)
	}
	if a.header.Get("Cache-Control") != "no-store" || a.header.Get("Referrer-Policy") != "no-referrer" ||
		a.header.Get("X-Content-Type-Options") != "nosniff" ||
		!strings.HasPrefix(policy, "default-src 'none'; style-src 'sha256-") || strings.Contains(policy, "unsafe") ||
		strings.Contains(a.body, "<script") {
		t.Errorf("the page has %v", a.header)
	}
}

// Only its subject opens a link, by a request with credentials or by the application that has them.
func TestSignIn(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{Authenticator: deskTokens(t), SignIns: desk{}, BasePath: "/v1"})
	const link = "/v1/oauth/sign-in?ticket=for-anna"
	b.as(t, "", http.MethodGet, link, "").isPage(t, http.StatusUnauthorized, "Open it in the application")
	b.as(t, "wrong-token-of-16", http.MethodGet, link, "").isPage(t, http.StatusUnauthorized, "Open it in the application")
	b.as(t, benToken, http.MethodGet, link, "").isPage(t, http.StatusNotFound, "This link is not yours.")
	b.as(t, readerToken, http.MethodGet, link, "").isPage(t, http.StatusForbidden,
		"The scope &#34;write&#34; is required.")
	b.as(t, annaToken, http.MethodGet, "/v1/oauth/sign-in", "").isPage(t, http.StatusNotFound, "This link is not yours.")
	got := b.as(t, annaToken, http.MethodGet, link, "")
	if got.status != http.StatusFound || got.header.Get("Location") != "https://login.example/authorize?state=s1" ||
		got.header.Get("Referrer-Policy") != "no-referrer" ||
		!strings.HasPrefix(got.header.Get("Set-Cookie"), "sign-in=secret;") || got.header.Get("Cache-Control") != "no-store" {
		t.Errorf("the link of anna: %d %v", got.status, got.header)
	}

	const at, body = "/v1/api/agent/sign-in", `{"url":"https://agents.example/v1/oauth/sign-in?ticket=for-anna"}`
	for _, c := range []struct {
		token, body, want string
		status            int
	}{
		{"", body, "a bearer token is required", http.StatusUnauthorized},
		{benToken, body, "not yours", http.StatusNotFound},
		{readerToken, body, "scope", http.StatusForbidden},
		{annaToken, `{}`, "url is required", http.StatusBadRequest},
		{annaToken, `{"url":"https://agents.example"}`, "url must be the link", http.StatusBadRequest},
		{annaToken, body, `"url":"https://login.example/authorize?state=s1","expiresAt":"`, http.StatusOK},
	} {
		got := b.as(t, c.token, http.MethodPost, at, c.body)
		if got.status != c.status || !strings.Contains(got.body, c.want) ||
			(got.header.Get("Set-Cookie") != "") != (c.status == http.StatusOK) {
			t.Errorf("%s of %q: %d %s %v", c.body, c.token, got.status, got.body, got.header)
		}
	}
}

// A browser comes back without credentials, by a link of another site.
func TestSignedIn(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{Insecure: true, Loopback: true, SignIns: desk{}})
	elsewhere := map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Host": "localhost"}
	at := call{method: http.MethodGet, path: "/oauth/callback?state=s1&code=c1", header: elsewhere}
	b.do(t, at).isPage(t, http.StatusNotFound, "There is no such sign-in.")
	at.header = map[string]string{
		"Cookie": "sign-in=secret", "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Host": "localhost",
	}
	b.do(t, at).isPage(t, http.StatusOK, "You are signed in to &lt;b&gt;shop&lt;/b&gt;</h1>\n<p>Go back and approve.")
	at.method = http.MethodHead
	if got := b.do(t, at); got.status != http.StatusBadRequest {
		t.Errorf("a request without a body: %d", got.status)
	}
	at.method, at.header["Sec-Fetch-Mode"] = http.MethodGet, "no-cors" // an image
	if got := b.do(t, at); got.status != http.StatusForbidden {
		t.Errorf("an image of another site: %d", got.status)
	}
	if got := b.do(
		t, call{method: http.MethodGet, path: "/oauth/sign-in?ticket=for-all", header: elsewhere},
	); got.status != http.StatusFound {
		t.Errorf("the link of everybody: %d %s", got.status, got.body)
	}
	if got := b.do(t, call{method: http.MethodGet, path: "/oauth/client-metadata.json"}); got.status != http.StatusOK ||
		got.body != `{"client_id":"me"}` ||
		got.header.Get("Content-Type") != "application/json; charset=utf-8" {
		t.Errorf("the document: %d %s %v", got.status, got.body, got.header)
	}
	if strings.Contains(b.logged.String(), "c1") {
		t.Errorf("the log has a code:\n%s", b.logged)
	}
}

// What goes wrong inside is not on the page.
func TestSignInFails(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		err    error
		status int
		want   string
	}{
		"Inside": {
			spool.Wrap(spool.Internal, "read a row", context.DeadlineExceeded), http.StatusInternalServerError,
			"Internal error.",
		},
		"Provider": {
			spool.Errorf(spool.Unauthorized, "its authorization server refuses this client"), http.StatusServiceUnavailable,
			"Its authorization server refuses this client.",
		},
		"Refused": {
			spool.Errorf(spool.Forbidden, "the sign-in was refused"), http.StatusForbidden, "The sign-in was refused.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := setup(t, server.Config{Insecure: true, SignIns: desk{c.err}})
			b.as(t, "", http.MethodGet, "/oauth/sign-in?ticket=for-all", "").isPage(t, c.status, c.want)
			b.do(t, call{
				method: http.MethodGet, path: "/oauth/callback?state=s1", header: map[string]string{"Cookie": "sign-in=secret"},
			}).isPage(t, c.status, c.want)
			if got := b.as(t, "", http.MethodPost, "/api/agent/sign-in", `{"url":"/?ticket=for-all"}`); got.status != c.status {
				t.Errorf("the request: %d %s", got.status, got.body)
			}
		})
	}
	b := setup(t, server.Config{Insecure: true})
	for _, path := range []string{"/oauth/sign-in", "/oauth/callback", "/oauth/client-metadata.json"} {
		if got := b.as(t, "", http.MethodGet, path, ""); got.status != http.StatusNotFound {
			t.Errorf("%s without sign-ins: %d", path, got.status)
		}
	}
	if got := b.as(
		t, "", http.MethodPost, "/api/agent/sign-in", `{"url":"/?ticket=for-all"}`,
	); got.status != http.StatusNotFound {
		t.Errorf("without sign-ins: %d", got.status)
	}
}
