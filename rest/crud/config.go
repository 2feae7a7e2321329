package crud

import (
	"context"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/query"
)

// Route is one of the routes that a controller may have.
type Route string

// The routes.
const (
	Create  Route = "create"
	List    Route = "list"
	FindOne Route = "find_one"
	Update  Route = "update"
	Patch   Route = "patch"
	Delete  Route = "delete"
)

// AllRoutes returns the routes in the order in which they are registered.
func AllRoutes() []Route { return []Route{Create, List, FindOne, Update, Patch, Delete} }

// Config says what the controller of a model is like. The zero value is a controller
// with all routes.
type Config[T any] struct {
	// AllowedRoutes are the routes that there are. Another method is answered 405.
	//
	// Defaults to all of them.
	AllowedRoutes []Route

	// Lookup is the logical name of the field that finds a row by the path, such as slug. It
	// is a whole number, a text or a UUID, and should be unique: of several rows the one
	// with the least key is found.
	//
	// Defaults to the key.
	Lookup string

	// Path stands before the paths of the routes, and after [rest.Prefix]. A parameter has
	// the logical name of a field with the tag crud:"parent", which is then filled from the
	// path: /orgs/{int:org_id}/books creates books of that organization, and knows no
	// others. There may be any number of them.
	//
	// Defaults to nothing.
	Path string

	// Pagination says how lists are filtered, ordered, searched and cut into pages.
	Pagination Pagination

	// Create, Update and Patch are the types of bodies, made by [Input].
	//
	// Create defaults to the model itself, Update to Create when that is given and else to
	// the model, Patch to the model with all of its fields optional.
	Create, Update, Patch Body[T]

	// Out is the type of answers, made by [Output].
	//
	// Defaults to the model itself, without the fields that are only sent.
	Out Answer[T]

	// Options are options of all routes, and RouteOptions of one. They come after those of
	// the controller itself, and so override the name and summary of a route.
	Options      []rest.RouteOption
	RouteOptions map[Route][]rest.RouteOption

	// Hooks are called around writes.
	Hooks Hooks[T]

	// Versions says whether answers have an ETag, which a client may send back in If-Match
	// to write only what it has seen (412 otherwise), and in If-None-Match to read only what
	// it has not (304).
	//
	// Defaults to [VersionField].
	Versions Versions

	// RequireMatch refuses an update, a patch and a delete without If-Match (428).
	//
	// Defaults to false.
	RequireMatch bool

	// Name is what the model is called in summaries and messages.
	//
	// Defaults to the name of its type.
	Name string
}

// Pagination says what is done to the list of a model, in the order of its fields.
type Pagination struct {
	// Filter is a query.Filter, which narrows the list by itself.
	//
	// Defaults to none.
	Filter query.Option

	// Searching are the fields of the query parameter search, as query.Search takes them.
	//
	// Defaults to none.
	Searching []string

	// Ordering are the fields that a client may order by, as query.Order takes them.
	//
	// Defaults to none.
	Ordering []string

	// DefaultOrdering is the order of a list for which nobody asked for another one. The key
	// is added to its end.
	//
	// Defaults to the fields of Ordering, one after the other, and without any to the key.
	DefaultOrdering []string

	// Paginator cuts the list: page.Number(page.Size(20)), or page.None() for a plain array.
	//
	// Defaults to what the route inherits (see rest.Paginate).
	Paginator page.Paginator

	// FilterSchema is another name of Filter; see compat.go. New panics when both are given.
	FilterSchema query.Option

	// Klass and PaginatorKwargs say what Paginator says by names; see compat.go. New panics
	// when they are given beside it. Klass is a page.Paginator, the function of package page
	// that makes one, such as page.Number, or its name. PaginatorKwargs are its keyword
	// arguments, such as page_size (see page.Builtin), and are not for a page.Paginator, which
	// is made already.
	//
	// Klass defaults to page.Number when there are PaginatorKwargs.
	Klass           any
	PaginatorKwargs map[string]any
}

// Versions says where the ETag of a row comes from.
type Versions int

// The sources of ETags.
const (
	// VersionField is the field with the tag crud:"version", a whole number that is counted
	// up or a time.Time, which each update and patch raises. A model without one has no
	// ETags.
	VersionField Versions = iota
	// VersionHash is a hash of the columns that the model shows. Others are not in it: whoever
	// has the row could try their values until the hash is the same. That can be done with
	// what [Config.Out] leaves out.
	VersionHash
	// NoVersions never answers with an ETag. A condition on one then never holds.
	NoVersions
)

// Hooks are functions around writes. They are called in the transaction of the write, whose
// context they are given; an error refuses the request and leaves nothing written. It is
// answered as the error of a handler is: with a [rest.Error] it says how. What the world
// outside should see, such as mail, has to wait until the request is answered.
type Hooks[T any] struct {
	// BeforeCreate may change the row that will be stored.
	BeforeCreate func(ctx context.Context, row *T) error
	// AfterCreate is given the row as it is stored, with its key.
	AfterCreate func(ctx context.Context, row T) error
	// BeforeUpdate is called for update and patch. It may change next.
	BeforeUpdate func(ctx context.Context, current T, next *T) error
	// AfterUpdate is called for update and patch with what was and what is stored.
	AfterUpdate func(ctx context.Context, before, row T) error
	// BeforeDelete is given the row that will be deleted.
	BeforeDelete func(ctx context.Context, row T) error
	// AfterDelete is given the row that was deleted.
	AfterDelete func(ctx context.Context, row T) error
}
