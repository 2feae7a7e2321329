package docsui_test

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest/internal/docsui"
)

func ask(t *testing.T, h http.Handler, method, target string, header ...string) *httptest.ResponseRecorder {
	t.Helper()

	r := httptest.NewRequest(method, target, http.NoBody)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// references returns what the page at target asks a browser to load or to fetch, as the
// browser resolves it.
func references(t *testing.T, h http.Handler, target string) []string {
	t.Helper()

	r := ask(t, h, http.MethodGet, target)
	if r.Code != http.StatusOK {
		t.Fatalf("the page at %s answers %d", target, r.Code)
	}
	at, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, found := range regexp.MustCompile(`(?:href|src|data-spec)="([^"]*)"`).
		FindAllStringSubmatch(r.Body.String(), -1) {
		reference, err := at.Parse(found[1])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, reference.String())
	}
	return all
}

// shortened returns paths with the version of the assets replaced.
func shortened(paths []string) []string {
	version := regexp.MustCompile(`/assets/[0-9a-f]{16}/`)
	var all []string
	for _, path := range paths {
		all = append(all, version.ReplaceAllString(path, "/assets/VERSION/"))
	}
	return all
}

func TestPageRefersBelowItself(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		base, spec, target string
		dir, wantSpec      string
	}{
		"at base":               {"/docs", "openapi.json", "/docs", "/docs/", "/openapi.json"},
		"below base":            {"/docs", "openapi.json", "/docs/", "/docs/", "/openapi.json"},
		"base with a slash":     {"/docs/", "openapi.json", "/docs/", "/docs/", "/openapi.json"},
		"root":                  {"/", "openapi.json", "/", "/", "/openapi.json"},
		"no base":               {"", "openapi.json", "/", "/", "/openapi.json"},
		"deeper":                {"/a/docs", "../openapi.json", "/a/docs", "/a/docs/", "/openapi.json"},
		"deeper below":          {"/a/docs", "../openapi.json", "/a/docs/", "/a/docs/", "/openapi.json"},
		"absolute path":         {"/docs", "/v1/openapi.json", "/docs/", "/docs/", "/v1/openapi.json"},
		"prefix, relative":      {"/docs", "openapi.json", "/v1/docs", "/v1/docs/", "/v1/openapi.json"},
		"prefix, below":         {"/docs", "openapi.json", "/v1/docs/", "/v1/docs/", "/v1/openapi.json"},
		"base that needs quote": {"/our docs", "openapi.json", "/our%20docs", "/our%20docs/", "/openapi.json"},
		"base with a colon":     {"/api:docs", "openapi.json", "/api:docs", "/api:docs/", "/openapi.json"},
		"other origin": {
			"/docs", "https://example.com/openapi.json", "/docs", "/docs/", "https://example.com/openapi.json",
		},
		"spec with a query": {"/docs", "openapi.json?part=1&lang=en", "/docs/", "/docs/", "/openapi.json?part=1&lang=en"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			assets := c.dir + "assets/VERSION/"
			want := []string{
				assets + "favicon-32x32.png",
				assets + "swagger-ui.css",
				assets + "page.css",
				assets + "swagger-ui-bundle.js",
				assets + "init.js",
				strings.ReplaceAll(c.wantSpec, "&", "&amp;"),
				strings.ReplaceAll(c.wantSpec, "&", "&amp;"),
			}
			got := shortened(references(t, docsui.Page(c.base, c.spec, "Books", http.NotFound), c.target))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Everything that the page loads has to be there, also where a mount has taken the prefix
// from the path before the handler sees it.
func TestAssetsOfPage(t *testing.T) {
	t.Parallel()

	page := docsui.Page("/docs", "openapi.json", "Books", http.NotFound)
	for name, h := range map[string]http.Handler{
		"prefix taken": http.StripPrefix("/v1", page),
		"prefix kept":  page,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			types := map[string]string{
				".js":  "text/javascript; charset=utf-8",
				".css": "text/css; charset=utf-8",
				".png": "image/png",
			}
			loaded := 0
			for _, target := range references(t, h, "/v1/docs") {
				want, isAsset := types[target[strings.LastIndex(target, "."):]]
				if !isAsset {
					continue
				}
				loaded++
				r := ask(t, h, http.MethodGet, target)
				if r.Code != http.StatusOK || r.Header().Get("Content-Type") != want {
					t.Errorf("%s: %d, %q", target, r.Code, r.Header().Get("Content-Type"))
				}
				if got := r.Header().Get("Cache-Control"); got != "public, max-age=31536000, immutable" {
					t.Errorf("%s: Cache-Control is %q", target, got)
				}
				if r.Body.String() == "" {
					t.Errorf("%s is empty", target)
				}
			}
			if loaded != 5 {
				t.Errorf("the page loads %d assets, want 5", loaded)
			}
		})
	}
}

func TestAssetsOfAnotherBuild(t *testing.T) {
	t.Parallel()

	h := docsui.Page("/docs", "openapi.json", "Books", http.NotFound)
	for _, target := range []string{"/docs/assets/init.js", "/docs/assets/0123456789abcdef/init.js"} {
		r := ask(t, h, http.MethodGet, target)
		if r.Code != http.StatusOK || r.Header().Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: %d, Cache-Control %q", target, r.Code, r.Header().Get("Cache-Control"))
		}
	}
}

func TestLicencesAreServed(t *testing.T) {
	t.Parallel()

	h := docsui.Page("/docs", "openapi.json", "Books", http.NotFound)
	for name, want := range map[string]string{
		"LICENSE":                          "Apache License",
		"NOTICE":                           "SmartBear",
		"swagger-ui-bundle.js.LICENSE.txt": "@license",
	} {
		r := ask(t, h, http.MethodGet, "/docs/assets/"+name)
		if r.Header().Get("Content-Type") != "text/plain; charset=utf-8" || !strings.Contains(r.Body.String(), want) {
			t.Errorf("%s, %q, says nothing of %q", name, r.Header().Get("Content-Type"), want)
		}
	}
}

func TestNotFound(t *testing.T) {
	t.Parallel()

	for target, base := range map[string]string{
		"/":                              "/docs",
		"/documents":                     "/docs",
		"/docs/other":                    "/docs",
		"/docs/assets/":                  "/docs",
		"/docs/assets/none.js":           "/docs",
		"/docs/assets/x/y/init.js":       "/docs",
		"/docs/assets/swagger-ui.css.gz": "/docs",
		"/other":                         "/",
		"/other/":                        "/",
	} {
		r := ask(t, docsui.Page(base, "openapi.json", "Books", http.NotFound), http.MethodGet, target)
		if r.Code != http.StatusNotFound {
			t.Errorf("%s: %d", target, r.Code)
		}
	}
}

func TestMethods(t *testing.T) {
	t.Parallel()

	h := docsui.Page("/docs", "openapi.json", "Books", http.NotFound)
	for _, target := range []string{"/docs", "/docs/assets/init.js", "/docs/assets/swagger-ui.css"} {
		get, head := ask(t, h, http.MethodGet, target), ask(t, h, http.MethodHead, target)
		if head.Code != http.StatusOK || head.Body.String() != "" {
			t.Errorf("HEAD %s: %d with a body", target, head.Code)
		}
		if diff := cmp.Diff(get.Header(), head.Header()); diff != "" {
			t.Errorf("HEAD %s has other headers than GET: %s", target, diff)
		}
		post := ask(t, h, http.MethodPost, target)
		if post.Code != http.StatusMethodNotAllowed || post.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("POST %s: %d, Allow %q", target, post.Code, post.Header().Get("Allow"))
		}
	}
}

func TestGzip(t *testing.T) {
	t.Parallel()

	const target = "/docs/assets/swagger-ui-bundle.js"
	h := docsui.Page("/docs", "openapi.json", "Books", http.NotFound)
	inflated := ask(t, h, http.MethodGet, target).Body.String()
	if !strings.Contains(inflated, "SwaggerUIBundle") {
		t.Fatal("the bundle is not readable without gzip")
	}

	for accept, packed := range map[string]bool{
		"gzip":                       true,
		"deflate, GZIP;q=0.5":        true,
		"br, *":                      true,
		"identity;q=0.5, x-gzip;q=1": true,
		"":                           false,
		"br":                         false,
		"gzip;q=0":                   false,
		"gzip; q=0.000, *":           false,
		"*;q=0":                      false,
		"gzip;q=high":                false,
	} {
		t.Run(accept, func(t *testing.T) {
			t.Parallel()

			r := ask(t, h, http.MethodGet, target, "Accept-Encoding", accept)
			if diff := cmp.Diff([]string{"Accept-Encoding"}, r.Header().Values("Vary")); diff != "" {
				t.Error(diff)
			}
			if got := r.Header().Get("Content-Encoding") == "gzip"; got != packed {
				t.Fatalf("Content-Encoding is %q", r.Header().Get("Content-Encoding"))
			}
			content := r.Body.String()
			if packed {
				content = unpacked(t, content)
			}
			if content != inflated {
				t.Error("the two forms of the bundle differ")
			}
		})
	}
}

func unpacked(t *testing.T, content string) string {
	t.Helper()

	in, err := gzip.NewReader(strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	// What is committed is the same whoever makes it, and whenever.
	if in.Name != "" || !in.ModTime.IsZero() {
		t.Errorf("the archive names %q of %s", in.Name, in.ModTime)
	}
	var out bytes.Buffer
	if _, err := out.ReadFrom(in); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestNotModified(t *testing.T) {
	t.Parallel()

	h := docsui.Page("/docs", "openapi.json", "Books", http.NotFound)
	tags := map[string]bool{}
	for _, c := range [][2]string{
		{"/docs", ""},
		{"/docs/", ""},
		{"/docs/assets/init.js", "gzip"},
		{"/docs/assets/swagger-ui.css", ""},
		{"/docs/assets/swagger-ui.css", "gzip"},
	} {
		target, accept := c[0], c[1]
		first := ask(t, h, http.MethodGet, target, "Accept-Encoding", accept)
		tag := first.Header().Get("ETag")
		if !regexp.MustCompile(`^"[0-9a-f]{32}(-inflated)?"$`).MatchString(tag) || tags[tag] {
			t.Errorf("%s (%s): the tag %s is weak or names two bodies", target, accept, tag)
		}
		tags[tag] = true

		for have, want := range map[string]int{
			tag:                    http.StatusNotModified,
			"W/" + tag:             http.StatusNotModified,
			`"other", ` + tag:      http.StatusNotModified,
			"*":                    http.StatusNotModified,
			`"other"`:              http.StatusOK,
			strings.Trim(tag, `"`): http.StatusOK,
		} {
			r := ask(t, h, http.MethodGet, target, "Accept-Encoding", accept, "If-None-Match", have)
			if r.Code != want {
				t.Errorf("%s (%s), If-None-Match %s: %d, want %d", target, accept, have, r.Code, want)
			}
			if want != http.StatusNotModified {
				continue
			}
			if r.Body.String() != "" || r.Header().Get("Content-Type") != "" || r.Header().Get("Content-Encoding") != "" {
				t.Errorf("%s: 304 describes a body: %v", target, r.Header())
			}
			for _, name := range []string{"ETag", "Cache-Control", "Vary"} {
				if diff := cmp.Diff(first.Header().Values(name), r.Header().Values(name)); diff != "" {
					t.Errorf("%s: 304 has another %s: %s", target, name, diff)
				}
			}
		}
	}
}
