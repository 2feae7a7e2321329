package rest

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"reflect"
	"strconv"
	"time"

	"github.com/spoolhq/spool/rest/internal/option"
	"github.com/spoolhq/spool/rest/page"
)

// RouteOption sets something of one route. Paginators of package page and the filters,
// orderings and searches of package query are route options too.
type RouteOption interface{ option.Route }

// ControllerOption sets something of a controller and of each of its routes.
type ControllerOption interface{ applyController(c *controllerConfig) }

// APIOption sets something of an API.
type APIOption interface{ applyAPI(c *apiConfig) }

// Option is an option of an API, a controller or a route. A route that has one does not inherit
// the controller's, and a controller that has one does not inherit the API's.
type Option interface {
	APIOption
	ControllerOption
	RouteOption
}

// level is what an API, a controller and a route may each say. Nil is "as the level above".
type level struct {
	auth        []Authenticator
	throttles   []Throttle
	first       []Throttle // before authentication
	permissions []Permission
	paginator   page.Paginator
	middleware  []Middleware // of this level; all levels run
	maxBody     int64        // zero: as above, and at the API what is usual for the kind of body
	unknown     UnknownFields
	tolerance   Tolerance // zero: as above
	bodyArg     *string   // of [BodyName]
	deprecated  bool
	sunset      *sunset
	hidden      bool
}

// under returns what holds at a level below parent.
func (l *level) under(parent level) level {
	all := *l
	all.auth = orAbove(l.auth, parent.auth)
	all.throttles = orAbove(l.throttles, parent.throttles)
	all.first = orAbove(l.first, parent.first)
	all.permissions = orAbove(l.permissions, parent.permissions)
	all.paginator = cmp.Or(l.paginator, parent.paginator)
	all.maxBody = cmp.Or(l.maxBody, parent.maxBody)
	all.unknown = cmp.Or(l.unknown, parent.unknown)
	all.tolerance = cmp.Or(l.tolerance, parent.tolerance)
	all.bodyArg = cmp.Or(l.bodyArg, parent.bodyArg)
	all.sunset = cmp.Or(l.sunset, parent.sunset)
	all.deprecated = all.deprecated || parent.deprecated
	all.hidden = all.hidden || parent.hidden
	return all
}

// orAbove returns what a level says, or what the one above it does. An empty list says something.
func orAbove[S ~[]E, E any](own, above S) S {
	if own == nil {
		return above
	}
	return own
}

// levelOption is an Option of something that each level may say.
type levelOption func(l *level)

func (f levelOption) applyAPI(c *apiConfig)               { f(&c.level) }
func (f levelOption) applyController(c *controllerConfig) { f(&c.level) }
func (f levelOption) applyRoute(c *routeConfig)           { f(&c.level) }

// RestRoute marks a route option.
func (levelOption) RestRoute(option.Seal) {}

// Auth sets the authenticators and their order. The first one that knows the caller decides; if
// none does, the answer is 401. Auth panics without authenticators, because an empty list would
// let everybody in: [NoAuth] says that.
func Auth(a ...Authenticator) Option {
	if len(a) == 0 {
		panic("rest: rest.Auth without authenticators would let everybody in: write rest.NoAuth() for that")
	}
	return levelOption(func(l *level) { l.auth = append([]Authenticator{}, a...) })
}

// NoAuth lets everybody in, also below an API or a controller with authenticators.
func NoAuth() Option { return levelOption(func(l *level) { l.auth = []Authenticator{} }) }

// Throttles bounds the requests. Every throttle counts each request. Without arguments it removes
// the throttles that the level would inherit.
func Throttles(t ...Throttle) Option {
	return levelOption(func(l *level) { l.throttles = append([]Throttle{}, t...) })
}

// ThrottlesFirst bounds the requests before authentication, so that it also bounds how often a
// client can try credentials. The principal is not known to such a throttle.
// Without arguments it removes the ones that the level would inherit.
func ThrottlesFirst(t ...Throttle) Option {
	return levelOption(func(l *level) { l.first = append([]Throttle{}, t...) })
}

// Permit sets the permissions, all of which have to allow the request. It panics without
// permissions, because an empty list would open the route: [Open] says that.
func Permit(p ...Permission) Option {
	if len(p) == 0 {
		panic("rest: rest.Permit without permissions would open the route: write rest.Open() for that")
	}
	return levelOption(func(l *level) { l.permissions = append([]Permission{}, p...) })
}

// Open removes the permissions that the route would inherit. Authentication stays: see [NoAuth].
func Open() Option { return levelOption(func(l *level) { l.permissions = []Permission{} }) }

// Paginate sets the paginator of each [List] that names none.
//
// Defaults to page.LimitOffset().
func Paginate(p page.Paginator) Option {
	return levelOption(func(l *level) { l.paginator = p })
}

// Middleware is the usual wrapper of net/http.
type Middleware func(next http.Handler) http.Handler

// Use puts middleware around all routes of the level, the first one outermost. The API's
// middleware is around the controller's, and that is around the route's. The API's middleware
// sees every request, also requests that no route answers.
func Use(m ...Middleware) Option {
	return levelOption(func(l *level) { l.middleware = append(l.middleware, m...) })
}

// MaxBody bounds the bodies of requests, in bytes. A larger one is answered 413. The handler
// of a [Raw] route gets an [http.MaxBytesError] when it reads beyond.
//
// Defaults to 1 MiB, and to 32 MiB for forms, which may have files. A raw route has no bound
// unless it or a level above has this option.
func MaxBody(bytes int64) Option {
	return levelOption(func(l *level) { l.maxBody = bytes })
}

// UnknownFields says what happens to a field of a JSON body, or to a query parameter, that the
// route does not know.
type UnknownFields int

// The policies. Unknown query parameters are refused by RefuseAll only, as links gather
// parameters of others on their way.
const (
	// RefuseFields refuses unknown fields of bodies. It is the default.
	RefuseFields UnknownFields = iota + 1
	// IgnoreUnknown ignores both.
	IgnoreUnknown
	// RefuseAll refuses both.
	RefuseAll
)

// Unknown sets the policy for unknown fields of JSON bodies and unknown query parameters.
// Those of forms are ignored in any case.
//
// Defaults to [RefuseFields].
func Unknown(u UnknownFields) Option {
	return levelOption(func(l *level) { l.unknown = u })
}

// Deprecated marks the routes as such in the document.
func Deprecated() Option { return levelOption(func(l *level) { l.deprecated = true }) }

// Sunset marks the routes as deprecated, also in the Deprecation header (RFC 9745) of their
// answers, and says in the Sunset header (RFC 8594) when they will be gone. A zero end says
// nothing of that.
func Sunset(deprecated, end time.Time) Option {
	s := &sunset{deprecation: "@" + strconv.FormatInt(deprecated.Unix(), 10)}
	if !end.IsZero() {
		s.end = end.UTC().Format(http.TimeFormat)
	}
	return levelOption(func(l *level) { l.deprecated, l.sunset = true, s })
}

type sunset struct{ deprecation, end string }

func (s *sunset) announce(h http.Header) {
	h.Set("Deprecation", s.deprecation)
	if s.end != "" {
		h.Set("Sunset", s.end)
	}
}

// Hidden leaves the routes out of the document. They are served all the same.
func Hidden() Option { return levelOption(func(l *level) { l.hidden = true }) }

// controllerConfig is what a controller says of itself, and its registration of it.
type controllerConfig struct {
	level

	prefix     string
	namespace  *string
	tags       []string
	uniqueIDs  *bool
	autoImport *bool
}

type controllerOption func(c *controllerConfig)

func (f controllerOption) applyController(c *controllerConfig) { f(c) }

// Prefix is put before the paths of the controller's routes. It may have parameters
// itself, such as "/orgs/{int:org_id}/books"; the input of each route has a field for them
// then.
//
// Defaults to none.
func Prefix(path string) ControllerOption {
	return controllerOption(func(c *controllerConfig) { c.prefix = path })
}

// Namespace is the first part of the names of the controller's routes, by which
// [API.Reverse] finds them, and of their operation ids.
//
// Defaults to the name of the controller's type.
func Namespace(name string) ControllerOption {
	return controllerOption(func(c *controllerConfig) { c.namespace = &name })
}

// UniqueIDs says whether operation ids begin with the namespace, so that the same method
// name in two controllers does not clash; if they still do, a number is appended, the same
// at each start. Without it, ids are the bare names, and a clash refuses to register.
//
// Defaults to true.
func UniqueIDs(unique bool) ControllerOption {
	return controllerOption(func(c *controllerConfig) { c.uniqueIDs = &unique })
}

// AutoImport says whether a [Registry] hands the controller to the APIs that import from
// it.
//
// Defaults to true.
func AutoImport(yes bool) ControllerOption {
	return controllerOption(func(c *controllerConfig) { c.autoImport = &yes })
}

// tagsOption is an option of controllers and routes.
type tagsOption []string

// Tags groups routes in the document. A route with tags of its own is not in its
// controller's.
//
// Defaults to the namespace.
func Tags(tags ...string) interface {
	ControllerOption
	RouteOption
} {
	return tagsOption(tags)
}

func (t tagsOption) applyController(c *controllerConfig) { c.tags = t }
func (t tagsOption) applyRoute(c *routeConfig)           { c.tags = t }

// RestRoute marks a route option.
func (tagsOption) RestRoute(option.Seal) {}

// routeOption is an option of a route alone.
type routeOption func(c *routeConfig)

func (f routeOption) applyRoute(c *routeConfig) { f(c) }

// RestRoute marks a route option.
func (routeOption) RestRoute(option.Seal) {}

// Status is the status of the answer when nothing went wrong. About says in the document what
// the answer means on this route, and defaults to the status text.
//
// Defaults to 200, and to 204 for a route that answers [NoContent].
func Status(code int, about ...string) RouteOption {
	return routeOption(func(c *routeConfig) {
		c.status = code
		c.describe(code, about)
	})
}

// Name is the route's name, which its operation id and [API.Reverse] use.
//
// Defaults to the name of the method that handles it, and for a function literal to the
// method and the path, such as getBooksId.
func Name(name string) RouteOption { return routeOption(func(c *routeConfig) { c.name = name }) }

// OperationID is the id in the document as it is, without a namespace.
func OperationID(id string) RouteOption {
	return routeOption(func(c *routeConfig) { c.operationID = id })
}

// Check looks at the input before the handler runs, for permissions that depend on the input.
// An error ends the request, as the error of a [Permission] does. In is the input type of the
// handler; a route with another one refuses to register. Several checks run in their order.
func Check[In any](check func(ctx context.Context, in In) error) RouteOption {
	return routeOption(func(c *routeConfig) {
		c.checks = append(c.checks, inputCheck{reflect.TypeFor[In](), func(ctx context.Context, in any) error {
			typed, ok := in.(*In)
			if !ok {
				return fmt.Errorf("the input of the route is no %T", typed)
			}
			return check(ctx, *typed)
		}})
	})
}

// inputCheck is a [Check] with the type of its input.
type inputCheck struct {
	in    reflect.Type
	check func(ctx context.Context, in any) error
}

// Summary is a line about the route for the document.
//
// Defaults to the words of its name.
func Summary(text string) RouteOption { return routeOption(func(c *routeConfig) { c.summary = text }) }

// Description says more about the route, in Markdown.
func Description(text string) RouteOption {
	return routeOption(func(c *routeConfig) { c.description = text })
}

// apiConfig is what [New] was told.
type apiConfig struct {
	level

	title, version, description string
	specPath, docsPath          string
	servers                     []string
	baseURL, basePath           string
	baseStripped                bool // requests come without the base path
	renderer                    ErrorRenderer
	invalidStatus               int
	mapErrors                   []func(error) *Error
	codec                       Codec
	bounds                      BodyBounds
	validateFirst               bool
	schemaNames                 map[reflect.Type]string
	trusted                     []netip.Prefix
	logger                      logger
	fallback                    page.Paginator // of settings: what code says overrides it
	strictSlashes               bool
	providers                   []provider
	perRequest                  bool // requests have services of their own
}

type apiOption func(c *apiConfig)

func (f apiOption) applyAPI(c *apiConfig) { f(c) }

// Title names the API in its document.
//
// Defaults to "API".
func Title(text string) APIOption { return apiOption(func(c *apiConfig) { c.title = text }) }

// Version is the version of the API in its document.
//
// Defaults to "1.0.0".
func Version(text string) APIOption { return apiOption(func(c *apiConfig) { c.version = text }) }

// About describes the API in its document, in Markdown: its description there.
//
// Defaults to none.
func About(text string) APIOption { return apiOption(func(c *apiConfig) { c.description = text }) }

// Servers are the addresses that the document names.
func Servers(urls ...string) APIOption { return apiOption(func(c *apiConfig) { c.servers = urls }) }

// SpecPath is where the document is served. An empty one serves neither it nor the page.
//
// Defaults to "/openapi.json".
func SpecPath(path string) APIOption { return apiOption(func(c *apiConfig) { c.specPath = path }) }

// DocsPath is where the page for people is served. Empty: nowhere.
//
// Defaults to "/docs".
func DocsPath(path string) APIOption { return apiOption(func(c *apiConfig) { c.docsPath = path }) }

// BaseURL is the scheme and host that links to other pages begin with, such as
// "https://shop.example". A request's Host header is never used for that: it is the
// client's word. The path of [BasePath] is not part of it.
//
// Defaults to none: links begin with the path.
func BaseURL(url string) APIOption { return apiOption(func(c *apiConfig) { c.baseURL = url }) }

// StrictSlashes answers 404 to a path that differs from a route's only in its last slash, in
// doubled slashes, or in steps such as /a/../b.
//
// Defaults to a redirect (308) to the route's path. It is relative and keeps the query.
func StrictSlashes() APIOption { return apiOption(func(c *apiConfig) { c.strictSlashes = true }) }

// Errors says how errors are written.
//
// Defaults to [ProblemErrors].
func Errors(r ErrorRenderer) APIOption { return apiOption(func(c *apiConfig) { c.renderer = r }) }

// InvalidStatus is the status of an answer to input that breaks its rules.
//
// Defaults to 422.
func InvalidStatus(status int) APIOption {
	return apiOption(func(c *apiConfig) { c.invalidStatus = status })
}

// MapError turns errors of the program into answers. f returns nil for an error that it does not
// know. The first function that knows the error decides. An [Error] is never mapped.
func MapError(f func(error) *Error) APIOption {
	return apiOption(func(c *apiConfig) { c.mapErrors = append(c.mapErrors, f) })
}

// JSON sets the codec of bodies. [Lines] and [Events] are encoded by encoding/json, and errors
// are written without a codec, unless [Errors] sets a renderer of the program.
//
// Defaults to encoding/json.
func JSON(codec Codec) APIOption { return apiOption(func(c *apiConfig) { c.codec = codec }) }

// TrustedProxies are the peers whose X-Forwarded-For header is believed.
//
// Defaults to none: the client is the peer of the connection.
func TrustedProxies(networks ...netip.Prefix) APIOption {
	return apiOption(func(c *apiConfig) { c.trusted = append(c.trusted, networks...) })
}

// logger is where an API reports what is its own fault.
type logger struct{ to *slog.Logger }

func (l logger) log() *slog.Logger {
	if l.to == nil {
		return slog.Default()
	}
	return l.to
}

// Logger sets where failures are logged, once each.
//
// Defaults to slog.Default().
func Logger(l *slog.Logger) APIOption { return apiOption(func(c *apiConfig) { c.logger = logger{l} }) }
