package page

import (
	"context"
	"net/http"
	"reflect"
	"strconv"

	"github.com/spoolhq/spool/rest/internal/bind"
	"github.com/spoolhq/spool/rest/internal/fault"
	"github.com/spoolhq/spool/rest/internal/option"
	"github.com/spoolhq/spool/rest/query/driver"
)

// The types in the methods of a [Custom].
type (
	// Param is a query parameter for the document of the API. A [Reader] derives them from its
	// struct. Only Name, In, Type, Required, Default and Doc are used.
	Param = bind.Param

	// Fault is one mistake in a request. It is rest.Fault, where its fields are listed.
	Fault = fault.Fault
)

// Input is a request whose query parameters can be read. A [Reader] reads them into a struct
// and reports the faults.
type Input bind.Input

// NewInput returns the Input of a request, for tests of a [Custom].
func NewInput(r *http.Request) *Input { return (*Input)(bind.NewInput(r, nil)) }

// Request returns the request.
func (in *Input) Request() *http.Request { return (*bind.Input)(in).Request() }

// Query returns the text of a query parameter. ok is true only if the parameter was sent
// exactly once and is well formed.
func (in *Input) Query(name string) (text string, ok bool) { return (*bind.Input)(in).Query(name) }

// Paginator cuts lists into pages. It is a route option. All requests share it, so it must be
// safe for concurrent use.
type Paginator interface {
	option.Route
	Custom
}

// Custom is a program's own paginator; see [New].
type Custom interface {
	// Params returns the query parameters that Page reads, for the document of the API. It
	// returns the same at each call. A [Reader] has them.
	Params() []Param

	// Shape returns the body of a page, for the document of the API. It returns the same at
	// each call.
	Shape() Shape

	// Page reads its parameters from in and returns the page of l that they ask for. If it
	// returns faults, the answer is 422 and the result is ignored. A [*PastEndError] is
	// answered 404; any other error is answered like an error of a handler.
	//
	// Page must be safe for concurrent use.
	Page(ctx context.Context, in *Input, l *driver.List, links Links) (Result, []Fault, error)
}

// ModelChecker is a [Custom] that checks at registration whether it can page lists of a model.
type ModelChecker interface {
	// CheckModel returns an error that names what the paginator needs and the model lacks.
	CheckModel(m *driver.Model) error
}

// Ender is a [Custom] that may answer 404.
type Ender interface {
	// MayBeNotFound reports whether Page may return a [*PastEndError], so that the document
	// lists the 404. It returns the same at each call.
	MayBeNotFound() bool
}

// HeaderDocumenter is a [Custom] whose pages have headers.
type HeaderDocumenter interface {
	// Headers returns the headers that a [Result] may have, for the document of the API. It
	// returns the same at each call.
	Headers() []Header
}

// Header is a header of a page, for the document of the API.
type Header struct {
	// Name is the header's name, such as Link.
	Name string

	Doc string
}

// Shape describes the body of a page.
type Shape struct {
	// Name is the first part of the body's type name in the document; the name of the item
	// type follows. If it is empty, the body is the plain array of items and has no
	// properties.
	Name string

	// Properties are the properties of the body, in the order in which they are written.
	Properties []Property
}

// Property is one property of the body of a page. It is always present.
type Property struct {
	// Name is the property's JSON name.
	Name string

	// Type is the type of the value. Nil means the list of items.
	Type reflect.Type

	// Nullable is true if the value may be null.
	Nullable bool

	Doc string
}

// Result is one page.
type Result struct {
	// Items is the []T of the page, for a list of T. It is never nil.
	Items any

	// N is the length of Items.
	N int

	// Body returns the body for the items. The items may have been converted to another type,
	// in the same number and order. If Body is nil, the items are the body.
	Body func(items any) any

	// Header is added to the headers of the answer. It may be nil.
	Header http.Header
}

// New returns a route option for a program's own paginator.
func New(c Custom) Paginator { return custom{c} }

type custom struct{ Custom }

// RestRoute marks the type as a route option.
func (custom) RestRoute(option.Seal) {}

// CheckModel returns nil if the paginator is not a [ModelChecker].
func (c custom) CheckModel(m *driver.Model) error {
	if checker, ok := c.Custom.(ModelChecker); ok {
		return checker.CheckModel(m)
	}

	return nil
}

// MayBeNotFound returns false if the paginator is not an [Ender].
func (c custom) MayBeNotFound() bool {
	ender, ok := c.Custom.(Ender)

	return ok && ender.MayBeNotFound()
}

// Headers returns nil if the paginator is not a [HeaderDocumenter].
func (c custom) Headers() []Header {
	if documenter, ok := c.Custom.(HeaderDocumenter); ok {
		return documenter.Headers()
	}

	return nil
}

// PastEndError says that the list does not have the requested page. The answer is 404.
type PastEndError struct {
	// Page is the requested number, counted from 1.
	Page int64
}

// Error returns a text that may be sent to the client.
func (e *PastEndError) Error() string {
	return "Invalid page. " + strconv.FormatInt(e.Page, 10) + " That page contains no results"
}
