package rest

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// BasePath puts the whole API below a path, such as "/v1" or "/shop/api": its routes, its
// document and the page for people. The paths in the document have it, and so do the
// addresses that the API writes: Location, [API.Reverse], [Endpoint.URL] and the links of
// pages. Names of routes and operation ids do not.
//
//	v1 := rest.New(rest.BasePath("/v1"))
//	v2 := rest.New(rest.BasePath("/v2"))
//	mux := http.NewServeMux()
//	mux.Handle("/v1/", v1)
//	mux.Handle("/v2/", v2)
//
// Behind [http.StripPrefix], which cuts the path off, the API answers the same, without being
// told. Behind a proxy that does, say [BasePathStripped] too.
//
// It begins with a slash, does not end with one, and has no characters that would have to be
// escaped; [New] panics on another one, and [CheckBasePath] returns the reason. An empty path
// is none.
//
// Defaults to none.
func BasePath(path string) APIOption { return apiOption(func(c *apiConfig) { c.basePath = path }) }

// BasePathStripped says that a proxy before the API cuts the path of [BasePath] off, so that
// requests arrive without it. Requests that still have it are answered too.
//
// Without it, such requests are answered 404: a program that clients reach without the proxy would
// have each route at two addresses, and a rule of the proxy would guard only one of them.
func BasePathStripped() APIOption { return apiOption(func(c *apiConfig) { c.baseStripped = true }) }

// CheckBasePath returns an error that says what is wrong with a path for [BasePath]. It is for
// programs whose path comes from a configuration.
func CheckBasePath(path string) error {
	switch {
	case path == "":
		return nil
	case strings.Contains(path, "://"):
		return fmt.Errorf("base path %q: it is a path, such as /v1, and not an address: rest.BaseURL is for that", path)
	case path[0] != '/':
		return fmt.Errorf("base path %q: it has to begin with a slash: /%s", path, path)
	case path == "/":
		return fmt.Errorf("base path %q: leave it out, or empty, for an API at the root", path)
	case strings.HasSuffix(path, "/"):
		return fmt.Errorf("base path %q: it must not end with a slash: %s", path, strings.TrimRight(path, "/"))
	case strings.ContainsAny(path, "{}"):
		return fmt.Errorf("base path %q: it has no parameters; the prefix of a controller may have some", path)
	case strings.ContainsAny(path, "?#"):
		return fmt.Errorf("base path %q: it has neither a query nor a fragment", path)
	}
	for left := path; left != ""; {
		var part string
		if part, left = cutSegment(left); part == "" || isStep(part) {
			return fmt.Errorf("base path %q: it must not have empty segments, nor . and .. as segments", path)
		}
	}
	if (&url.URL{Path: path}).EscapedPath() != path || strings.ContainsAny(path, "\\%*") {
		return fmt.Errorf("base path %q: it must not have characters that an address escapes", path)
	}
	return nil
}

// checkBase returns an error when the base path, or the base of links with it, makes no sense.
func (c *apiConfig) checkBase() error {
	if err := CheckBasePath(c.basePath); err != nil {
		return err
	}
	if c.baseStripped && c.basePath == "" {
		return fmt.Errorf("rest.BasePathStripped without a rest.BasePath") //nolint:perfsprint // one error in a row of others
	}
	if base := strings.TrimRight(c.baseURL, "/"); c.basePath != "" && strings.HasSuffix(base, c.basePath) {
		return fmt.Errorf("base of links %q: it ends with the base path %s, which links have already", c.baseURL, c.basePath)
	}
	return nil
}

// hasBase reports whether an escaped path is the base path or below it.
func hasBase(path, base string) bool {
	return strings.HasPrefix(path, base) && (len(path) == len(base) || path[len(base)] == '/')
}

// public returns the request with the path that its client asked for, which something before
// the API may have cut the base path from.
func (a *API) public(r *http.Request) *http.Request {
	base, path := a.config.basePath, r.URL.EscapedPath()
	// net/http keeps what was asked for, whatever a handler makes of the path.
	asked, _, _ := strings.Cut(r.RequestURI, "?")
	switch {
	case asked != path && hasBase(asked, base) && strings.HasSuffix(asked, path):
	case a.config.baseStripped && !hasBase(path, base) && (path == "" || path[0] == '/'):
		asked = base + path
	default:
		return r
	}
	plain, err := url.PathUnescape(asked)
	if err != nil {
		return r
	}
	address := *r.URL
	address.Path, address.RawPath = plain, asked
	changed := *r
	changed.URL = &address
	return &changed
}

// hintBasePath says once in the log that a proxy seems to cut the base path off.
func (a *API) hintBasePath(r *http.Request) {
	base, path := a.config.basePath, r.URL.EscapedPath()
	if base == "" || a.config.baseStripped || hasBase(path, base) || path == "" || path[0] != '/' || len(a.allowed(base+path)) == 0 {
		return
	}
	a.hinted.Do(func() {
		a.config.logger.log().WarnContext(r.Context(), "a request came without the base path of the API: "+
			"if a proxy cuts it off, say rest.BasePathStripped()", "path", r.URL.Path, "base", base)
	})
}
