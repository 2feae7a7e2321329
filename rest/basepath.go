package rest

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// BasePath puts the whole API below a path, such as "/v1" or "/shop/api": its routes, its
// document and the HTML page. The paths in the document include it, and so do the addresses
// that the API writes: Location, [API.Reverse], [Endpoint.URL] and the links of pages. Route
// names and operation ids do not include it.
//
//	v1 := rest.New(rest.BasePath("/v1"))
//	v2 := rest.New(rest.BasePath("/v2"))
//	mux := http.NewServeMux()
//	mux.Handle("/v1/", v1)
//	mux.Handle("/v2/", v2)
//
// The API also works under [http.StripPrefix], which removes the path; no other option is
// needed. If a proxy removes the path, use [BasePathStripped] too.
//
// The path begins with a slash, does not end with one, and has no characters that need
// escaping. [New] panics on an invalid path; [CheckBasePath] returns the reason. An empty path
// means none.
//
// Defaults to none.
func BasePath(path string) APIOption { return apiOption(func(c *apiConfig) { c.basePath = path }) }

// BasePathStripped says that a proxy removes the path of [BasePath], so that requests arrive
// without it. Requests that still have the path are answered too.
//
// Without this option, requests without the path are answered 404. Otherwise a program that
// clients can reach directly would serve each route at two addresses, and a rule of the proxy
// would guard only one of them.
func BasePathStripped() APIOption { return apiOption(func(c *apiConfig) { c.baseStripped = true }) }

// CheckBasePath returns an error if the path is not valid for [BasePath]. It is for programs
// that read the path from a configuration.
func CheckBasePath(path string) error {
	switch {
	case path == "":
		return nil
	case strings.Contains(path, "://"):
		return fmt.Errorf("base path %q: it must be a path, such as /v1; for an address use rest.BaseURL", path)
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

// checkBase returns an error if the base path is invalid, or does not fit the base URL of
// links.
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

// hasBase reports whether an escaped path is base or below it.
func hasBase(path, base string) bool {
	return strings.HasPrefix(path, base) && (len(path) == len(base) || path[len(base)] == '/')
}

// public returns the request with the path that the client asked for, including the base path
// if a proxy or handler before the API has removed it.
func (a *API) public(r *http.Request) *http.Request {
	base, path := a.config.basePath, r.URL.EscapedPath()
	// net/http keeps the original path in RequestURI, even if a handler changes URL.
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

// hintBasePath logs once that a proxy seems to remove the base path.
func (a *API) hintBasePath(r *http.Request, path string) {
	base := a.config.basePath
	if base == "" || a.config.baseStripped || hasBase(path, base) || path == "" || path[0] != '/' ||
		len(a.allowed(base+path)) == 0 {
		return
	}
	a.hinted.Do(func() {
		a.config.logger.log().WarnContext(r.Context(), "a request came without the base path of the API: "+
			"if a proxy removes it, use rest.BasePathStripped()", "path", r.URL.Path, "base", base)
	})
}
