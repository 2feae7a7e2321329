package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/access"
)

// cookies knows everybody who has a session.
var cookies = authFunc(func(r *http.Request) (access.Principal, error) {
	c, err := r.Cookie("session")
	if err != nil || c.Value != "of-anna" {
		return access.Principal{}, spool.Errorf(spool.Unauthorized, "sign in first")
	}
	return access.Principal{Tenant: "a", Subject: "anna", Scopes: access.AllScopes()}, nil
})

// A page of another origin, whose requests have the cookies of the browser's user, changes
// nothing and keeps no connection; those of the server's own and of listed origins may.
func TestCookieAuth(t *testing.T) {
	t.Parallel()

	const host, own, listed = "agents.example.com", "http://agents.example.com", "https://app.example.com"
	b := setup(t, server.Config{Authenticator: cookies, CookieAuth: true, CORSOrigins: []string{listed}})
	with := func(method, path, body string, header map[string]string) answer {
		header["Host"], header["Cookie"] = host, "session=of-anna"
		return b.do(t, call{method: method, path: path, body: body, header: header})
	}
	for name, c := range map[string]struct {
		origin, site string
		allowed      bool
	}{
		"SameOrigin":    {own, "same-origin", true},
		"SameNoSite":    {own, "", true},
		"CrossSite":     {"https://evil.example", "cross-site", false},
		"CrossNoSite":   {"https://evil.example", "", false},
		"CrossNoOrigin": {"", "cross-site", false},
		"SameSite":      {"http://other.example.com", "same-site", false},
		"OtherPort":     {own + ":8443", "same-site", false},
		"Null":          {"null", "cross-site", false},
		"Listed":        {listed, "cross-site", true},
		"ListedNoSite":  {listed, "", true},
		"ListedAlmost":  {listed + ".evil.example", "cross-site", false},
		"Typed":         {"", "none", true},
		"NoBrowser":     {"", "", true},
	} {
		header := func() map[string]string {
			h := map[string]string{}
			if c.origin != "" {
				h["Origin"] = c.origin
			}
			if c.site != "" {
				h["Sec-Fetch-Site"] = c.site
			}
			return h
		}
		for _, e := range guarded {
			path, body := e.path+"?threadId=none", ""
			if e.method == http.MethodPost {
				path, body = e.path, `{"threadId":"none"}`
			}
			got := with(e.method, path, body, header())
			safe := (e.method == http.MethodGet || e.method == http.MethodHead) && e.path != streamPath
			if refused := got.status == http.StatusForbidden; refused == (c.allowed || safe) ||
				got.status == http.StatusUnauthorized {
				t.Errorf("%s: %s %s: %d %s", name, e.method, e.path, got.status, got.body)
			}
			credentials := got.header.Get("Access-Control-Allow-Credentials")
			if want := c.origin == listed; (credentials == "true") != want ||
				want != (got.header.Get("Access-Control-Allow-Origin") == listed) {
				t.Errorf("%s: %s %s: %v", name, e.method, e.path, got.header)
			}
		}
		if got := with(http.MethodPost, "/api/queue/agent-run", "{}", header()); got.status != http.StatusUnauthorized {
			t.Errorf("%s: a delivery, which has no cookies: %d %s", name, got.status, got.body)
		}
	}
	got := with(http.MethodPost, runPath, `{"threadId":"t1","prompt":"x"}`,
		map[string]string{"Sec-Fetch-Site": "cross-site"})
	if got.status != http.StatusForbidden ||
		got.body != `{"error":"pages of other sites may not use this server","code":"forbidden"}` {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := with(http.MethodGet, threadsPath, "", map[string]string{}); got.body != `{"threads":[]}` {
		t.Errorf("a refused request has changed something: %s", got.body)
	}
}

// Without cookies there is nothing to guard, and nothing to allow.
func TestNoCookieAuth(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{CORSOrigins: []string{"https://app.example.com"}})
	got := b.do(t, call{
		method: http.MethodPost, path: controlPath, body: `{"threadId":"none"}`, token: tokenA,
		header: map[string]string{
			"Origin": "https://app.example.com", "Sec-Fetch-Site": "cross-site",
		},
	})
	if got.status != http.StatusConflict || got.header.Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("%d %v", got.status, got.header)
	}
	_, err := server.New(b.engine, server.Config{Authenticator: cookies, CookieAuth: true, CORSOrigins: []string{"*"}})
	if spool.CodeOf(err) != spool.Invalid || !strings.Contains(err.Error(), "CookieAuth") {
		t.Errorf("cookies for every origin: %v", err)
	}
}
