//go:build !noconsole

package console_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/spoolhq/spool/console"
)

// answer is the answer to a request.
type answer struct {
	status int
	header http.Header
	body   string
}

func get(t *testing.T, method, path string, header map[string]string) answer {
	t.Helper()

	r := httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody)
	for name, value := range header {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	console.Handler().ServeHTTP(w, r)
	return answer{w.Code, w.Header(), w.Body.String()}
}

// assets are the files that the page names.
var assets = regexp.MustCompile(`<(?:script|link)[^>]* (?:src|href)="([^"]+)"`)

func TestPage(t *testing.T) {
	t.Parallel()

	page := get(t, http.MethodGet, "/", nil)
	if page.status != http.StatusOK || page.header.Get("Content-Type") != "text/html; charset=utf-8" ||
		page.header.Get("Cache-Control") != "no-cache" {
		t.Fatalf("%d %v", page.status, page.header)
	}
	policy := page.header.Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none'; ") || strings.Contains(policy, "unsafe") ||
		strings.Contains(policy, "http") || strings.Contains(policy, "*") {
		t.Errorf("the policy is %q", policy)
	}
	if strings.Contains(page.body, "<style") || regexp.MustCompile(`<script[^>]*>[^<]`).MatchString(page.body) {
		t.Error("the policy refuses a part of the page")
	}

	found := 0
	for _, name := range assets.FindAllStringSubmatch(page.body, -1) {
		if strings.HasPrefix(name[1], "data:") {
			continue
		}
		found++
		// Relative, so that the page works at any path.
		if !strings.HasPrefix(name[1], "./assets/") {
			t.Errorf("the page names %s", name[1])
			continue
		}
		asset := get(t, http.MethodGet, name[1][1:], nil)
		if asset.status != http.StatusOK || !strings.Contains(asset.header.Get("Cache-Control"), "immutable") ||
			asset.header.Get("X-Content-Type-Options") != "nosniff" ||
			!strings.HasPrefix(asset.header.Get("Content-Type"), "text/") {
			t.Errorf("%s: %d %v", name[1], asset.status, asset.header)
		}
	}
	if found < 2 {
		t.Errorf("the page names %d files", found)
	}
}

func TestCompression(t *testing.T) {
	t.Parallel()

	plain := get(t, http.MethodGet, "/", nil)
	packed := get(t, http.MethodGet, "/", map[string]string{"Accept-Encoding": "br, gzip;q=0.8"})
	unpacked, err := gzip.NewReader(strings.NewReader(packed.body))
	if err != nil || packed.header.Get("Content-Encoding") != "gzip" || packed.header.Get("Vary") != "Accept-Encoding" {
		t.Fatalf("%v %v", err, packed.header)
	}
	if text, err := io.ReadAll(unpacked); err != nil || string(text) != plain.body {
		t.Error("the compressed page is another")
	}
	for _, refused := range []string{"", "br", "gzip;q=0", "gzip; q=0.0"} {
		if got := get(
			t, http.MethodGet, "/", map[string]string{"Accept-Encoding": refused},
		); got.header.Get("Content-Encoding") != "" {
			t.Errorf("%q gets %s", refused, got.header.Get("Content-Encoding"))
		}
	}
	tag := packed.header.Get("ETag")
	if again := get(
		t, http.MethodGet, "/", map[string]string{"Accept-Encoding": "gzip", "If-None-Match": tag},
	); again.status != http.StatusNotModified {
		t.Errorf("the same page again: %d", again.status)
	}
	if other := get(t, http.MethodGet, "/", map[string]string{"If-None-Match": tag}); other.status != http.StatusOK {
		t.Errorf("the plain page has the tag of the compressed one: %d", other.status)
	}
}

func TestOtherRequests(t *testing.T) {
	t.Parallel()

	if head := get(t, http.MethodHead, "/", nil); head.status != http.StatusOK ||
		head.header.Get("Content-Length") == "" || head.body != "" {
		t.Errorf("HEAD: %d %v", head.status, head.header)
	}
	for _, path := range []string{"/none", "/assets/", "/assets/none.js", "/assets/../console.go", "/dist/index.html"} {
		if got := get(t, http.MethodGet, path, nil); got.status != http.StatusNotFound {
			t.Errorf("%s: %d", path, got.status)
		}
	}
	if got := get(t, http.MethodPost, "/", nil); got.status != http.StatusMethodNotAllowed ||
		got.header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d %v", got.status, got.header)
	}
}
