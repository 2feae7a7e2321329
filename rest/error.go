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

// Error is an error with an answer. Handlers, permissions, authenticators and hooks return one to
// decide what the client sees. Any other error is logged and answered 500, without its text.
type Error struct {
	// Status is the HTTP status.
	Status int
	// Code is a stable word for programs. Defaults to one made of the status text, such as
	// "not_found".
	Code string
	// Detail is for a person and is sent. Defaults to the status text.
	Detail string
	// Body, when it is set, is the whole body of the answer, whatever the renderer. The
	// document knows it by [Returns] only.
	Body any
	// Header is added to the answer's.
	Header http.Header
	// Faults are what is wrong with the input.
	Faults []Fault
	// Err is what is logged and never sent.
	Err error

	// bodyName is what the body of the route is called.
	bodyName string
	// mismatch says that it is our own about an answer that its route does not declare: the
	// one 500 whose detail is sent. It names two types and no value.
	mismatch bool
}

// Fault is one mistake in a request: where it is, which rule it breaks, and the limits of the rule.
// It never has the value that was sent. Its fields are
//
//	In      string         // "path", "query", "header", "cookie", "body", "form" or "file"
//	Path    []any          // from In to the value: "tags", 1 is its second tag
//	Kind    string         // a word for programs, such as "missing"
//	Message string         // for people, with the place as its subject: "is required"
//	Limits  map[string]any // what the value was held against, or nil
//
// Location returns the place as "body.tags[1]", and Pointer the one below In as "/tags/1".
type Fault = fault.Fault

// ErrorRenderer writes errors as bodies. It is safe for concurrent use.
type ErrorRenderer interface {
	// Render returns the content type and the body of an error. Body is encoded as JSON.
	Render(r *http.Request, e *Error) (contentType string, body any)
	// Document returns the type of the bodies and their content type, for the document.
	Document() (contentType string, body reflect.Type)
}

// Error returns the detail, and the error behind it.
func (e *Error) Error() string {
	if e.Err != nil {
		return e.detail() + ": " + e.Err.Error()
	}
	return e.detail()
}

// Unwrap returns the error behind it.
func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an error with a status and a detail, which is sent. A %w in format is
// kept for the log, but its text is part of the detail: use the Err field for what the
// client must not see.
func Errorf(status int, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Status: status, Detail: err.Error()}
}

// NotFound is a 404. An empty detail stands for "Not found.".
func NotFound(detail string) *Error {
	if detail == "" {
		detail = "Not found."
	}
	return &Error{Status: http.StatusNotFound, Detail: detail}
}

// Conflict is a 409.
func Conflict(detail string) *Error { return &Error{Status: http.StatusConflict, Detail: detail} }

// Invalid is a 422 with faults that a handler found itself, beyond what its input says by
// its tags.
func Invalid(faults ...Fault) *Error {
	return &Error{Status: http.StatusUnprocessableEntity, Code: "validation_failed", Detail: "The request is not valid.", Faults: faults}
}

func (e *Error) detail() string { return cmp.Or(e.Detail, http.StatusText(e.Status)) }

func (e *Error) code() string {
	if e.Code != "" {
		return e.Code
	}
	return codeOf(e.Status)
}

// codeMalformed is the code of bodies that cannot be read at all.
const codeMalformed = "malformed_body"

// codeUnauthorized is the code of requests that no authenticator knew.
const codeUnauthorized = "unauthorized"

// codeWords makes a code of a status text.
var codeWords = strings.NewReplacer(" ", "_", "-", "_", "'", "")

// codeOf makes a code of a status: "not_found".
func codeOf(status int) string { return codeWords.Replace(strings.ToLower(http.StatusText(status))) }

// asError finds the Error in err.
func asError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return nil
}

// must panics with the place of a registration and what is wrong with it.
func must(err error, place string) {
	if err != nil {
		panic(fmt.Sprintf("rest: %s: %v", place, err))
	}
}

// addAll adds headers.
func addAll(to, from http.Header) {
	for name, values := range from {
		for _, v := range values {
			to.Add(name, v)
		}
	}
}

// errNoRoute is what helpers answer outside of a request.
var errNoRoute = errors.New("there is no request in this context: it is not the one that the handler was given")

// ErrNotFound is what a loader returns for an object that is not there, possibly wrapped.
var ErrNotFound = errors.New("not found")
