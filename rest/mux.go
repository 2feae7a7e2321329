package rest

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// shape is a method and a mux pattern, with the routes that share them. These routes differ
// only in their converters; they are tried in registration order.
type shape struct{ candidates []*candidate }

// candidate is a route, or a handler that is not a route.
type candidate struct {
	shape   *shape
	rt      *route // nil for a handler that is not a route
	path    pathPattern
	handler http.Handler
	pattern string // method and path as the document writes them
	info    *RouteInfo
}

// add adds a candidate, which is tried after those that are there.
func (s *shape) add(c candidate) {
	c.shape = s
	s.candidates = append(s.candidates, &c)
}

// mount registers the route for requests of the method.
func (a *API) mount(method string, rt *route, h http.Handler) error {
	pattern, documented := method+" "+rt.path.mux(), method+" "+rt.path.document()
	own := candidate{rt: rt, path: rt.path, handler: h, pattern: documented, info: rt.info}
	if s, ok := a.shared[pattern]; ok {
		for _, other := range s.candidates {
			if samePath(other.path, rt.path) {
				return fmt.Errorf("%s %s is the route %s already", method, rt.path.document(), other.rt.name)
			}
			if !other.path.typed {
				return fmt.Errorf("%s %s would never be asked: the route %s before it takes every such path", method,
					rt.path.document(), other.rt.name)
			}
		}
		s.add(own)
		return nil
	}
	s := &shape{}
	s.add(own)
	if err := a.handle(pattern, method, rt.path, s); err != nil {
		return a.plain(err, pattern, documented)
	}
	a.shared[pattern] = s
	return nil
}

// whence matches the source position that net/http adds to its message, which is always this
// file.
var whence = regexp.MustCompile(` ?\(registered at [^)]*\)`)

// plain rewrites the mux's conflict message with the paths of the routes.
func (a *API) plain(err error, pattern, documented string) error {
	// what follows are examples with the mux's parameter names
	text, _, _ := strings.Cut(whence.ReplaceAllString(err.Error(), ""), ":\n")
	for other, s := range a.shared {
		text = strings.ReplaceAll(text, strconv.Quote(other), strconv.Quote(s.candidates[0].pattern))
	}
	return errors.New(strings.ReplaceAll(text, strconv.Quote(pattern), strconv.Quote(documented)))
}

// handle adds the shape to the tree. It returns an error if the pattern conflicts with another
// one.
func (a *API) handle(pattern, method string, p pathPattern, s *shape) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("the path cannot be told from another: %v", reason)
		}
	}()
	a.patterns.Handle(pattern, http.NotFoundHandler()) // panics on a conflict
	a.tree.add(method, p, s)
	return nil
}

// plainHandler adds a handler that is not a route, such as the one that serves the document.
func (a *API) plainHandler(method, path string, h http.HandlerFunc) error {
	p, err := parsePath(a.config.basePath, path)
	if err != nil {
		return err
	}
	info := &RouteInfo{Methods: []string{method}, Path: p.document()}
	s := &shape{}
	s.add(candidate{path: p, info: info, handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.setPathValues(r)
		h(w, r)
	})})
	return a.handle(method+" "+p.mux(), method, p, s)
}

// dispatch sends a request to its route.
func (a *API) dispatch(w http.ResponseWriter, r *http.Request) {
	path := r.URL.EscapedPath()
	switch c := a.find(r.Method, path); {
	case c == nil:
		a.unmatched(w, r, path) //nolint:contextcheck // it logs with the request's context
	case c.rt == nil:
		c.handler.ServeHTTP(w, r)
	default:
		r.Pattern = c.pattern
		a.enter(c, w, r, path) //nolint:contextcheck // the context is the request's, or derived from it
	}
}

// find returns the candidate for a path. If the API has a base path, its root matches with and
// without a last slash, because a proxy that removes the base path leaves a slash.
//
// It returns nil if the path belongs to another shape once its escaped slashes are slashes. A parameter gets them as
// slashes, so that its route could otherwise be asked for what a stricter route guards.
func (a *API) find(method, path string) *candidate {
	if path == "" {
		path = "/" // a handler before the API has removed all of the path
	}
	if path[0] != '/' {
		return nil // "*", or the host of a CONNECT
	}
	c := a.tree.find(method, path, path)
	if c != nil && strings.IndexByte(path, '%') >= 0 {
		plain := slashes.Replace(path)
		if other := a.tree.find(method, plain, plain); other != nil && other.shape != c.shape {
			return nil
		}
	}
	if base := a.config.basePath; c == nil && base != "" && len(path) == len(base)+1 && strings.HasPrefix(path, base) &&
		path[len(base)] == '/' {
		c = a.tree.find(method, base, base)
	}
	return c
}

// slashes turns the escaped slashes of a path into slashes.
var slashes = strings.NewReplacer("%2F", "/", "%2f", "/")

// enter sends the request to a route. If the program has added middleware to the underlying
// huma API, that runs first.
func (a *API) enter(c *candidate, w http.ResponseWriter, r *http.Request, path string) {
	chain := a.raw.Middlewares()
	if len(chain) == 0 && !c.rt.wrapped {
		c.rt.handler.serve(c.rt, w, r, path)
		return
	}
	c.path.setPathValues(r)
	if len(chain) == 0 {
		c.handler.ServeHTTP(w, r)
		return
	}
	op := &huma.Operation{OperationID: c.rt.ids[0], Method: r.Method, Path: c.path.document()}
	chain.Handler(func(ctx huma.Context) {
		r, w := unwrap(ctx)
		c.handler.ServeHTTP(w, r)
	})(humago.NewContext(op, r, w))
}

// unwrap returns the request and writer of a huma context, with the context that middleware
// made.
func unwrap(ctx huma.Context) (*http.Request, http.ResponseWriter) {
	r, w := humago.Unwrap(ctx)
	if made := ctx.Context(); made != r.Context() {
		r = r.WithContext(made)
	}
	return r, w
}

// samePath reports whether two paths take the same requests.
func samePath(a, b pathPattern) bool {
	return slices.EqualFunc(a.segments, b.segments,
		func(x, y segment) bool { return x.literal == y.literal && x.kind == y.kind })
}

// allMethods are the methods that allowed and Match try for a path.
var allMethods = []string{
	http.MethodDelete, http.MethodGet, http.MethodHead, http.MethodPatch, http.MethodPost, http.MethodPut,
	http.MethodTrace,
}

// The values of [Error.Err] in answers to requests that match no route. An [ErrorRenderer] can
// recognize them and use its own words.
var (
	ErrNoPath   = errors.New("there is no such path")
	ErrNoMethod = errors.New("the path has no such method")
)

// Match returns the route that has the path of a request, and reports whether that route takes
// the request's method. It returns nil if no route has the path. It is for middleware that
// treats routes differently. The caller must not change the RouteInfo.
func (a *API) Match(r *http.Request) (route *RouteInfo, takes bool) {
	path := r.URL.EscapedPath()
	if info := a.infoOf(r.Method, path); info != nil {
		return info, true
	}
	for _, m := range allMethods {
		if info := a.infoOf(m, path); info != nil {
			return info, false
		}
	}
	return nil, false
}

func (a *API) infoOf(method, path string) *RouteInfo {
	if c := a.find(method, path); c != nil {
		return c.info
	}
	return nil
}

// Methods returns the methods for the Allow header of a request's path: those of its routes,
// and OPTIONS. It returns nil if no route has the path. It is for middleware that answers
// preflights.
func (a *API) Methods(r *http.Request) []string {
	allowed := a.allowed(r.URL.EscapedPath())
	if len(allowed) == 0 {
		return nil
	}
	return append(allowed, http.MethodOptions)
}

// Fail answers a request with err in the API's error format, as if a handler had returned it.
// It is for middleware that refuses requests.
func (a *API) Fail(w http.ResponseWriter, r *http.Request, err error) {
	a.writeError(w, r, a.answerOf(r, err, ""))
}

// unmatched answers a request that matches no route. OPTIONS gets the allowed methods and
// another method gets 405. A path that differs from a route's only in slashes or steps gets a
// redirect. Anything else gets 404.
func (a *API) unmatched(w http.ResponseWriter, r *http.Request, path string) {
	if r.URL.Path == "*" {
		a.answerAsterisk(w, r)
		return
	}
	allowed := a.allowed(path)
	switch {
	case len(allowed) > 0 && r.Method == http.MethodOptions:
		w.Header().Set("Allow", strings.Join(a.Methods(r), ", "))
		w.WriteHeader(http.StatusNoContent)
	case len(allowed) > 0 && !slices.Contains(allowed, r.Method) && !a.config.strictSlashes &&
		a.redirect(w, r, path, r.Method):
		// POST /create means /create/, even if a GET route matches every path.
	case len(allowed) > 0 && !slices.Contains(allowed, r.Method):
		a.writeError(w, r, &Error{
			Status: http.StatusMethodNotAllowed, Detail: fmt.Sprintf("Method %q not allowed.", methodWord(r.Method)),
			Header: http.Header{"Allow": {strings.Join(a.Methods(r), ", ")}}, Err: ErrNoMethod,
		})
	case len(allowed) == 0 && !a.config.strictSlashes && a.redirect(w, r, path, ""):
	default:
		a.hintBasePath(r, path)
		a.writeError(w, r, &Error{Status: http.StatusNotFound, Detail: "Not found.", Err: ErrNoPath})
	}
}

// answerAsterisk answers a request for "*", the whole server. Only OPTIONS may ask for it.
func (a *API) answerAsterisk(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodOptions {
		a.writeError(w, r, &Error{Status: http.StatusBadRequest, Detail: "Only OPTIONS can ask for *."})
		return
	}
	methods := []string{http.MethodOptions}
	for _, rt := range a.routes {
		methods = append(methods, rt.methods...)
	}
	slices.Sort(methods)
	w.Header().Set("Allow", strings.Join(slices.Compact(methods), ", "))
	w.WriteHeader(http.StatusNoContent)
}

// allowed returns the methods that an escaped path has, without OPTIONS.
func (a *API) allowed(path string) []string {
	// Requests for paths without a route are usual, so those cost one look and not one for each method. A path with
	// an escape may belong to one route by some methods, and to none by others.
	if strings.IndexByte(path, '%') < 0 && a.find(anyMethod, path) == nil {
		return nil
	}
	var methods []string
	for _, m := range allMethods {
		if a.find(m, path) != nil {
			methods = append(methods, m)
		}
	}
	return methods
}

// take returns the candidate that takes the path, or nil.
func (s *shape) take(path string) *candidate {
	for _, c := range s.candidates {
		if c.path.accepts(path) {
			return c
		}
	}
	return nil
}

// methodWord returns the method to repeat in an answer, or "?" if it is not a short word.
func methodWord(m string) string {
	const most = 32
	strange := func(c rune) bool {
		switch {
		case c == '-', c == '_', '0' <= c && c <= '9', 'A' <= c && c <= 'Z', 'a' <= c && c <= 'z':
			return false
		default:
			return true
		}
	}
	if m == "" || len(m) > most || strings.ContainsFunc(m, strange) {
		return "?"
	}
	return m
}
