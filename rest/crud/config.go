package crud

import (
	"context"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/query"
)

// Route is one of the routes of a controller.
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

// Config configures the controller of a model. The zero value is a controller with all routes.
type Config[T any] struct {
	// AllowedRoutes are the routes of the controller. Other methods are answered 405.
	//
	// Defaults to all routes.
	AllowedRoutes []Route

	// Lookup is the logical name of the field that identifies a row in the path, such as slug.
	// It is a whole number, a text or a UUID. It should be unique: if several rows match, the
	// one with the smallest key is used.
	//
	// Defaults to the key.
	Lookup string

	// Path is put before the paths of the routes, after [rest.Prefix]. A parameter in it has
	// the logical name of a field with the tag crud:"parent". That field is filled from the
	// path, and limits the rows: /orgs/{int:org_id}/books creates and finds only books of that
	// organization. There may be any number of parameters.
	//
	// Defaults to none.
	Path string

	// Pagination configures filters, ordering, searching and paging of the list.
	Pagination Pagination

	// Create, Update and Patch are the types of request bodies, made by [Input].
	//
	// Create defaults to the model. Update defaults to Create, or to the model if Create is
	// not set. Patch defaults to the model with all fields optional.
	Create, Update, Patch Body[T]

	// Out is the type of answers, made by [Output].
	//
	// Defaults to the model without its hidden fields.
	Out Answer[T]

	// Options are options of all routes, and RouteOptions those of one route. They override
	// the controller's own options, such as the name and summary of a route.
	Options      []rest.RouteOption
	RouteOptions map[Route][]rest.RouteOption

	// Hooks are called before and after writes.
	Hooks Hooks[T]

	// Versions says how answers get an ETag. A client may send it in If-Match to write only
	// the version that it has seen (412 otherwise), and in If-None-Match to read only a newer
	// one (304 otherwise).
	//
	// Defaults to [VersionField].
	Versions Versions

	// RequireMatch refuses an update, patch or delete without If-Match (428).
	//
	// Defaults to false.
	RequireMatch bool

	// Name is the model's name in summaries and messages.
	//
	// Defaults to the name of its type.
	Name string
}

// Pagination configures the list of a model.
type Pagination struct {
	// Filter is a query.Filter.
	//
	// Defaults to none.
	Filter query.Option

	// Searching are the fields for the query parameter search, as for query.Search.
	//
	// Defaults to none.
	Searching []string

	// Ordering are the fields that a client may order by, as for query.Order.
	//
	// Defaults to none.
	Ordering []string

	// DefaultOrdering is the order of the list if the client asks for none. The key is
	// appended.
	//
	// Defaults to the fields of Ordering, or to the key if Ordering is empty.
	DefaultOrdering []string

	// Paginator is the paginator of the list: page.Number(page.Size(20)), or page.None() for a
	// plain array.
	//
	// Defaults to the paginator that the route inherits (see rest.Paginate).
	Paginator page.Paginator

	// FilterSchema is another name for Filter; see compat.go. New panics if both are set.
	FilterSchema query.Option

	// Klass and PaginatorKwargs describe the paginator by name; see compat.go. New panics if
	// they are set together with Paginator. Klass is a page.Paginator, a function of package
	// page such as page.Number, or a name. PaginatorKwargs are keyword arguments such as
	// page_size (see page.Builtin); they must not be set if Klass is a page.Paginator.
	//
	// Klass defaults to page.Number if PaginatorKwargs is set.
	Klass           any
	PaginatorKwargs map[string]any
}

// Versions says how the ETag of a row is made.
type Versions int

// The sources of ETags.
const (
	// VersionField uses the field with the tag crud:"version": a whole number that each
	// update and patch increments, or a time.Time that they set. A model without this field
	// has no ETags.
	VersionField Versions = iota
	// VersionHash uses a hash of the columns that the model shows. Hidden columns are not
	// included, because a caller who has the row could find their values by trying until the
	// hash matches. This risk exists for columns that only [Config.Out] leaves out.
	VersionHash
	// NoVersions never sends an ETag. If-Match with an ETag then never matches.
	NoVersions
)

// Hooks are functions that are called before and after writes, in the transaction of the write
// and with its context. An error rolls the write back and is answered like an error of a
// handler. Do effects outside of the store, such as mail, only after the request is answered.
type Hooks[T any] struct {
	// BeforeCreate may change the row that will be stored.
	BeforeCreate func(ctx context.Context, row *T) error
	// AfterCreate gets the stored row, with its key.
	AfterCreate func(ctx context.Context, row T) error
	// BeforeUpdate is called for update and patch. It may change next.
	BeforeUpdate func(ctx context.Context, current T, next *T) error
	// AfterUpdate is called for update and patch, with the old row and the stored row.
	AfterUpdate func(ctx context.Context, before, row T) error
	// BeforeDelete gets the row that will be deleted.
	BeforeDelete func(ctx context.Context, row T) error
	// AfterDelete gets the deleted row.
	AfterDelete func(ctx context.Context, row T) error
}
