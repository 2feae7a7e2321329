package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/spoolhq/spool/server"
)

// echo stands for the console, and says which path it was asked for.
var echo = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Shown", r.Method)
	fmt.Fprintf(w, "shown %s", r.URL.Path)
})

// Browsers get the console at the root, programs the same JSON as without it.
func TestConsole(t *testing.T) {
	t.Parallel()

	for _, base := range []string{"", "/v1"} {
		b := setup(t, server.Config{BasePath: base, Facts: someFacts, Console: echo})
		browser := map[string]string{"Accept": forBrowsers}
		if page := b.do(t, call{method: http.MethodGet, path: base + "/", header: browser}); page.status != http.StatusOK ||
			page.body != "shown /" || page.header.Get("Vary") != "Accept" {
			t.Errorf("%s/: %d %q %v", base, page.status, page.body, page.header)
		}
		if page := b.do(t, call{method: http.MethodGet, path: base + "/assets/a-1.js"}); page.status != http.StatusOK ||
			page.body != "shown /assets/a-1.js" {
			t.Errorf("%s/assets: %d %q", base, page.status, page.body)
		}
		if head := b.do(t, call{method: http.MethodHead, path: base + "/", header: browser}); head.status != http.StatusOK ||
			head.header.Get("X-Shown") != http.MethodHead {
			t.Errorf("%s/: HEAD: %d %v", base, head.status, head.header)
		}
		for _, path := range []string{"/assets", "/assets/", "/assets/a/b.js", "/threads/t1"} {
			if got := b.do(
				t, call{method: http.MethodGet, path: base + path, header: browser},
			); got.status != http.StatusNotFound {
				t.Errorf("%s%s: %d %q", base, path, got.status, got.body)
			}
		}
		if got := b.do(
			t, call{method: http.MethodGet, path: base + "/", token: tokenA},
		); !strings.Contains(got.body, `"models": "demo <b>"`) {
			t.Errorf("%s/: JSON: %s", base, got.body)
		}
	}
}

// The page finds its files and the API relative to its address, which therefore ends in "/".
func TestConsoleAtBasePath(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{BasePath: "/a/v1", Console: echo})
	got := b.do(t, call{method: http.MethodGet, path: "/a/v1", header: map[string]string{"Accept": forBrowsers}})
	if got.status != http.StatusTemporaryRedirect || got.header.Get("Location") != "./v1/" ||
		got.header.Get("Vary") != "Accept" {
		t.Errorf("%d %v", got.status, got.header)
	}
	if got := b.do(t, call{method: http.MethodGet, path: "/assets/a.js"}); got.status != http.StatusNotFound {
		t.Errorf("beside the base path: %d", got.status)
	}
}

// Without a console, its paths do not exist.
func TestNoConsole(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	if got := b.do(t, call{method: http.MethodGet, path: "/assets/a.js"}); got.status != http.StatusNotFound {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// The files of a server without tokens can only be read by its own page and by programs of the machine.
func TestConsoleOnLoopback(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{Insecure: true, Loopback: true, Console: echo})
	for name, c := range map[string]struct {
		header map[string]string
		status int
	}{
		"Own":     {map[string]string{"Sec-Fetch-Site": "same-origin"}, 200},
		"Other":   {map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		"Rebound": {map[string]string{"Host": "evil.example"}, 403},
	} {
		if got := b.do(t, call{method: http.MethodGet, path: "/assets/a.js", header: c.header}); got.status != c.status {
			t.Errorf("%s: %d", name, got.status)
		}
	}
}
