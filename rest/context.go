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

// routeContext is a request on its way through a route. It is the context that handlers,
// permissions and throttles are given, so that finding it again costs nothing.
type routeContext struct {
	context.Context //nolint:containedctx // it is a context itself

	route     *route
	request   *http.Request
	response  Response
	principal Principal
	input     *bind.Input // while input is read and lists are paged
	scope     atomic.Pointer[requestScope]
	cleanup   func()         // removes the files of a form
	presence  *body.Presence // nil without a JSON body
	held      int64          // what the body has of [BodyBounds.Memory]
	judged    atomic.Bool    // an object was judged, or the handler saw to that
}

type contextKey struct{}

// Value finds the request itself, and else what the request's context has.
func (c *routeContext) Value(key any) any {
	if key == (contextKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// contextOf returns the request that ctx is about, or nil.
func contextOf(ctx context.Context) *routeContext {
	if c, ok := ctx.(*routeContext); ok {
		return c
	}
	c, _ := ctx.Value(contextKey{}).(*routeContext)
	return c
}

// PathValue returns the text of a parameter of the route's path.
func (c *routeContext) PathValue(name string) string {
	for i, known := range c.route.pathNames {
		if known != name {
			continue
		}
		if c.route.wrapped {
			return c.request.PathValue(name) // middleware may have changed the path
		}
		return c.route.path.param(i, c.request.URL.EscapedPath())
	}
	return ""
}

// RequestOf returns the request of ctx: its headers, its query, its address. It is nil when ctx is
// not the context of a route. The body has been read.
func RequestOf(ctx context.Context) *http.Request {
	if c := contextOf(ctx); c != nil {
		return c.request
	}
	return nil
}

// Response is what a handler may set of its answer in addition to the body: headers, cookies and
// another status.
type Response struct {
	writer http.ResponseWriter
	status int
}

// Header returns the headers of the answer, to be changed.
func (r *Response) Header() http.Header { return r.writer.Header() }

// SetCookie adds a cookie to the answer.
func (r *Response) SetCookie(c *http.Cookie) { http.SetCookie(r.writer, c) }

// SetStatus sets the status of the answer. The route has to document the status, for example by
// [Returns]; for another one the answer is 500.
func (r *Response) SetStatus(code int) { r.status = code }

// ResponseOf returns the answer to the request of ctx. Outside of a request, changes to it have no
// effect.
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

// PermissionsOf returns the permissions of the request's route, its own or inherited ones.
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

// ClientIP returns the address of the client: the peer's, or the one that trusted proxies name
// ([TrustedProxies]). It is the zero Addr when the peer has no address.
func ClientIP(ctx context.Context) netip.Addr {
	c := contextOf(ctx)
	if c == nil {
		return netip.Addr{}
	}
	return clientIP(c.request, c.route.api.config.trusted)
}

// Reply is an answer with a status of its own, for handlers whose body type is known only at run
// time. The compiler checks an [Answer] instead. The route documents the statuses by [Returns] and
// [Detail].
type Reply struct {
	// Status is one that the route documents; another one is answered 500. Zero is the
	// route's usual one.
	Status int
	// Body is written as JSON, and nil is none. It is of the type that the route documents
	// for the status, or a pointer to one; another one is answered 500.
	Body any
	// Header is added to the answer's.
	Header http.Header
}

// GetOrNotFound loads an object and asks the object permissions of the route about it. If load
// returns [ErrNotFound] or a nil pointer, the answer is 404.
//
// A controller that implements [ObjectGetter] is asked instead.
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

// ObjectGetter is a controller with a [GetOrNotFound] of its own.
type ObjectGetter[T any, K any] interface {
	// GetOrNotFound returns what the function of that name returns, which it may call with
	// its own ctx to do the usual; without that it asks the object permissions itself, by
	// [CheckObjectPermission]. It is for one type of object and of key: objects of others
	// are loaded as usual.
	GetOrNotFound(ctx context.Context, load func(context.Context, K) (T, error), key K) (T, error)
}

// helper is one of the functions that a controller may override.
type helper int

const (
	checkHelper helper = iota
	createHelper
	getHelper
)

type overrideKey struct{ of helper }

// override is the context of a controller's own helper: the function that it overrides does
// the usual with it, so that the one may call the other.
func override(ctx context.Context, of helper) context.Context {
	return context.WithValue(ctx, overrideKey{of}, true)
}

func overridden(ctx context.Context, of helper) bool { return ctx.Value(overrideKey{of}) != nil }
