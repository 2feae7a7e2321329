// Package docsui serves a page that shows an OpenAPI document to people: Swagger UI, which is embedded here
// with all that it needs. The page asks no other origin for anything, and its content security policy forbids
// that.
//
// The directory swagger is made from the published npm package by generate.sh. Its licence, Apache-2.0, is in
// that directory.
package docsui

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"path"
	"strings"
)

//go:generate ./generate.sh

// Page returns the handler of the docs page at base, for example "/docs", and of its assets below base +
// "/assets/". The page shows the OpenAPI document at specURL under title.
//
// specURL is an http or https address, an absolute path, or a path relative to base: for "/docs",
// "openapi.json" is "/openapi.json". With a relative specURL, all references of the page are relative. The
// page then works below any prefix that a mount or a proxy puts before base, whether or not the handler gets
// requests with the prefix.
//
// The page reaches only its own origin and that of the document. To try an operation, a reader needs a server
// there. A scheme that would ask an identity provider is shown as a field for a token.
//
// The handler answers GET and HEAD, and is safe for concurrent use. It serves the page and the assets;
// missing answers all other requests. Page panics if specURL has another form.
func Page(base, specURL, title string, missing http.HandlerFunc) http.Handler {
	spec, err := url.Parse(specURL)
	if err != nil || specURL == "" || !fetchable(spec) {
		panic(fmt.Sprintf("docs page %q: the document's address %q is neither a path nor an http or https address", base,
			specURL))
	}
	base = strings.TrimSuffix(path.Clean("/"+base), "/")
	p := &page{base: base, policy: policy(spec), missing: missing}

	// If the address of the page ends in a slash, a browser resolves relative references one level deeper.
	p.below = document(title, "./", beside("../", spec))
	if base == "" {
		p.below = document(title, "./", beside("./", spec))
	}
	p.at = document(title, "./"+url.PathEscape(path.Base(base))+"/", beside("./", spec))
	return p
}

// fetchable reports whether a browser that shows a page over HTTP can request u.
func fetchable(u *url.URL) bool {
	// A browser refuses an address with a password in it, and a host with a separator in it
	// would write its own policy.
	if u.User != nil || strings.ContainsAny(u.Host, ";,") {
		return false
	}
	switch u.Scheme {
	case "http", "https":
		return u.Host != ""
	default:
		return u.Scheme == ""
	}
}

// beside returns u as a reference from a page whose base has the directory dir.
func beside(dir string, u *url.URL) string {
	if u.IsAbs() || u.Host != "" || strings.HasPrefix(u.Path, "/") {
		return u.String()
	}
	return dir + u.String()
}

// policy allows what Swagger UI needs and no more. Its styles come from its style sheet and through the
// CSSOM, which does not need 'unsafe-inline'; its icons are data in the style sheet.
func policy(spec *url.URL) string {
	connect := "'self'"
	if spec.Host != "" {
		connect += " " + strings.TrimPrefix((&url.URL{Scheme: spec.Scheme, Host: spec.Host}).String(), "//")
	}
	return strings.Join([]string{
		"default-src 'none'",
		"script-src 'self'",
		"style-src 'self'",
		"img-src 'self' data:",
		"connect-src " + connect,
		"base-uri 'none'",
		"frame-ancestors 'none'",
		"form-action 'none'",
	}, "; ")
}

// document returns the page. Its references to assets start with dir, and its document is at spec; the
// browser that shows the page resolves both.
func document(title, dir, spec string) *representation {
	assets := dir + "assets/" + embedded().version + "/"
	return newRepresentation("text/html; charset=utf-8", []byte(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>`+html.EscapeString(title)+`</title>
<link rel="icon" type="image/png" sizes="32x32" href="`+html.EscapeString(assets)+`favicon-32x32.png">
<link rel="stylesheet" href="`+html.EscapeString(assets)+`swagger-ui.css">
<link rel="stylesheet" href="`+html.EscapeString(assets)+`page.css">
<script defer src="`+html.EscapeString(assets)+`swagger-ui-bundle.js"></script>
<script defer src="`+html.EscapeString(assets)+`init.js"></script>
</head>
<body>
<div id="swagger-ui" data-spec="`+html.EscapeString(spec)+`"></div>
<noscript>This page needs JavaScript. <a href="`+
		html.EscapeString(spec)+`">The OpenAPI document</a> does not.</noscript>
</body>
</html>
`))
}

type page struct {
	base    string // "" or "/docs", never with a slash at its end
	policy  string
	missing http.HandlerFunc
	at      *representation // at base
	below   *representation // at base and a slash
}

// ServeHTTP implements [http.Handler].
func (p *page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", p.policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")

	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	if name, ok := p.asset(r.URL.Path); ok {
		embedded().serve(w, r, name, p.missing)
		return
	}
	switch {
	case p.base == "" && r.URL.Path != "/":
		p.missing(w, r)
	case strings.HasSuffix(r.URL.Path, p.base+"/"):
		p.below.serve(w, r, "no-cache")
	case strings.HasSuffix(r.URL.Path, p.base):
		p.at.serve(w, r, "no-cache")
	default:
		p.missing(w, r)
	}
}

// asset returns the part of a path after the directory of assets. The path may have more before base than the
// page knows.
func (p *page) asset(of string) (name string, ok bool) {
	dir := p.base + "/assets/"
	i := strings.LastIndex(of, dir)
	if i < 0 {
		return "", false
	}
	return of[i+len(dir):], true
}
