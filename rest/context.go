package rest

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"sync/atomic"

	"github.com/spoolhq/spool/rest/internal/bind"
	"github.com/spoolhq/spool/rest/internal/body"
)

// routeContext is a request that a route is answering. It is also the context that handlers,
// permissions and throttles receive, so that finding the request in a context is cheap.
type routeContext struct {
	context.Context //nolint:containedctx // routeContext is a context

	route     *route
	request   *http.Request
	path      string // of the request, escaped
	response  Response
	principal Principal
	input     *bind.Input // set while input is read and lists are paged
	scope     atomic.Pointer[requestScope]
	cleanup   func()         // removes the files of a form
	presence  *body.Presence // nil without a JSON body
	held      int64          // bytes of [BodyBounds.Memory] reserved for the body
	judged    atomic.Bool    // the handler has called CheckObjectPermission
}

type contextKey struct{}

// Value returns c for [contextKey], and otherwise the value of the request's context.
func (c *routeContext) Value(key any) any {
	if key == (contextKey{}) {
		return c
	}
	return c.Context.Value(key)
}

func contextOf(ctx context.Context) *routeContext {
	if c, ok := ctx.(*routeContext); ok {
		return c
	}
	c, _ := ctx.Value(contextKey{}).(*routeContext)
	return c
}

// PathValue returns the text of a path parameter.
func (c *routeContext) PathValue(name string) string {
	for i, known := range c.route.pathNames {
		if known != name {
			continue
		}
		if c.route.wrapped {
			return c.request.PathValue(name) // middleware may have changed the path
		}
		return c.route.path.param(i, c.path)
	}
	return ""
}

// RequestOf returns the request of ctx, for its headers, query and address. It returns nil if
// ctx is not the context of a route. The body has been read already.
func RequestOf(ctx context.Context) *http.Request {
	if c := contextOf(ctx); c != nil {
		return c.request
	}
	return nil
}

// Response lets a handler set parts of its answer in addition to the body: headers, cookies
// and another status.
type Response struct {
	writer http.ResponseWriter
	status int
}

// Header returns the headers of the answer. The caller may change them.
func (r *Response) Header() http.Header { return r.writer.Header() }

// SetCookie adds a cookie to the answer.
func (r *Response) SetCookie(c *http.Cookie) { http.SetCookie(r.writer, c) }

// SetStatus sets the status of the answer. The route has to document the status, for example
// with [Returns]; otherwise the answer is 500.
func (r *Response) SetStatus(code int) { r.status = code }

// ResponseOf returns the answer to the request of ctx. If ctx is not the context of a route,
// changes to the answer have no effect.
func ResponseOf(ctx context.Context) *Response {
	if c := contextOf(ctx); c != nil {
		return &c.response
	}
	return &Response{writer: nowhere{}}
}

type nowhere struct{}

func (nowhere) Header() http.Header         { return http.Header{} }
func (nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (nowhere) WriteHeader(int)             {}

// PermissionsOf returns the permissions of the request's route, including inherited ones.
func PermissionsOf(ctx context.Context) []Permission {
	if c := contextOf(ctx); c != nil {
		return c.route.permissions
	}
	return nil
}

// ControllerOf returns the controller that answers the request.
func ControllerOf(ctx context.Context) Controller {
	if c := contextOf(ctx); c != nil {
		return c.route.controller
	}
	return nil
}

// RouteName returns the name of the request's route, "Books.list" for example.
func RouteName(ctx context.Context) string {
	if c := contextOf(ctx); c != nil {
		return c.route.name
	}
	return ""
}

// ClientIP returns the address of the client: the peer's address, or the one that trusted
// proxies report ([TrustedProxies]). It returns the zero Addr if the peer has no address.
func ClientIP(ctx context.Context) netip.Addr {
	c := contextOf(ctx)
	if c == nil {
		return netip.Addr{}
	}
	return clientIP(c.request, c.route.api.config.trusted)
}

// Reply is an answer with a status of its own, for handlers whose body type is known only at
// run time. If the type is known, use [Answer], which the compiler checks. The route documents
// the statuses with [Returns] and [Detail].
type Reply struct {
	// Status must be one that the route documents, or the answer is 500. Zero means the
	// route's usual status.
	Status int
	// Body is written as JSON; nil means no body. Its type must be the one that the route
	// documents for the status, or a pointer to it. Any other type is answered 500.
	Body any
	// Header is added to the headers of the answer.
	Header http.Header
}

// GetOrNotFound loads an object and checks the object permissions of the route for it. If load
// returns [ErrNotFound] or a nil pointer, the answer is 404.
//
// If the controller implements [ObjectGetter], its method is called instead.
func GetOrNotFound[T any, K any](ctx context.Context, load func(context.Context, K) (T, error), key K) (T, error) {
	var none T
	if c := contextOf(ctx); c != nil {
		if own, ok := c.route.controller.(ObjectGetter[T, K]); ok && !overridden(ctx, getHelper) {
			return own.GetOrNotFound(override(ctx, getHelper), load, key)
		}
	}
	object, err := load(ctx, key)
	if errors.Is(err, ErrNotFound) || (err == nil && isNil(object)) {
		return none, &Error{Status: http.StatusNotFound, Detail: typeWord(object) + " was not found.", Err: err}
	}
	if err != nil {
		return none, err
	}
	if err := CheckObjectPermission(ctx, object); err != nil {
		return none, err
	}
	return object, nil
}

// ObjectGetter is a controller with its own version of [GetOrNotFound].
type ObjectGetter[T any, K any] interface {
	// GetOrNotFound replaces the function [GetOrNotFound] for one type of object and key; other
	// types are loaded as usual. The method may call the function with its own ctx for the usual
	// behavior. Otherwise it has to call [CheckObjectPermission] itself.
	GetOrNotFound(ctx context.Context, load func(context.Context, K) (T, error), key K) (T, error)
}

// helper is a function of this package that a controller may override.
type helper int

const (
	checkHelper helper = iota
	createHelper
	getHelper
)

type overrideKey struct{ of helper }

// override returns the context for a controller's own helper. With this context, the
// overridden function runs its usual code and does not call the controller again.
func override(ctx context.Context, of helper) context.Context {
	return context.WithValue(ctx, overrideKey{of}, true)
}

func overridden(ctx context.Context, of helper) bool { return ctx.Value(overrideKey{of}) != nil }
