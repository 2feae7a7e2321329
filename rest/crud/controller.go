package crud

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/query/driver"
)

// Controller is the controller of a model. Register it as it is, or embed it in a controller of
// the program, which then has its routes. A controller with more routes inherits them first:
//
//	func (c *Books) Routes(r *rest.Routes) {
//		r.Inherit(&c.Controller)
//		rest.Post(r, "/{int:id}/publish", c.publish)
//	}
type Controller[T, K any] struct{ core *core[T, K] }

// core is the compiled configuration of a controller.
type core[T, K any] struct {
	config  Config[T]
	model   *model
	service Service[T, K]
	name    string
	routes  []Route

	path        string
	parents     []*driver.Field
	parentNames []string      // their names in the path
	lookup      *driver.Field // nil means the key
	kind        kind

	create, update, patch Body[T]
	out                   Answer[T]
	list                  []rest.RouteOption
	versions              Versions
}

// New returns the controller of the model T, whose rows are in store. It panics if the
// configuration is invalid; the message names the mistake.
func New[T, K any](store Store[T, K], config Config[T]) Controller[T, K] {
	return NewWith[T, K](NewService(store), config)
}

// NewWith is like [New], with a service of the program.
func NewWith[T, K any](service Service[T, K], config Config[T]) Controller[T, K] {
	c := &core[T, K]{config: config, service: service}
	must(c.compile(), fmt.Sprintf("crud.New of %v", reflect.TypeFor[T]()))
	return Controller[T, K]{c}
}

// Service returns the controller's service.
func (c Controller[T, K]) Service() Service[T, K] { return c.core.service }

// Get returns a row for an endpoint of the program, as the route find_one does. It returns a
// 404 error if the row does not exist or is not in the lists that the caller sees. It also
// checks the route's object permissions.
func (c Controller[T, K]) Get(ctx context.Context, key K) (T, error) {
	scope, err := c.core.scope(ctx)
	if err != nil {
		var none T
		return none, err
	}
	return rest.GetOrNotFound(ctx, c.core.service.GetOne, Ref[K]{Key: key, Scope: scope})
}

// Routes implements [rest.Controller].
func (c Controller[T, K]) Routes(r *rest.Routes) {
	if c.core == nil {
		panic("crud: a Controller is made by crud.New")
	}
	c.core.register(r)
}

// RestName returns the name of the model if the controller is registered by itself: another one
// that embeds it has a name of its own.
func (c Controller[T, K]) RestName(registered any) string {
	switch registered.(type) {
	case Controller[T, K], *Controller[T, K]:
		return c.core.model.name
	default:
		return ""
	}
}

// register adds the routes to r. The core keeps nothing of r, because it may be in several
// APIs.
func (c *core[T, K]) register(r *rest.Routes) {
	s := &site{routes: r, path: c.path, parents: c.parentNames, kind: c.kind}
	var find link
	location := func(at address) string {
		if find == nil {
			return ""
		}
		url, err := find(at)
		if err != nil {
			return ""
		}
		return url
	}
	change := func(route Route, with Body[T]) func(context.Context, address, reflect.Value) (*rest.Reply, error) {
		return func(ctx context.Context, at address, body reflect.Value) (*rest.Reply, error) {
			return c.doChange(ctx, at, route, func(ctx context.Context, row *T) error { return with.apply(ctx, body, row) })
		}
	}
	for _, route := range c.routes {
		options := c.options(route)
		switch route {
		case Create:
			add(s, shape{body: c.create.document()}, func(
				ctx context.Context, at address, body reflect.Value,
			) (*rest.Reply, error) {
				return c.doCreate(ctx, at, body, location)
			}, options, rest.Post)
		case List:
			add(s, shape{}, c.doList, options, rest.List)
		case FindOne:
			find = add(s, shape{row: true}, c.doFind, options, rest.Get)
		case Update:
			add(s, shape{row: true, body: c.update.document()}, change(Update, c.update), options, rest.Put)
		case Patch:
			add(s, shape{row: true, body: c.patch.document()}, change(Patch, c.patch), options, rest.Patch)
		case Delete:
			add(s, shape{row: true}, func(ctx context.Context, at address, _ reflect.Value) (rest.NoContent, error) {
				return rest.NoContent{}, c.doDelete(ctx, at)
			}, options, rest.Delete)
		}
	}
}

// options returns the options of a route. Those of the configuration come last.
func (c *core[T, K]) options(route Route) []rest.RouteOption {
	words := map[Route][2]string{
		Create: {"create", "Create " + article(c.name)}, List: {"list", "List of " + c.name},
		FindOne: {"get", "Get " + article(c.name)}, Update: {"update", "Replace " + article(c.name)},
		Patch: {"patch", "Change " + article(c.name)}, Delete: {"delete", "Delete " + article(c.name)},
	}[route]
	options := []rest.RouteOption{rest.Name(words[0]), rest.Summary(words[1]), rest.BodyName("data")}
	if text := c.describe(route); text != "" {
		options = append(options, rest.Description(text))
	}
	switch route {
	case Create:
		options = append(options, c.out.returns(http.StatusCreated), rest.Fails(http.StatusConflict))
		if len(c.parents) > 0 {
			options = append(options, rest.Fails(http.StatusNotFound))
		}
	case List:
		options = append(options, c.list...)
	case FindOne:
		options = append(options, c.out.returns(http.StatusOK))
		if c.versions != NoVersions {
			options = append(options, rest.Returns[rest.NoContent](http.StatusNotModified))
		}
	case Update, Patch:
		options = append(options, c.out.returns(http.StatusOK), rest.Fails(http.StatusConflict))
	case Delete:
		options = append(options, rest.Fails(http.StatusConflict))
	}
	if route == Update || route == Patch || route == Delete {
		options = append(options, rest.Fails(http.StatusPreconditionFailed))
		if c.config.RequireMatch {
			options = append(options, rest.Fails(http.StatusPreconditionRequired))
		}
	}
	return slices.Concat(options, c.headers(route), c.config.Options, c.config.RouteOptions[route])
}

// headers returns options that document the headers of a route.
func (c *core[T, K]) headers(route Route) []rest.RouteOption {
	var options []rest.RouteOption
	if route == Create && slices.Contains(c.routes, FindOne) {
		options = append(options, rest.SendsHeader("Location", "The address of the new "+c.name+"."))
	}
	if c.versions == NoVersions {
		return options
	}
	const etag = "ETag"
	switch route {
	case Create:
		options = append(options, rest.SendsHeader(etag, "The version of the "+c.name+"."))
	case FindOne:
		options = append(options, rest.SendsHeader(etag, "The version of the "+c.name+"."),
			rest.ReadsHeader("If-None-Match", "An ETag that the client has. The answer is 304 if the "+c.name+" still has it."))
	case Update, Patch:
		options = append(options, rest.SendsHeader(etag, "The version that was written."))
	}
	if route == Update || route == Patch || route == Delete {
		doc := "The ETag of the version to change. Nothing is written if the " + c.name + " has another ETag now."
		if c.config.RequireMatch {
			doc += " Without it the answer is 428."
		}
		options = append(options, rest.ReadsHeader("If-Match", doc),
			rest.SendsHeader(etag, "The version of the "+c.name+" as it is now.", http.StatusPreconditionFailed))
	}
	return options
}

// describe returns a description of what the route's parameters do not show.
func (c *core[T, K]) describe(route Route) string {
	var text string
	if c.lookup != nil && route != Create && route != List {
		text = fmt.Sprintf("The id in the path is the %s of the %s.", c.model.jsonName(c.lookup.Name), c.name)
	}
	if c.versions == NoVersions {
		return text
	}
	if text != "" {
		text += " "
	}
	switch route {
	case FindOne:
		return text +
			"The answer has an ETag. A request with this ETag in If-None-Match is answered 304 if nothing has changed."
	case Update, Patch, Delete:
		return text + "With an ETag in If-Match, nothing is written if the " + c.name +
			" has changed since; the answer is 412."
	default:
		return text
	}
}

var errRoutes = errors.New("no route is allowed")
