package rest

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"github.com/spoolhq/spool/rest/internal/fault"
)

// Error is an error that decides the answer. Handlers, permissions, authenticators and hooks
// return it. Any other error is logged and answered 500, without its text.
type Error struct {
	// Status is the HTTP status.
	Status int
	// Code is a stable word for programs. Defaults to a word made of the status text, such as
	// "not_found".
	Code string
	// Detail is a text for people. It is sent. Defaults to the status text.
	Detail string
	// Body, if set, replaces the whole body of the answer, whatever the renderer. It is in the
	// document only if the route declares it with [Returns].
	Body any
	// Header is added to the headers of the answer.
	Header http.Header
	// Faults are the mistakes in the input.
	Faults []Fault
	// Err is logged and never sent.
	Err error

	// bodyName is the name of the route's body in [DetailErrors].
	bodyName string
	// mismatch marks an error of checkBody: the handler's answer is not one that the route
	// declares. It is the only 500 whose detail is sent; the detail names two types and no
	// value.
	mismatch bool
}

// Fault is one mistake in a request: the place, the broken rule, and the limits of the rule.
// It never has the value that was sent. Its fields are
//
//	In      string         // "path", "query", "header", "cookie", "body", "form" or "file"
//	Path    []any          // from In to the value: "tags", 1 is its second tag
//	Kind    string         // a word for programs, such as "missing"
//	Message string         // for people, with the place as its subject: "is required"
//	Limits  map[string]any // what the value was held against, or nil
//
// Location returns the place as "body.tags[1]". Pointer returns the place below In as
// "/tags/1".
type Fault = fault.Fault

// ErrorRenderer writes errors as bodies. It must be safe for concurrent use.
type ErrorRenderer interface {
	// Render returns the content type and the body of an error. The body is encoded as JSON.
	Render(r *http.Request, e *Error) (contentType string, body any)
	// Document returns the content type and the type of all error bodies, for the document.
	Document() (contentType string, body reflect.Type)
}

// Error returns the detail and the text of Err.
func (e *Error) Error() string {
	if e.Err != nil {
		return e.detail() + ": " + e.Err.Error()
	}
	return e.detail()
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an error with a status and a detail, which is sent. An error that format
// wraps with %w is not kept: its text becomes part of the detail. Use the Err field for text
// that the client must not see.
func Errorf(status int, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Status: status, Detail: err.Error()}
}

// NotFound returns a 404 error. An empty detail means "Not found.".
func NotFound(detail string) *Error {
	if detail == "" {
		detail = "Not found."
	}
	return &Error{Status: http.StatusNotFound, Detail: detail}
}

// Conflict returns a 409 error.
func Conflict(detail string) *Error { return &Error{Status: http.StatusConflict, Detail: detail} }

// Invalid returns a 422 error with faults that a handler found itself, in addition to the
// checks of the input's tags.
func Invalid(faults ...Fault) *Error {
	return &Error{
		Status: http.StatusUnprocessableEntity, Code: "validation_failed", Detail: "The request is not valid.",
		Faults: faults,
	}
}

func (e *Error) detail() string { return cmp.Or(e.Detail, http.StatusText(e.Status)) }

func (e *Error) code() string {
	if e.Code != "" {
		return e.Code
	}
	return codeOf(e.Status)
}

// codeMalformed is the code for a body that cannot be parsed.
const codeMalformed = "malformed_body"

// codeUnauthorized is the code for a request that no authenticator accepts.
const codeUnauthorized = "unauthorized"

// codeWords replaces the characters of a status text that a code must not have.
var codeWords = strings.NewReplacer(" ", "_", "-", "_", "'", "")

// codeOf returns the code for a status, such as "not_found".
func codeOf(status int) string { return codeWords.Replace(strings.ToLower(http.StatusText(status))) }

// asError returns the [Error] in the chain of err, or nil.
func asError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return nil
}

// must panics if err is not nil. The message has the place of the registration and the
// mistake.
func must(err error, place string) {
	if err != nil {
		panic(fmt.Sprintf("rest: %s: %v", place, err))
	}
}

func addAll(to, from http.Header) {
	for name, values := range from {
		for _, v := range values {
			to.Add(name, v)
		}
	}
}

// errNoRoute is the error of helpers that are called outside of a request.
var errNoRoute = errors.New("there is no request in this context: it is not the one that the handler was given")

// ErrNotFound is the error that a loader returns, possibly wrapped, for an object that does
// not exist.
var ErrNotFound = errors.New("not found")
