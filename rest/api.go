package rest

import (
	"cmp"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/spoolhq/spool/rest/internal/docsui"
	"github.com/spoolhq/spool/rest/page"
)

// API is a set of controllers and an [http.Handler]. Build it with [New], register everything,
// then serve. It answers requests concurrently; do not register while it serves.
type API struct {
	config   apiConfig
	tree     tree
	patterns *http.ServeMux // only finds conflicting patterns; it serves nothing
	schemas  *document
	raw      huma.API
	routes   []*route
	byName   map[string][]*route // in registration order
	shared   map[string]*shape   // by method and pattern of the mux
	buffers  bufferPool
	senders  sync.Pool // of sender
	bodies   bodyBudget

	ready   sync.Once
	hinted  sync.Once
	handler http.Handler
	root    *services
}

// New returns an API without routes.
func New(options ...APIOption) *API {
	a := &API{byName: map[string][]*route{}, shared: map[string]*shape{}, patterns: http.NewServeMux()}
	a.config = apiConfig{
		title: "API", version: "1.0.0", specPath: "/openapi.json", docsPath: "/docs",
		renderer: ProblemErrors, codec: standardCodec{}, invalidStatus: http.StatusUnprocessableEntity,
	}
	for _, o := range options {
		o.applyAPI(&a.config)
	}
	must(page.CheckBase(a.config.baseURL), "rest.New")
	must(a.config.checkBase(), "rest.New")
	if a.config.fallback == nil {
		a.config.fallback = page.LimitOffset()
	}
	a.config.level = a.config.under(level{unknown: RefuseFields, paginator: a.config.fallback})
	a.root = newServices(a.config.providers, a.config.perRequest)
	a.schemas, a.raw = newDocument(a)
	must(a.serveDocument(), "rest.New")
	return a
}

// Register adds a controller. The options override those that the controller sets itself.
//
// Register panics if a route is described wrongly: an invalid tag, a path that another route
// has already, an authenticator that cannot be documented. The message names the route and the
// mistake.
func (a *API) Register(c Controller, options ...ControllerOption) {
	a.register(c, a.describe(c, options))
}

// describe asks a controller for its routes.
func (a *API) describe(c Controller, options []ControllerOption) *Routes {
	if c == nil {
		panic("rest: the controller that is registered is nil")
	}
	r := &Routes{controller: c, services: a.root.root}
	c.Routes(r)
	said := controllerConfig{}
	for _, o := range options {
		o.applyController(&said)
	}
	r.config.override(said)
	return r
}

func (a *API) register(c Controller, r *Routes) {
	namespace := typeWord(c)
	if named, ok := c.(interface{ RestName(registered any) string }); ok {
		namespace = cmp.Or(exported(named.RestName(c)), namespace)
	}
	if r.config.namespace != nil {
		namespace = *r.config.namespace
	}
	for _, e := range r.overridden() {
		place := fmt.Sprintf("%T: %s %s", c, strings.Join(e.methods, ","), r.config.prefix+e.path)
		rt, err := a.compile(e, c, r.config, namespace)
		must(err, place)
		must(a.add(rt, r.config), place)
		if e.resolved != nil {
			e.resolved(rt)
		}
	}
	must(a.schemas.settle(), fmt.Sprintf("%T", c))
}

// overridden returns the entries, without the inherited ones that one of r's own entries
// overrides.
func (r *Routes) overridden() []*entry {
	var all []*entry
	for _, e := range r.entries {
		if e.inherited {
			left := *e
			left.methods = slices.DeleteFunc(slices.Clone(e.methods), func(m string) bool {
				return slices.ContainsFunc(r.entries, func(o *entry) bool { return !o.inherited && o.overrides(m, e.path) })
			})
			if len(left.methods) == 0 {
				continue
			}
			e = &left
		}
		all = append(all, e)
	}
	return all
}

// overrides reports whether the entry matches every request of the inherited route with this
// method and path, whatever the parameters are called. A path that cannot be parsed overrides
// nothing; a later check refuses it and names the route.
func (e *entry) overrides(method, path string) bool {
	own, err := parsePath("", e.path)
	if err != nil || !slices.Contains(e.methods, method) {
		return false
	}
	inherited, err := parsePath("", path)
	return err == nil && own.slash == inherited.slash && slices.EqualFunc(own.segments, inherited.segments, segment.covers)
}

// add makes the API serve the route.
func (a *API) add(rt *route, config controllerConfig) error {
	unique := config.uniqueIDs == nil || *config.uniqueIDs
	if err := a.schemas.operations(rt, unique); err != nil {
		return err
	}
	var h http.Handler = http.HandlerFunc(rt.serve)
	for _, m := range slices.Backward(slices.Concat(config.middleware, rt.entry.config.middleware)) {
		h, rt.wrapped = m(h), true
	}
	for _, method := range rt.methods {
		if err := a.mount(method, rt, h); err != nil {
			return err
		}
	}
	a.routes = append(a.routes, rt)
	a.byName[rt.name] = append(a.byName[rt.name], rt)
	return nil
}

// ServeHTTP answers a request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.ready.Do(a.build)
	if timeout := a.config.bounds.UnreadTimeout; timeout > 0 && r.ContentLength != 0 {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(timeout)) // a recorder has none
	}
	if a.config.basePath != "" {
		r = a.public(r)
	}
	a.handler.ServeHTTP(w, r)
}

func (a *API) build() {
	a.hideSecrets()
	a.handler = http.HandlerFunc(a.dispatch)
	for _, m := range slices.Backward(a.config.middleware) {
		a.handler = m(a.handler)
	}
}

// hideSecrets keeps the API keys of all routes out of the links that each route writes: a
// client may send its key with every request, also to routes that do not ask for it.
func (a *API) hideSecrets() {
	var all []string
	for _, rt := range a.routes {
		all = append(all, rt.secrets...)
	}
	for _, rt := range a.routes {
		for _, name := range all {
			if !slices.Contains(rt.secrets, name) && !slices.Contains(rt.input.known, name) {
				rt.secrets = append(rt.secrets, name)
			}
		}
	}
}

// serveDocument serves the OpenAPI document and the HTML page that shows it.
func (a *API) serveDocument() error {
	if a.config.specPath == "" {
		return nil
	}
	text := sync.OnceValues(a.OpenAPI) // no route is registered after the first request
	err := a.plainHandler(http.MethodGet, a.config.specPath, func(w http.ResponseWriter, r *http.Request) {
		b, err := text()
		if err != nil {
			a.writeError(w, r, a.answerOf(r, err, "OpenAPI"))
			return
		}
		w.Header().Set("Content-Type", "application/vnd.oai.openapi+json;version=3.1")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(b)
	})
	if err != nil || a.config.docsPath == "" {
		return err
	}
	missing := func(w http.ResponseWriter, r *http.Request) { a.writeError(w, r, NotFound("")) }
	ui := docsui.Page(a.config.basePath+a.config.docsPath, beside(a.config.docsPath, a.config.specPath), a.config.title,
		missing)
	// Register each address by itself: a pattern for everything below base would conflict with
	// a route such as /{tenant}/books.
	base := strings.TrimSuffix(a.config.docsPath, "/")
	for _, path := range []string{base, base + "/", base + "/assets/{version}/{file}"} {
		if path == "" {
			continue
		}
		if err := a.plainHandler(http.MethodGet, path, ui.ServeHTTP); err != nil {
			return err
		}
	}
	return nil
}

// beside returns a relative link from one path to another. The link works below any prefix that
// a proxy before the API removes.
func beside(from, to string) string {
	up := strings.Count(strings.Trim(from, "/"), "/")
	return strings.Repeat("../", up) + strings.TrimPrefix(to, "/")
}

// Huma returns the underlying huma.API, to register operations with huma itself. They share
// the document, the schemas, the routes and the error format. huma reads their input by its
// own rules: it accepts a body that has a key twice, and its defaults override an explicit
// zero.
//
// huma only documents the security of an operation. It does not know the API's authenticators,
// throttles and permissions. So registering an operation panics if the API has any of these,
// unless the operation went through [Guard].
func (a *API) Huma() huma.API {
	must(a.schemas.settle(), "API.Huma")
	return a.raw
}

// Routes returns the routes of the API in registration order, for example to list them.
func (a *API) Routes() []RouteInfo {
	all := make([]RouteInfo, 0, len(a.routes))
	for _, rt := range a.routes {
		info := *rt.info
		info.Methods = slices.Clone(rt.methods)
		all = append(all, info)
	}
	return all
}

// RouteInfo describes a route.
type RouteInfo struct {
	// Name is the route's name for [API.Reverse], such as "Books.get". It is empty for the
	// OpenAPI document and the pages that show it.
	Name string
	// Methods are the route's methods in the order of registration. The HEAD that comes with a
	// GET is not listed.
	Methods []string
	// Path is the path as the document writes it, with the prefix: "/books/{id}".
	Path string
	// Controller is the type of the registered controller.
	Controller reflect.Type
}
