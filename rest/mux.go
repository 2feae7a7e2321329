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

// shape is a method and a pattern of the mux, with the routes that share them: they differ
// in what their parameters convert, and are asked in their order.
type shape struct {
	candidates []candidate
	plain      http.HandlerFunc // instead of candidates: a handler that is no route
	info       *RouteInfo       // of plain
}

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
	if err := a.handle(pattern, method, rt.path, s); err != nil {
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

// handle adds the shape to the tree, unless the pattern cannot be told from another one.
func (a *API) handle(pattern, method string, p pathPattern, s *shape) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("the path cannot be told from another: %v", reason)
		}
	}()
	a.patterns.Handle(pattern, http.NotFoundHandler()) // which panics on a conflict
	a.tree.add(method, p, s)
	return nil
}

// plainHandler adds a handler that is no route: that of the document, for example.
func (a *API) plainHandler(method, path string, h http.HandlerFunc) error {
	p, err := parsePath(a.config.basePath, path)
	if err != nil {
		return err
	}
	info := &RouteInfo{Methods: []string{method}, Path: p.document()}
	return a.handle(method+" "+p.mux(), method, p, &shape{info: info, plain: func(w http.ResponseWriter, r *http.Request) {
		p.setPathValues(r)
		h(w, r)
	}})
}

// dispatch sends a request to its route.
func (a *API) dispatch(w http.ResponseWriter, r *http.Request) {
	path := r.URL.EscapedPath()
	if s := a.find(r.Method, path); s != nil {
		if s.plain != nil {
			s.plain(w, r)
			return
		}
		for i := range s.candidates {
			if c := &s.candidates[i]; c.rt.path.accepts(path) {
				r.Pattern = c.pattern
				a.enter(c, w, r) //nolint:contextcheck // the context is the request's own, or made of it
				return
			}
		}
	}
	a.unmatched(w, r)
}

// find returns the shape of a path. The root of an API with a base path is with and without a
// slash: a proxy that cuts the base path off leaves one.
func (a *API) find(method, path string) *shape {
	if path == "" {
		path = "/" // of a handler that cut all of it off
	}
	if path[0] != '/' {
		return nil // "*", or the host of a CONNECT
	}
	s := a.tree.find(method, path, path)
	if base := a.config.basePath; s == nil && base != "" && len(path) == len(base)+1 && strings.HasPrefix(path, base) && path[len(base)] == '/' {
		s = a.tree.find(method, base, base)
	}
	return s
}

// enter sends the request to a route, through the middleware of the huma API below, where
// a program has put any there.
func (a *API) enter(c *candidate, w http.ResponseWriter, r *http.Request) {
	chain := a.raw.Middlewares()
	if len(chain) > 0 || c.rt.wrapped {
		c.rt.path.setPathValues(r)
	}
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

// allMethods are the methods that are tried when a path does not have the one of the request.
var allMethods = []string{
	http.MethodDelete, http.MethodGet, http.MethodHead, http.MethodPatch, http.MethodPost, http.MethodPut, http.MethodTrace,
}

// What [Error.Err] is in the answers to requests that no route takes, for an [ErrorRenderer] with
// words of its own.
var (
	ErrNoPath   = errors.New("there is no such path")
	ErrNoMethod = errors.New("the path has no such method")
)

// Match returns the route that has the path of a request, and whether it takes the request's method.
// It is nil where no route has the path. It is for middleware that treats routes differently, and
// must not be changed.
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
	s := a.find(method, path)
	if s == nil {
		return nil
	}
	for i := range s.candidates {
		if rt := s.candidates[i].rt; rt.path.accepts(path) {
			return rt.info
		}
	}
	return s.info
}

// Methods lists what the Allow header says of a request's path: its methods and OPTIONS. It is empty
// for a path that no route has. It is for middleware that answers preflights.
func (a *API) Methods(r *http.Request) []string {
	allowed := a.allowed(r.URL.EscapedPath())
	if len(allowed) == 0 {
		return nil
	}
	return append(allowed, http.MethodOptions)
}

// Fail answers a request with an error in the form of the API's errors, as if a handler had
// returned it. It is for middleware that refuses requests.
func (a *API) Fail(w http.ResponseWriter, r *http.Request, err error) {
	a.writeError(w, r, a.answerOf(r, err, ""))
}

// unmatched answers what no route takes: OPTIONS with what is allowed, another method with
// 405, a path that differs from a route's in slashes and steps only with a redirect, and the
// rest with 404.
func (a *API) unmatched(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "*" {
		a.answerAsterisk(w, r)
		return
	}
	allowed := a.allowed(r.URL.EscapedPath())
	switch {
	case len(allowed) > 0 && r.Method == http.MethodOptions:
		w.Header().Set("Allow", strings.Join(a.Methods(r), ", "))
		w.WriteHeader(http.StatusNoContent)
	case len(allowed) > 0 && !slices.Contains(allowed, r.Method) && !a.config.strictSlashes && a.redirect(w, r, r.Method):
		// POST /create means /create/ also where GET has a route for any path.
	case len(allowed) > 0 && !slices.Contains(allowed, r.Method):
		a.writeError(w, r, &Error{
			Status: http.StatusMethodNotAllowed, Detail: fmt.Sprintf("Method %q not allowed.", methodWord(r.Method)),
			Header: http.Header{"Allow": {strings.Join(a.Methods(r), ", ")}}, Err: ErrNoMethod,
		})
	case len(allowed) == 0 && !a.config.strictSlashes && a.redirect(w, r, ""):
	default:
		a.hintBasePath(r) //nolint:contextcheck // it logs with the context of the request
		e := NotFound("")
		e.Err = ErrNoPath
		a.writeError(w, r, e)
	}
}

// answerAsterisk answers a request that is about the whole server, which only OPTIONS is.
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

// allowed lists the methods that an escaped path has.
func (a *API) allowed(path string) []string {
	var methods []string
	for _, m := range allMethods {
		if a.find(m, path) != nil {
			methods = append(methods, m)
		}
	}
	return methods
}

// takes reports whether a route of the shape takes the path.
func (s *shape) takes(path string) bool {
	return s.plain != nil || slices.ContainsFunc(s.candidates, func(c candidate) bool { return c.rt.path.accepts(path) })
}

// methodWord returns the method if it is one, as it is repeated in an answer.
func methodWord(m string) string {
	if slices.Contains(knownMethods, m) {
		return m
	}
	return "?"
}
