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

func get(t *testing.T, method, path string, header map[string]string) *http.Response {
	t.Helper()

	r := httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody)
	for name, value := range header {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	console.Handler().ServeHTTP(w, r)
	return w.Result()
}

func read(t *testing.T, from io.Reader) string {
	t.Helper()

	text, err := io.ReadAll(from)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// assets are the files that the page names.
var assets = regexp.MustCompile(`<(?:script|link)[^>]* (?:src|href)="([^"]+)"`)

func TestPage(t *testing.T) {
	t.Parallel()

	page := get(t, http.MethodGet, "/", nil)
	body := read(t, page.Body)
	if page.StatusCode != http.StatusOK || page.Header.Get("Content-Type") != "text/html; charset=utf-8" || page.Header.Get("Cache-Control") != "no-cache" {
		t.Fatalf("%d %v", page.StatusCode, page.Header)
	}
	policy := page.Header.Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none'; ") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") || strings.Contains(policy, "*") {
		t.Errorf("the policy is %q", policy)
	}
	if strings.Contains(body, "<style") || regexp.MustCompile(`<script[^>]*>[^<]`).MatchString(body) {
		t.Error("the policy refuses a part of the page")
	}

	found := 0
	for _, name := range assets.FindAllStringSubmatch(body, -1) {
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
		if asset.StatusCode != http.StatusOK || !strings.Contains(asset.Header.Get("Cache-Control"), "immutable") ||
			asset.Header.Get("X-Content-Type-Options") != "nosniff" || !strings.HasPrefix(asset.Header.Get("Content-Type"), "text/") {
			t.Errorf("%s: %d %v", name[1], asset.StatusCode, asset.Header)
		}
	}
	if found < 2 {
		t.Errorf("the page names %d files", found)
	}
}

func TestCompression(t *testing.T) {
	t.Parallel()

	plain := read(t, get(t, http.MethodGet, "/", nil).Body)
	packed := get(t, http.MethodGet, "/", map[string]string{"Accept-Encoding": "br, gzip;q=0.8"})
	unpacked, err := gzip.NewReader(packed.Body)
	if err != nil || packed.Header.Get("Content-Encoding") != "gzip" || packed.Header.Get("Vary") != "Accept-Encoding" {
		t.Fatalf("%v %v", err, packed.Header)
	}
	if read(t, unpacked) != plain {
		t.Error("the compressed page is another")
	}
	for _, refused := range []string{"", "br", "gzip;q=0", "gzip; q=0.0"} {
		if got := get(t, http.MethodGet, "/", map[string]string{"Accept-Encoding": refused}); got.Header.Get("Content-Encoding") != "" {
			t.Errorf("%q gets %s", refused, got.Header.Get("Content-Encoding"))
		}
	}
	tag := packed.Header.Get("Etag")
	if again := get(t, http.MethodGet, "/", map[string]string{"Accept-Encoding": "gzip", "If-None-Match": tag}); again.StatusCode != http.StatusNotModified {
		t.Errorf("the same page again: %d", again.StatusCode)
	}
	if other := get(t, http.MethodGet, "/", map[string]string{"If-None-Match": tag}); other.StatusCode != http.StatusOK {
		t.Errorf("the plain page has the tag of the compressed one: %d", other.StatusCode)
	}
}

func TestOtherRequests(t *testing.T) {
	t.Parallel()

	if head := get(t, http.MethodHead, "/", nil); head.StatusCode != http.StatusOK || head.ContentLength <= 0 || read(t, head.Body) != "" {
		t.Errorf("HEAD: %d %d", head.StatusCode, head.ContentLength)
	}
	for _, path := range []string{"/none", "/assets/", "/assets/none.js", "/assets/../console.go", "/dist/index.html"} {
		if got := get(t, http.MethodGet, path, nil); got.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", path, got.StatusCode)
		}
	}
	if got := get(t, http.MethodPost, "/", nil); got.StatusCode != http.StatusMethodNotAllowed || got.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d %v", got.StatusCode, got.Header)
	}
}
