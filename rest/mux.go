package rest

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// shape is a method and a pattern of the mux, with the routes that share them: they differ
// in what their parameters convert, and are asked in their order.
type shape struct{ candidates []candidate }

type candidate struct {
	rt      *route
	handler http.Handler
	pattern string // as the document has it
}

// mount makes the mux send requests of the method to the route.
func (a *API) mount(method string, rt *route, h http.Handler) error {
	pattern, documented := method+" "+rt.path.mux(), method+" "+rt.path.document()
	if s, ok := a.shared[pattern]; ok {
		for _, other := range s.candidates {
			if samePath(other.rt.path, rt.path) {
				return fmt.Errorf("%s %s is the route %s already", method, rt.path.document(), other.rt.name)
			}
			if !other.rt.path.typed {
				return fmt.Errorf("%s %s would never be asked: the route %s before it takes every such path", method, rt.path.document(), other.rt.name)
			}
		}
		s.candidates = append(s.candidates, candidate{rt, h, documented})
		return nil
	}
	s := &shape{candidates: []candidate{{rt, h, documented}}}
	if err := a.handle(pattern, s); err != nil {
		return a.plain(err, pattern, documented)
	}
	a.shared[pattern] = s
	return nil
}

// whence is where net/http says that a pattern was registered: always in this file.
var whence = regexp.MustCompile(` ?\(registered at [^)]*\)`)

// plain tells of a conflict in the words of the routes.
func (a *API) plain(err error, pattern, documented string) error {
	text, _, _ := strings.Cut(whence.ReplaceAllString(err.Error(), ""), ":\n") // examples with names of the mux follow
	for other, s := range a.shared {
		text = strings.ReplaceAll(text, strconv.Quote(other), strconv.Quote(s.candidates[0].pattern))
	}
	return errors.New(strings.ReplaceAll(text, strconv.Quote(pattern), strconv.Quote(documented)))
}

// handle is the mux's, whose panic on a conflict becomes an error.
func (a *API) handle(pattern string, s *shape) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("the path cannot be told from another: %v", reason)
		}
	}()
	a.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		for i := range s.candidates {
			if c := &s.candidates[i]; c.rt.path.accepts(r) {
				r.Pattern = c.pattern
				a.enter(c, w, r) //nolint:contextcheck // the context is the request's own, or made of it
				return
			}
		}
		a.unmatched(w, r)
	})
	return nil
}

// enter sends the request to a route, through the middleware of the huma API below, where
// a program has put any there.
func (a *API) enter(c *candidate, w http.ResponseWriter, r *http.Request) {
	chain := a.raw.Middlewares()
	if len(chain) == 0 {
		c.handler.ServeHTTP(w, r)
		return
	}
	op := &huma.Operation{OperationID: c.rt.ids[0], Method: r.Method, Path: c.rt.path.document()}
	chain.Handler(func(ctx huma.Context) {
		r, w := unwrap(ctx)
		c.handler.ServeHTTP(w, r)
	})(humago.NewContext(op, r, w))
}

// unwrap returns the request of huma's, with the context that middleware has made for it.
func unwrap(ctx huma.Context) (*http.Request, http.ResponseWriter) {
	r, w := humago.Unwrap(ctx)
	if made := ctx.Context(); made != r.Context() {
		r = r.WithContext(made)
	}
	return r, w
}

// samePath reports whether two paths take the same requests.
func samePath(a, b pathPattern) bool {
	return slices.EqualFunc(a.segments, b.segments, func(x, y segment) bool { return x.literal == y.literal && x.kind == y.kind })
}

// allMethods are those that are tried when none of a path fits.
var allMethods = []string{
	http.MethodDelete, http.MethodGet, http.MethodHead, http.MethodPatch, http.MethodPost, http.MethodPut, http.MethodTrace,
}

// unmatched answers what no route takes: OPTIONS with what is allowed, another method with
// 405, a path that differs in its last slash with a redirect, and the rest with 404.
func (a *API) unmatched(w http.ResponseWriter, r *http.Request) {
	allowed := a.allowed(r, r.URL)
	switch {
	case len(allowed) > 0 && r.Method == http.MethodOptions:
		w.Header().Set("Allow", allowHeader(append(allowed, http.MethodOptions)))
		w.WriteHeader(http.StatusNoContent)
	case len(allowed) > 0 && !slices.Contains(allowed, r.Method):
		a.writeError(w, r, &Error{
			Status: http.StatusMethodNotAllowed, Detail: fmt.Sprintf("Method %q not allowed.", methodWord(r.Method)),
			Header: http.Header{"Allow": {allowHeader(append(allowed, http.MethodOptions))}},
		})
	default:
		if len(allowed) == 0 && !a.config.strictSlashes && len(a.allowed(r, otherSlash(r.URL))) > 0 {
			w.Header().Set("Location", relative(r.URL))
			w.WriteHeader(http.StatusPermanentRedirect)
			return
		}
		a.writeError(w, r, NotFound(""))
	}
}

// allowed lists the methods that a path has.
func (a *API) allowed(r *http.Request, at *url.URL) []string {
	var methods []string
	for _, m := range allMethods {
		probe := &http.Request{Method: m, Host: r.Host, URL: &url.URL{Path: at.Path, RawPath: at.RawPath}}
		_, pattern := a.mux.Handler(probe)
		if pattern == "" || pattern == "/" {
			continue
		}
		s, own := a.shared[pattern]
		if !own || s.takes(at) {
			methods = append(methods, m)
		}
	}
	return methods
}

// takes reports whether a route of the shape takes the path.
func (s *shape) takes(at *url.URL) bool {
	return slices.ContainsFunc(s.candidates, func(c candidate) bool { return c.rt.path.takes(at) })
}

// takes reports whether the path is one of the pattern's, whose literal parts fit already.
func (p pathPattern) takes(at *url.URL) bool {
	parts := strings.Split(strings.TrimPrefix(at.EscapedPath(), "/"), "/")
	for i, s := range p.segments {
		if s.name == "" || s.kind == restKind {
			continue
		}
		if i >= len(parts) {
			return false
		}
		if text, err := url.PathUnescape(parts[i]); err != nil || !s.kind.matches(text) {
			return false
		}
	}
	return true
}

// otherSlash returns the path with its last slash if it has none, and without if it has.
func otherSlash(at *url.URL) *url.URL {
	path := at.EscapedPath()
	other := strings.TrimRight(path, "/")
	if other == path {
		other += "/"
	}
	plain, err := url.PathUnescape(other)
	if err != nil {
		return at
	}
	return &url.URL{Path: plain, RawPath: other}
}

// relative returns the address of the path that differs in the last slash only. It is
// relative, so that it holds below any prefix, and can never lead to another host.
func relative(from *url.URL) string {
	path := from.EscapedPath()
	trimmed := strings.TrimRight(path, "/")
	last := trimmed[strings.LastIndexByte(trimmed, '/')+1:]
	to := "../" + last
	if trimmed == path {
		to = "./" + last + "/"
	}
	if from.RawQuery != "" {
		to += "?" + from.RawQuery
	}
	return to
}

// methodWord returns the method if it is one, as it is repeated in an answer.
func methodWord(m string) string {
	if slices.Contains(knownMethods, m) {
		return m
	}
	return "?"
}
