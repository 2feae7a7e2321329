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

// RouteOption configures one route. The paginators of package page and the filters, orderings
// and searches of package query are route options too.
type RouteOption interface{ option.Route }

// ControllerOption configures a controller and all its routes.
type ControllerOption interface{ applyController(c *controllerConfig) }

// APIOption configures an API.
type APIOption interface{ applyAPI(c *apiConfig) }

// Option is an option of an API, a controller or a route. If a route sets it, the route does
// not inherit the controller's setting; if a controller sets it, it does not inherit the
// API's.
type Option interface {
	APIOption
	ControllerOption
	RouteOption
}

// level holds the settings that an API, a controller and a route may each set. Nil or zero
// means the setting of the level above.
type level struct {
	auth        []Authenticator
	throttles   []Throttle
	first       []Throttle // before authentication
	permissions []Permission
	paginator   page.Paginator
	middleware  []Middleware // only this level's; the middleware of all levels runs
	maxBody     int64        // zero at all levels: the default for the kind of body
	unknown     UnknownFields
	tolerance   Tolerance
	bodyArg     *string // of [BodyName]
	deprecated  bool
	sunset      *sunset
	hidden      bool
}

// under returns the settings of l, completed by those of the level above.
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

// orAbove returns the level's own list, or the list of the level above if its own is nil. An
// empty list is a setting: it stops inheritance.
func orAbove[S ~[]E, E any](own, above S) S {
	if own == nil {
		return above
	}
	return own
}

// levelOption is an Option that sets a field of level.
type levelOption func(l *level)

func (f levelOption) applyAPI(c *apiConfig)               { f(&c.level) }
func (f levelOption) applyController(c *controllerConfig) { f(&c.level) }
func (f levelOption) applyRoute(c *routeConfig)           { f(&c.level) }

// RestRoute marks the type as a route option.
func (levelOption) RestRoute(option.Seal) {}

// Auth sets the authenticators, in the order in which they are tried. The first one that
// recognizes the caller wins; if none does, the answer is 401. Auth panics without
// authenticators, because an empty list would let everybody in. Use [NoAuth] for that.
func Auth(a ...Authenticator) Option {
	if len(a) == 0 {
		panic("rest: rest.Auth without authenticators would let everybody in: use rest.NoAuth() for that")
	}
	return levelOption(func(l *level) { l.auth = append([]Authenticator{}, a...) })
}

// NoAuth lets everybody in, even if the API or the controller has authenticators.
func NoAuth() Option { return levelOption(func(l *level) { l.auth = []Authenticator{} }) }

// Throttles sets the throttles. Every throttle counts each request. Without arguments,
// Throttles removes the inherited throttles.
func Throttles(t ...Throttle) Option {
	return levelOption(func(l *level) { l.throttles = append([]Throttle{}, t...) })
}

// ThrottlesFirst sets the throttles that run before authentication, so that they also limit
// how often a client can try credentials. Such a throttle does not know the principal. Without
// arguments, ThrottlesFirst removes the inherited ones.
func ThrottlesFirst(t ...Throttle) Option {
	return levelOption(func(l *level) { l.first = append([]Throttle{}, t...) })
}

// Permit sets the permissions. All of them have to allow the request. Permit panics without
// permissions, because an empty list would open the route. Use [Open] for that.
func Permit(p ...Permission) Option {
	if len(p) == 0 {
		panic("rest: rest.Permit without permissions would open the route: use rest.Open() for that")
	}
	return levelOption(func(l *level) { l.permissions = append([]Permission{}, p...) })
}

// Open removes the inherited permissions. Authentication stays; see [NoAuth].
func Open() Option { return levelOption(func(l *level) { l.permissions = []Permission{} }) }

// Paginate sets the paginator of each [List] without a paginator of its own.
//
// Defaults to page.LimitOffset().
func Paginate(p page.Paginator) Option {
	return levelOption(func(l *level) { l.paginator = p })
}

// Middleware wraps a handler, as is usual with net/http.
type Middleware func(next http.Handler) http.Handler

// Use wraps middleware around all routes of the level, the first one outermost. The API's
// middleware wraps the controller's, and the controller's wraps the route's. The API's
// middleware sees every request, including requests that match no route.
func Use(m ...Middleware) Option {
	return levelOption(func(l *level) { l.middleware = append(l.middleware, m...) })
}

// MaxBody limits the size of request bodies, in bytes. A larger body is answered 413. The
// handler of a [Raw] route gets an [http.MaxBytesError] when it reads past the limit.
//
// Defaults to 1 MiB, and to 32 MiB for forms, which may have files. A raw route has no limit
// unless this option is set on it or on a level above.
func MaxBody(bytes int64) Option {
	return levelOption(func(l *level) { l.maxBody = bytes })
}

// UnknownFields says what happens to unknown JSON body fields and unknown query parameters.
type UnknownFields int

// The policies for unknown fields and parameters. Only RefuseAll refuses unknown query
// parameters, because links often collect parameters of other programs, such as trackers.
const (
	// RefuseFields refuses unknown body fields and ignores unknown query parameters. It is the
	// default.
	RefuseFields UnknownFields = iota + 1
	// IgnoreUnknown ignores unknown body fields and unknown query parameters.
	IgnoreUnknown
	// RefuseAll refuses unknown body fields and unknown query parameters.
	RefuseAll
)

// Unknown sets the policy for unknown fields of JSON bodies and unknown query parameters.
// Unknown form fields are always ignored.
//
// Defaults to [RefuseFields].
func Unknown(u UnknownFields) Option {
	return levelOption(func(l *level) { l.unknown = u })
}

// Deprecated marks the routes as deprecated in the document.
func Deprecated() Option { return levelOption(func(l *level) { l.deprecated = true }) }

// Sunset marks the routes as deprecated in the document, and in the Deprecation header (RFC
// 9745) of their answers. The Sunset header (RFC 8594) says when the routes will be removed.
// If end is zero, that header is not sent.
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

// Hidden leaves the routes out of the document. They are still served.
func Hidden() Option { return levelOption(func(l *level) { l.hidden = true }) }

// controllerConfig holds the settings of a controller, from its Routes method and its
// registration.
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

// Prefix puts a path before the paths of the controller's routes. The prefix may have
// parameters, such as "/orgs/{int:org_id}/books". The input of each route then needs a field
// for each of them.
//
// Defaults to none.
func Prefix(path string) ControllerOption {
	return controllerOption(func(c *controllerConfig) { c.prefix = path })
}

// Namespace sets the first part of the controller's route names, which [API.Reverse] takes,
// and of its operation ids.
//
// Defaults to the name of the controller's type.
func Namespace(name string) ControllerOption {
	return controllerOption(func(c *controllerConfig) { c.namespace = &name })
}

// UniqueIDs says whether operation ids begin with the namespace, so that two controllers may
// have methods of the same name. If two ids are still equal, a number is appended, which is
// the same at each start. With false, ids are the bare names, and registering an id twice
// panics.
//
// Defaults to true.
func UniqueIDs(unique bool) ControllerOption {
	return controllerOption(func(c *controllerConfig) { c.uniqueIDs = &unique })
}

// AutoImport says whether [API.Import] takes the controller from a [Registry].
//
// Defaults to true.
func AutoImport(yes bool) ControllerOption {
	return controllerOption(func(c *controllerConfig) { c.autoImport = &yes })
}

// tagsOption is the option that [Tags] returns.
type tagsOption []string

// Tags sets the tags that group routes in the document. The tags of a route replace those of
// its controller.
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

// RestRoute marks the type as a route option.
func (tagsOption) RestRoute(option.Seal) {}

// routeOption is an option of routes only.
type routeOption func(c *routeConfig)

func (f routeOption) applyRoute(c *routeConfig) { f(c) }

// RestRoute marks the type as a route option.
func (routeOption) RestRoute(option.Seal) {}

// Status sets the status of a successful answer. The text about says in the document what the
// answer means on this route; it defaults to the status text.
//
// Defaults to 200, and to 204 for a route that answers [NoContent].
func Status(code int, about ...string) RouteOption {
	return routeOption(func(c *routeConfig) {
		c.status = code
		c.describe(code, about)
	})
}

// Name sets the route's name, which [API.Reverse] and the operation id use.
//
// Defaults to the name of the handler's method or function. For a function literal, the
// default is made of the HTTP method and the path, such as getBooksId.
func Name(name string) RouteOption { return routeOption(func(c *routeConfig) { c.name = name }) }

// OperationID sets the operation id in the document. No namespace is put before it.
func OperationID(id string) RouteOption {
	return routeOption(func(c *routeConfig) { c.operationID = id })
}

// Check adds a check of the input that runs before the handler, for permissions that depend on
// the input. An error ends the request, as the error of a [Permission] does. In must be the
// input type of the handler; otherwise registering the route panics. Several checks run in the
// order given.
func Check[In any](check func(ctx context.Context, in In) error) RouteOption {
	return routeOption(func(c *routeConfig) {
		c.checks = append(c.checks, inputCheck{reflect.TypeFor[In](), func(ctx context.Context, in any) error {
			typed, ok := in.(*In)
			if !ok {
				return fmt.Errorf("the input of the route is not a %T", typed)
			}
			return check(ctx, *typed)
		}})
	})
}

// inputCheck is a [Check] and the type of its input.
type inputCheck struct {
	in    reflect.Type
	check func(ctx context.Context, in any) error
}

// Summary sets a one-line summary of the route for the document.
//
// Defaults to the first sentence of the description, and to the words of the route's name
// without one.
func Summary(text string) RouteOption { return routeOption(func(c *routeConfig) { c.summary = text }) }

// Description sets a longer description of the route, in Markdown.
//
// Defaults to the doc comment of the handler, with [Comments].
func Description(text string) RouteOption {
	return routeOption(func(c *routeConfig) { c.description = text })
}

// apiConfig holds the options of [New].
type apiConfig struct {
	level

	title, version, description string
	specPath, docsPath          string
	servers                     []string
	tags                        map[string]string // the descriptions, by name
	baseURL, basePath           string
	baseStripped                bool // requests arrive without the base path
	renderer                    ErrorRenderer
	invalidStatus               int
	mapErrors                   []func(error) *Error
	codec                       Codec
	bounds                      BodyBounds
	validateFirst               bool
	schemaNames                 map[reflect.Type]string
	nameSchemas                 func(name string, t reflect.Type) string
	comments                    map[string]string // by the name of the function or field
	trusted                     []netip.Prefix
	logger                      logger
	fallback                    page.Paginator // from [FromSettings]; [Paginate] overrides it
	strictSlashes               bool
	providers                   []provider
	perRequest                  bool // some services are made for each request
}

type apiOption func(c *apiConfig)

func (f apiOption) applyAPI(c *apiConfig) { f(c) }

// Title sets the API's title in the document.
//
// Defaults to "API".
func Title(text string) APIOption { return apiOption(func(c *apiConfig) { c.title = text }) }

// Version sets the API's version in the document.
//
// Defaults to "1.0.0".
func Version(text string) APIOption { return apiOption(func(c *apiConfig) { c.version = text }) }

// About sets the API's description in the document, in Markdown.
//
// Defaults to none.
func About(text string) APIOption { return apiOption(func(c *apiConfig) { c.description = text }) }

// AboutTags sets the descriptions of tags in the document, in Markdown, by the name of the tag. A tag that no route
// has is left out.
//
// Defaults to none.
func AboutTags(texts map[string]string) APIOption {
	return apiOption(func(c *apiConfig) { c.tags = texts })
}

// Servers sets the server addresses in the document.
//
// Defaults to the address of [BaseURL], or to "/".
func Servers(urls ...string) APIOption { return apiOption(func(c *apiConfig) { c.servers = urls }) }

// SpecPath sets the path that serves the document. If it is empty, neither the document nor
// the page of [DocsPath] is served.
//
// Defaults to "/openapi.json".
func SpecPath(path string) APIOption { return apiOption(func(c *apiConfig) { c.specPath = path }) }

// DocsPath sets the path of the HTML page that shows the document. If it is empty, there is no
// page.
//
// Defaults to "/docs".
func DocsPath(path string) APIOption { return apiOption(func(c *apiConfig) { c.docsPath = path }) }

// BaseURL sets the scheme and host of links to other pages, such as "https://shop.example". A
// request's Host header is never used for links, because the client controls it. The path of
// [BasePath] is not part of the base URL.
//
// Defaults to none: links then begin with the path.
func BaseURL(url string) APIOption { return apiOption(func(c *apiConfig) { c.baseURL = url }) }

// StrictSlashes answers 404 to a path that differs from a route's path only in its last slash,
// in doubled slashes, or in steps such as /a/../b.
//
// Without it, such a path is redirected (308) to the route's path. The redirect is relative
// and keeps the query.
func StrictSlashes() APIOption { return apiOption(func(c *apiConfig) { c.strictSlashes = true }) }

// Errors sets how errors are written.
//
// Defaults to [ProblemErrors].
func Errors(r ErrorRenderer) APIOption { return apiOption(func(c *apiConfig) { c.renderer = r }) }

// InvalidStatus sets the status of the answer to input that breaks its rules.
//
// Defaults to 422.
func InvalidStatus(status int) APIOption {
	return apiOption(func(c *apiConfig) { c.invalidStatus = status })
}

// MapError adds a function that turns the program's errors into answers. f returns nil for an
// error that it does not know. The first function that knows the error wins. An [Error] is
// never mapped.
func MapError(f func(error) *Error) APIOption {
	return apiOption(func(c *apiConfig) { c.mapErrors = append(c.mapErrors, f) })
}

// JSON sets the codec of bodies, and of the items of [Lines] and [Events]. Errors are written
// without a codec, unless [Errors] sets a renderer of the program.
//
// Defaults to encoding/json.
func JSON(codec Codec) APIOption { return apiOption(func(c *apiConfig) { c.codec = codec }) }

// TrustedProxies sets the peers whose X-Forwarded-For header is believed.
//
// Defaults to none: the client address is then the address of the connection's peer.
func TrustedProxies(networks ...netip.Prefix) APIOption {
	return apiOption(func(c *apiConfig) { c.trusted = append(c.trusted, networks...) })
}

// logger is where the API logs its own failures; nil means slog.Default().
type logger struct{ to *slog.Logger }

func (l logger) log() *slog.Logger {
	if l.to == nil {
		return slog.Default()
	}
	return l.to
}

// Logger sets the logger for failures. Each failure is logged once.
//
// Defaults to slog.Default().
func Logger(l *slog.Logger) APIOption { return apiOption(func(c *apiConfig) { c.logger = logger{l} }) }
