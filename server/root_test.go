package server_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/server"
)

const forBrowsers = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

var someFacts = []server.Fact{{Name: "models", Text: "demo <b>"}, {Name: "data", Text: "/srv/spool.db"}}

// A person gets a page, and a program the same as JSON, above a base path too.
func TestRoot(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{Insecure: true, Loopback: true, BasePath: "/v1", Facts: someFacts})
	for path, dir := range map[string]string{"/v1": "./v1/", "/v1/": "./"} {
		page := b.do(t, call{
			method: http.MethodGet, path: path, header: map[string]string{"Accept": forBrowsers, "Host": "localhost:8080"},
		})
		if page.status != http.StatusOK || page.header.Get("Content-Type") != "text/html; charset=utf-8" ||
			page.header.Get("Cache-Control") != "no-store" {
			t.Fatalf("%s: %d %v", path, page.status, page.header)
		}
		for _, want := range []string{
			`href="` + dir + `docs"`, `href="` + dir + `openapi.json"`, `href="` + dir + `healthz"`, `href="` + dir + `readyz"`,
			`href="` + dir + `api/threads"`, "curl -sN &#39;http://localhost:8080/v1/api/agent/stream?threadId=hello&#39;",
			"<dt>models</dt><dd>demo &lt;b&gt;</dd>", "/srv/spool.db",
		} {
			if !strings.Contains(page.body, want) {
				t.Errorf("%s: the page has no %s", path, want)
			}
		}
		_, style, _ := strings.Cut(page.body, "<style>")
		style, _, _ = strings.Cut(style, "</style>")
		sum := sha256.Sum256([]byte(style))
		if policy := page.header.Get("Content-Security-Policy"); !strings.Contains(policy,
			"'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'") ||
			strings.Contains(policy, "unsafe") || strings.Contains(page.body, "<script") {
			t.Errorf("the policy %q does not allow the style", policy)
		}
		for _, accept := range []string{"", "*/*", "application/json", "application/json, text/html"} {
			got := b.do(t, call{method: http.MethodGet, path: path, header: map[string]string{"Accept": accept}})
			var links map[string]any
			if err := json.Unmarshal([]byte(got.body), &links); err != nil || got.header.Get("Vary") != "Accept" {
				t.Fatalf("%q: %v %s", accept, err, got.body)
			}
			want := map[string]any{
				"name": "Spool", "docs": "/v1/docs", "openapi": "/v1/openapi.json", "health": "/v1/healthz", "ready": "/v1/readyz",
				"threads": "/v1/api/threads", "server": map[string]any{"models": "demo <b>", "data": "/srv/spool.db"},
			}
			if diff := cmp.Diff(want, links); diff != "" {
				t.Errorf("%q: (-want +got)\n%s", accept, diff)
			}
		}
	}
	if head := b.do(t, call{method: http.MethodHead, path: "/v1"}); head.status != http.StatusOK || head.body != "" ||
		head.header.Get("Content-Length") == "" {
		t.Errorf("HEAD: %d %v", head.status, head.header)
	}
	if got := b.do(t, call{method: http.MethodPost, path: "/v1", body: "{}"}); got.status != http.StatusMethodNotAllowed ||
		got.header.Get("Allow") != "GET, HEAD, OPTIONS" {
		t.Errorf("POST: %d %v", got.status, got.header)
	}
	if got := b.do(t, call{method: http.MethodGet, path: "/"}); got.status != http.StatusNotFound {
		t.Errorf("beside the base path: %d", got.status)
	}
	linked := b.do(t, call{
		method: http.MethodGet, path: "/v1",
		header: map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
	})
	rebound := b.do(t, call{method: http.MethodGet, path: "/v1", header: map[string]string{"Host": "evil.example"}})
	if linked.status != http.StatusOK || rebound.status != http.StatusForbidden {
		t.Errorf("by a link: %d, by another name: %d", linked.status, rebound.status)
	}
}

// Behind a proxy that cuts a path off, clients are told the whole address.
func TestRootBehindProxy(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{PublicURL: "https://example.com/spool", BasePath: "/v1"})
	got := b.do(t, call{method: http.MethodGet, path: "/v1", header: map[string]string{"Host": "upstream:8080"}})
	if !strings.Contains(got.body, `"docs": "https://example.com/spool/v1/docs"`) {
		t.Errorf("JSON: %s", got.body)
	}
	page := b.do(t, call{
		method: http.MethodGet, path: "/v1", header: map[string]string{"Host": "upstream:8080", "Accept": forBrowsers},
	})
	if !strings.Contains(page.body, " https://example.com/spool/v1/api/agent/run ") ||
		strings.Contains(page.body, "upstream") ||
		!strings.Contains(page.body, `href="./v1/docs"`) {
		t.Errorf("page: %s", page.body)
	}
}

// Only who may operate the server reads what runs on it.
func TestRootFacts(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{Facts: someFacts})
	for name, c := range map[string]struct {
		token  string
		status int
		facts  bool
	}{
		"Nobody": {"", 200, false}, "Admin": {tokenA, 200, true}, "Reader": {readOnlyA, 200, false},
		"Wrong": {"no-such-token-at-all", 401, false},
	} {
		for _, accept := range []string{forBrowsers, "*/*"} {
			got := b.do(t, call{method: http.MethodGet, path: "/", token: c.token, header: map[string]string{"Accept": accept}})
			if got.status != c.status || strings.Contains(got.body, "/srv/spool.db") != c.facts {
				t.Errorf("%s: %d %s", name, got.status, got.body)
			}
			if c.status == http.StatusUnauthorized && got.header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s: %v", name, got.header)
			}
			if accept == forBrowsers && c.status == http.StatusOK && !strings.Contains(got.body, "Bearer $SPOOL_TOKEN") {
				t.Errorf("%s: the commands have no token", name)
			}
		}
	}
}
