package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"runtime/debug"
	"strings"

	"github.com/spoolhq/spool/rest/internal/actas"
)

// handler is the part of a route that knows the types In and Out.
type handler interface {
	// types returns In and Out, both nil for a raw handler.
	types() (in, out reflect.Type)
	// missing reports whether the handler is nil.
	missing() bool
	// serve answers a request with the escaped path.
	serve(rt *route, w http.ResponseWriter, r *http.Request, path string)
}

// typed is a handler function for In and Out.
type typed[In, Out any] struct {
	f func(ctx context.Context, in In) (Out, error)
}

func (*typed[In, Out]) types() (in, out reflect.Type) {
	return reflect.TypeFor[In](), reflect.TypeFor[Out]()
}

// call holds everything that a request needs, in one allocation.
type call[In, Out any] struct {
	routeContext

	in  In
	out Out
}

func (h *typed[In, Out]) missing() bool { return h.f == nil }

func (h *typed[In, Out]) serve(rt *route, w http.ResponseWriter, r *http.Request, path string) {
	c := &call[In, Out]{}
	c.begin(rt, w, r, path)
	defer c.end()
	err := c.admit()
	if err == nil {
		err = c.read(&c.in)
	}
	if err == nil {
		c.out, err = h.f(&c.routeContext, c.in)
	}
	if err == nil {
		err = c.answer(&c.out)
	}
	if err != nil {
		c.fail(err)
	}
}

// rawHandler is a net/http handler. The same stages run before it.
type rawHandler struct{ http.Handler }

func (rawHandler) types() (in, out reflect.Type) { return nil, nil }

func (h rawHandler) missing() bool { return h.Handler == nil || isNil(h.Handler) }

func (h rawHandler) serve(rt *route, w http.ResponseWriter, r *http.Request, path string) {
	c := &routeContext{}
	begun := &begunWriter{ResponseWriter: w}
	c.begin(rt, begun, r, path)
	defer c.end()
	if err := c.admit(); err != nil {
		c.fail(err)
		return
	}
	if rt.maxBody != 0 {
		if r.ContentLength > rt.maxBody {
			c.fail(&http.MaxBytesError{Limit: rt.maxBody})
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, rt.maxBody)
	}
	r = r.WithContext(c)
	if !rt.wrapped {
		rt.path.setPathValues(r)
	}
	h.ServeHTTP(begun, r)
}

func (c *routeContext) begin(rt *route, w http.ResponseWriter, r *http.Request, path string) {
	c.Context, c.route, c.request, c.path, c.response.writer = r.Context(), rt, r, path, w
	if rt.sunset != nil {
		rt.sunset.announce(w.Header())
	}
}

// end releases what the request held, and answers a panic with 500.
func (c *routeContext) end() {
	c.release()
	reason := recover()
	if reason == nil {
		return
	}
	if reason == http.ErrAbortHandler { //nolint:errorlint,err113 // a panic value is compared as it is, as net/http does
		panic(reason)
	}
	c.route.api.config.logger.log().ErrorContext(c.Context, "handler panicked", "route", c.route.name,
		"method", c.request.Method, "path", c.request.URL.Path, "panic", reason, "stack", string(debug.Stack()))
	if w, ok := c.response.writer.(*begunWriter); reason == errPieces || (ok && w.begun) { //nolint:errorlint,err113 // as above
		panic(http.ErrAbortHandler) // breaks the connection: the client must not take a part for the whole
	}
	c.route.api.writeError(c.response.writer, c.request, &Error{Status: http.StatusInternalServerError})
}

// admit runs the stages before the input: throttles and authentication, then permissions.
func (c *routeContext) admit() error {
	rt := c.route
	if len(rt.first) > 0 {
		if err := c.take(c, rt.first); err != nil {
			return err
		}
	}
	if len(rt.auth) > 0 {
		if err := c.authenticate(); err != nil {
			return err
		}
	}
	if len(rt.throttles) > 0 {
		if err := c.take(c, rt.throttles); err != nil {
			return err
		}
	}
	if len(rt.permissions) > 0 {
		return c.checkPermissions(c)
	}
	return nil
}

// authenticate tries the authenticators in order. The first success wins.
func (c *routeContext) authenticate() error {
	if p, ok := actas.Principal(c.Context).(Principal); ok && !isNil(p) {
		c.principal = p
		return nil
	}
	bad := false
	for _, a := range c.route.auth {
		if a == Anonymous {
			if !bad {
				return nil
			}
			break
		}
		p, err := a.Authenticate(c.request)
		switch {
		case err == nil && p != nil && !isNil(p):
			c.principal = p
			return nil
		case err == nil || errors.Is(err, ErrNoCredentials):
		case errors.Is(err, ErrBadCredentials):
			bad = true
			c.route.api.config.logger.log().DebugContext(c, "credentials refused", "route", c.route.name, "scheme",
				a.Scheme().Name, "reason", err)
		default:
			return err
		}
	}
	if bad {
		return c.route.unauthorized("invalid_token")
	}
	return c.route.unauthorized("")
}

// unauthorized returns the route's 401 error, with a challenge for each of its authenticators.
func (rt *route) unauthorized(reason string) *Error {
	e := &Error{
		Status: http.StatusUnauthorized, Code: codeUnauthorized, Detail: "Authentication credentials were not provided.",
		Header: http.Header{},
	}
	if reason != "" {
		e.Detail = "Incorrect authentication credentials."
	}
	for _, a := range rt.auth {
		s := a.Scheme()
		if s.Challenge == "" {
			continue
		}
		challenge := s.Challenge
		if reason != "" && strings.HasPrefix(challenge, "Bearer") {
			challenge += `, error="` + reason + `"`
		}
		e.Header.Add("WWW-Authenticate", challenge)
	}
	return e
}

// fail answers with err.
func (c *routeContext) fail(err error) {
	e := c.route.api.answerOf(c.request, err, c.route.name)
	if name := c.route.bodyLabel; name != "" && len(e.Faults) > 0 && e.bodyName != name {
		named := *e // copied: the program may share one Error between requests
		named.bodyName = name
		e = &named
	}
	c.route.api.writeError(c.response.writer, c.request, e)
}

// answerOf turns any error into an [Error], and logs it if the status is 500 or more.
func (a *API) answerOf(r *http.Request, err error, name string) *Error {
	e := asError(err)
	for _, f := range a.config.mapErrors {
		if e == nil {
			e = f(err)
		}
	}
	if e == nil {
		e = standardError(r, err)
	}
	if e.Status == statusClientGone && r.Context().Err() == nil { // something else was canceled, and the client waits
		e = &Error{
			Status: http.StatusServiceUnavailable, Code: "unavailable", Err: err, Header: http.Header{"Retry-After": {"1"}},
		}
	}
	if e.Status < http.StatusOK || e.Status > 599 {
		e = &Error{Status: http.StatusInternalServerError, Err: e}
	}
	if len(e.Faults) > 0 && e.Status == http.StatusUnprocessableEntity && a.config.invalidStatus != e.Status {
		changed := *e
		changed.Status = a.config.invalidStatus
		e = &changed
	}
	if e.Status >= http.StatusInternalServerError {
		a.config.logger.log().ErrorContext(r.Context(), "request failed", "route", name, "method", r.Method,
			"path", r.URL.Path, "status", e.Status, "error", err)
	}
	return e
}

// statusClientGone is the status if the client did not wait for the answer. Middleware, such as an access log, sees it.
// No client receives it: the connection is cut instead. The client may be there, if it has only closed its side of the
// connection, or if a proxy has, and must not take the status for an answer.
const statusClientGone = 499

func standardError(r *http.Request, err error) *Error {
	var (
		large  *http.MaxBytesError
		status interface{ HTTPStatus() int }
	)
	switch {
	case errors.As(err, &large):
		return &Error{
			Status: http.StatusRequestEntityTooLarge, Code: "too_large",
			Detail: fmt.Sprintf("The body is larger than %d bytes.", large.Limit), Err: err,
		}
	case errors.Is(err, ErrNotFound):
		return &Error{Status: http.StatusNotFound, Detail: "Not found.", Err: err}
	case errors.As(err, &status):
		e := &Error{Status: status.HTTPStatus(), Err: err}
		if own, ok := status.(error); ok {
			e.Detail = own.Error() // not err.Error(): the wrapping text is not meant for clients
		}
		return e
	case errors.Is(err, context.Canceled) && r.Context().Err() != nil:
		return &Error{Status: statusClientGone, Detail: "The client did not wait.", Err: err}
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Status: http.StatusServiceUnavailable, Code: "timeout", Detail: "The request took too long.", Err: err}
	default:
		return &Error{Status: http.StatusInternalServerError, Err: err}
	}
}

// begunWriter remembers whether the answer has begun.
type begunWriter struct {
	http.ResponseWriter

	begun bool
}

func (w *begunWriter) WriteHeader(status int) {
	w.begun = w.begun || status >= http.StatusOK
	w.ResponseWriter.WriteHeader(status)
}

func (w *begunWriter) Write(b []byte) (int, error) {
	w.begun = true
	return w.ResponseWriter.Write(b) //nolint:wrapcheck // w only wraps it
}

// FlushError flushes, and sends the header if it has not been sent yet.
func (w *begunWriter) FlushError() error {
	err := http.NewResponseController(w.ResponseWriter).Flush()
	w.begun = w.begun || err == nil
	return err //nolint:wrapcheck // w only wraps it
}

// Unwrap lets [http.ResponseController] find the underlying writer.
func (w *begunWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
