package rest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/query"
)

// Controller is a struct whose methods are routes. Its fields are its dependencies.
type Controller interface {
	// Routes registers the routes on r. It is called once for each API that the controller is
	// registered in, and must not keep r.
	Routes(r *Routes)
}

// Routes collects the routes of a controller for one API.
type Routes struct {
	controller Controller
	config     controllerConfig
	entries    []*entry
	services   Services
}

// Configure sets options of the whole controller: prefix, tags, permissions and so on. The
// options of [API.Register] override them.
func (r *Routes) Configure(options ...ControllerOption) {
	for _, o := range options {
		o.applyController(&r.config)
	}
}

// Inherit adds the routes and options of base. Base is usually an embedded controller whose
// Routes method is hidden by the outer type's own. A route of r overrides an inherited route
// with the same method and path, and the options of r override the inherited options.
func (r *Routes) Inherit(base Controller) {
	inner := &Routes{controller: base, services: r.services}
	base.Routes(inner)
	entries := inner.overridden() // base may itself inherit and override
	for _, e := range entries {
		e.inherited = true
	}
	r.entries = append(r.entries, entries...)
	own := r.config
	r.config = inner.config
	r.config.override(own)
}

// override overwrites each setting of c that other sets. Middleware is appended.
func (c *controllerConfig) override(other controllerConfig) {
	middleware := append(slices.Clip(c.middleware), other.middleware...)
	c.level = other.under(c.level)
	c.middleware = middleware
	c.prefix = cmp.Or(other.prefix, c.prefix)
	c.namespace = cmp.Or(other.namespace, c.namespace)
	c.tags = orAbove(other.tags, c.tags)
	c.uniqueIDs = cmp.Or(other.uniqueIDs, c.uniqueIDs)
	c.autoImport = cmp.Or(other.autoImport, c.autoImport)
}

// entry is a route as the controller described it, before it is compiled.
type entry struct {
	methods   []string
	path      string
	config    routeConfig
	handler   handler
	inherited bool
	list      bool
	// resolved gives the compiled route to its Endpoint. It may be nil.
	resolved func(*route)
}

type routeConfig struct {
	level

	name, operationID    string
	function             string // the full name of the handler's function
	summary, description string
	tags                 []string
	status               int
	returns              []declared
	fails                []int
	described            map[int]string // by status
	produces             []string
	emits                []emitted
	stages               []query.Option
	view                 *view
	inputType            reflect.Type
	checks               []inputCheck
	verifier             BodyVerifier
	reads, sends         []namedHeader
	conditional          bool
}

// declared is an answer that a route may give, as the document lists it.
type declared struct {
	status int
	body   reflect.Type // nil: none
}

// namedHeader is a header that the handler code reads or writes itself.
type namedHeader struct {
	name, doc string
	statuses  []int
}

func (c *routeConfig) apply(options []RouteOption) error {
	for _, o := range options {
		switch o := o.(type) {
		case interface{ applyRoute(c *routeConfig) }:
			o.applyRoute(c)
		case page.Paginator:
			if c.paginator != nil {
				return errors.New("a list has one paginator, and there are two")
			}
			c.paginator = o
		case query.Option:
			c.stages = append(c.stages, o)
		default:
			return fmt.Errorf("%T is not an option that a route knows", o)
		}
	}
	return nil
}

// Get registers a handler for GET and HEAD.
func Get[In, Out any](
	r *Routes, path string, h func(ctx context.Context, in In) (Out, error), options ...RouteOption,
) *Endpoint[In, Out] {
	return Handle(r, []string{http.MethodGet}, path, h, options...)
}

// Post registers a handler for POST.
func Post[In, Out any](
	r *Routes, path string, h func(ctx context.Context, in In) (Out, error), options ...RouteOption,
) *Endpoint[In, Out] {
	return Handle(r, []string{http.MethodPost}, path, h, options...)
}

// Put registers a handler for PUT.
func Put[In, Out any](
	r *Routes, path string, h func(ctx context.Context, in In) (Out, error), options ...RouteOption,
) *Endpoint[In, Out] {
	return Handle(r, []string{http.MethodPut}, path, h, options...)
}

// Patch registers a handler for PATCH.
func Patch[In, Out any](
	r *Routes, path string, h func(ctx context.Context, in In) (Out, error), options ...RouteOption,
) *Endpoint[In, Out] {
	return Handle(r, []string{http.MethodPatch}, path, h, options...)
}

// Delete registers a handler for DELETE. The status defaults to 204 if the handler returns
// [NoContent].
func Delete[In, Out any](
	r *Routes, path string, h func(ctx context.Context, in In) (Out, error), options ...RouteOption,
) *Endpoint[In, Out] {
	return Handle(r, []string{http.MethodDelete}, path, h, options...)
}

// Handle registers a handler for several methods, such as PUT and PATCH. Each method is a
// separate operation in the document.
func Handle[In, Out any](
	r *Routes, methods []string, path string, h func(ctx context.Context, in In) (Out, error), options ...RouteOption,
) *Endpoint[In, Out] {
	endpoint := &Endpoint[In, Out]{}
	e := &entry{
		methods: methods, path: path, handler: &typed[In, Out]{f: h},
		resolved: func(rt *route) { endpoint.route = rt },
	}
	e.config.name, e.config.function = funcName(h), fullName(h)
	r.add(e, options)
	return endpoint
}

// InputType sets the input type of a handler that takes a [reflect.Value]. It is for
// controllers that build their routes from data. The type is a struct with the usual tags, for
// example one from [reflect.StructOf].
//
//	rest.Handle(r, methods, path, func(ctx context.Context, in reflect.Value) (Out, error) { ... }, rest.InputType(t))
func InputType(t reflect.Type) RouteOption {
	return routeOption(func(c *routeConfig) { c.inputType = t })
}

// inputOf returns the input type of a handler whose parameter has the type in.
func (c *routeConfig) inputOf(in reflect.Type) (reflect.Type, error) {
	if c.inputType == nil && in != valueType {
		return in, nil
	}
	if c.inputType == nil || in != valueType || c.inputType.Kind() != reflect.Struct {
		return nil, fmt.Errorf(
			"rest.InputType is for a handler that takes a reflect.Value, and is a struct: it is %v, and the handler takes %v",
			c.inputType, in,
		)
	}
	return c.inputType, nil
}

var valueType = reflect.TypeFor[reflect.Value]()

// Raw registers a net/http handler. Authentication, throttles and permissions run before it,
// as for any other route. The handler reads the request and writes the answer itself.
// [PrincipalOf], [ResponseOf] and so on work with the request's context, and
// [http.Request.PathValue] returns the path parameters.
func Raw(r *Routes, methods []string, path string, h http.Handler, options ...RouteOption) {
	e := &entry{methods: methods, path: path, handler: rawHandler{h}}
	if f, ok := h.(http.HandlerFunc); ok {
		e.config.name, e.config.function = funcName(f), fullName(f)
	}
	r.add(e, options)
}

func (r *Routes) add(e *entry, options []RouteOption) {
	place := fmt.Sprintf("%T: %s %s", r.controller, strings.Join(e.methods, ","), e.path)
	if e.handler.missing() {
		must(errors.New("the handler is nil"), place)
	}
	must(e.config.apply(options), place)
	if e.config.paginator != nil && !e.list {
		must(errors.New("paginators are for rest.List"), place)
	}
	if len(e.methods) == 0 {
		must(fmt.Errorf("methods must be a list with at least one method"), place) //nolint:perfsprint // one error in a row of others
	}
	methods := make([]string, 0, len(e.methods))
	for _, m := range e.methods {
		upper := strings.ToUpper(m)
		if !slices.Contains(knownMethods, upper) {
			must(fmt.Errorf("%q is not a method of HTTP; there are %s", m, strings.Join(knownMethods, ", ")), place)
		}
		if slices.Contains(methods, upper) {
			must(fmt.Errorf("the method %s appears twice", upper), place)
		}
		methods = append(methods, upper)
	}
	e.config.describeConditions(methods)
	e.methods = methods
	r.entries = append(r.entries, e)
}

var knownMethods = []string{
	http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
	http.MethodHead, http.MethodOptions, http.MethodTrace,
}
