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

// What a [Custom] speaks in.
type (
	// Param is a query parameter for the document of the API. A [Reader] makes them of its
	// struct; Name, In, Type, Required, Default and Doc are the fields that matter.
	Param = bind.Param

	// Fault is one thing that is wrong with a request: rest.Fault, which lists its fields.
	Fault = fault.Fault
)

// Input is a request as parameters are read from it. A [Reader] reads a struct of them, and
// reports what is wrong.
type Input bind.Input

// NewInput makes the Input of a request, for tests of a [Custom].
func NewInput(r *http.Request) *Input { return (*Input)(bind.NewInput(r, nil)) }

// Request returns the request.
func (in *Input) Request() *http.Request { return (*bind.Input)(in).Request() }

// Query returns the text of a query parameter, and true only when it was sent exactly once and
// is well formed.
func (in *Input) Query(name string) (text string, ok bool) { return (*bind.Input)(in).Query(name) }

// Paginator cuts lists into pages. It is a route option, its value is shared by all
// requests, and it is safe for concurrent use.
type Paginator interface {
	option.Route
	Custom
}

// Custom is what a program implements to have a paginator of its own; see [New].
type Custom interface {
	// Params are the query parameters that Page reads, for the document of the API. They
	// are the same at each call; a [Reader] has them.
	Params() []Param

	// Shape is the body of a page, for the document of the API. It is the same at each
	// call.
	Shape() Shape

	// Page reads its parameters from in and the page that they ask for from l. Faults are
	// answered 422 and make the result meaningless. An error that is a [*PastEndError] is
	// answered 404, another one as the error of a handler is.
	//
	// It is safe for concurrent use.
	Page(ctx context.Context, in *Input, l *driver.List, links Links) (Result, []Fault, error)
}

// ModelChecker is a [Custom] that can tell at registration whether it is fit for lists of
// a model.
type ModelChecker interface {
	// CheckModel returns an error that says what of the paginator the model does not have.
	CheckModel(m *driver.Model) error
}

// Ender is a [Custom] that has pages which may not be there.
type Ender interface {
	// MayBeNotFound reports whether Page may return a [*PastEndError], so that the document
	// of the API has its 404. It is the same at each call.
	MayBeNotFound() bool
}

// HeaderDocumenter is a [Custom] whose pages have headers.
type HeaderDocumenter interface {
	// Headers returns the headers that a [Result] may have, for the document of the API. The
	// result is the same at each call.
	Headers() []Header
}

// Header is a header of a page, for the document of the API.
type Header struct {
	// Name is its name, such as Link.
	Name string

	// Doc describes it.
	Doc string
}

// Shape is the body of a page.
type Shape struct {
	// Name is the name of the body's type, to which that of the items is added in the
	// document. Empty: the body is the plain array of items, and has no properties.
	Name string

	// Properties are those of the body, in the order in which they are written.
	Properties []Property
}

// Property is one member of the body of a page. It is always there.
type Property struct {
	// Name is its name in JSON.
	Name string

	// Type is the type of its value. Nil stands for the list of items.
	Type reflect.Type

	// Nullable is true when null may stand in place of a value.
	Nullable bool

	// Doc describes it.
	Doc string
}

// Result is one page.
type Result struct {
	// Items is the []T of the page, for a list of T. It is never nil.
	Items any

	// N is the length of Items.
	N int

	// Body makes the body of the answer of the items, which may have been mapped to
	// another type, in the same number and order. Nil: they are the body.
	Body func(items any) any

	// Header is added to the answer's. It may be nil.
	Header http.Header
}

// New makes a route option of a program's own paginator.
func New(c Custom) Paginator { return custom{c} }

type custom struct{ Custom }

// RestRoute makes a route option of it.
func (custom) RestRoute(option.Seal) {}

// CheckModel is nil when the paginator does not say.
func (c custom) CheckModel(m *driver.Model) error {
	if checker, ok := c.Custom.(ModelChecker); ok {
		return checker.CheckModel(m)
	}

	return nil
}

// MayBeNotFound is false when the paginator does not say.
func (c custom) MayBeNotFound() bool {
	ender, ok := c.Custom.(Ender)

	return ok && ender.MayBeNotFound()
}

// Headers is nil when the paginator does not say.
func (c custom) Headers() []Header {
	if documenter, ok := c.Custom.(HeaderDocumenter); ok {
		return documenter.Headers()
	}

	return nil
}

// PastEndError is a page that the list does not have. Its answer is a 404.
type PastEndError struct {
	// Page is the number that was asked for, counted from 1.
	Page int64
}

// Error says which page is not there. The text may be sent to the client.
func (e *PastEndError) Error() string {
	return "Invalid page. " + strconv.FormatInt(e.Page, 10) + " That page contains no results"
}
