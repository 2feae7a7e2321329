package rest

import (
	"net/http"
	"reflect"
	"strings"

	"github.com/spoolhq/spool/rest/internal/bind"
	"github.com/spoolhq/spool/rest/internal/fault"
)

// DetailErrors writes errors as Django Ninja does, for clients written for it: {"detail": ...}
// with a sentence, or with a list of the mistakes in the input. Each item of the list has the
// type, loc, msg and ctx of Pydantic. A fault with a message of the program keeps that
// message.
//
// For a fault in the body, the second item of loc is the name of the body; see [BodyName].
var DetailErrors ErrorRenderer = details{}

// DetailBody is the error body of [DetailErrors].
type DetailBody struct {
	Detail any `doc:"What happened: a sentence, or the list of mistakes in the request." json:"detail"`
}

// DetailFault is one mistake in a request, as part of a [DetailBody].
type DetailFault struct {
	// Type is Pydantic's word for the Kind of the [Fault], often the same word.
	Type string `json:"type"`
	// Loc is the fault's In, the name of the body if there is one, and the fault's Path.
	Loc []any `json:"loc"`
	// Msg is Pydantic's message for the mistake.
	Msg string `json:"msg"`
	// Ctx has the values that Msg mentions, such as a limit.
	Ctx map[string]any `json:"ctx,omitempty"`
}

// BodyName sets the name of the JSON body in [DetailErrors]. In Python, the body is a named
// argument: in
//
//	def create(self, item: Item)
//
// the name is "item", and a fault in its price has the loc ["body", "item", "price"]. With an
// empty name, the loc is ["body", "price"]. It is also that if the body's fields stand among
// the parameters of the input, as in Python.
//
// Defaults to the name of the body's type in snake case: "new_book" for NewBook. A list
// defaults to "items", any other type without a name to "data".
func BodyName(name string) Option { return levelOption(func(l *level) { l.bodyArg = &name }) }

// nameOfBody returns the name of the route's body in [DetailErrors], or "" for none.
func (rt *route) nameOfBody() string {
	b := rt.input.body
	switch {
	case b == nil || b.upload || len(b.spread) > 0:
		return ""
	case rt.bodyArg != nil:
		return *rt.bodyArg
	}
	t := behind(b.typ)
	name, _, _ := strings.Cut(t.Name(), "[")
	switch {
	case name != "":
		return bind.SnakeCase(name)
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Array:
		return "items"
	default:
		return "data"
	}
}

type details struct{}

func (details) Document() (contentType string, body reflect.Type) {
	return "application/json", reflect.TypeFor[DetailBody]()
}

func (details) Render(_ *http.Request, e *Error) (contentType string, body any) {
	if len(e.Faults) == 0 {
		return "application/json", &DetailBody{Detail: e.pythonDetail()}
	}
	faults := fault.Python(e.Faults, e.bodyName != "")
	list := make([]DetailFault, len(faults))
	for i, f := range faults {
		kind, message, ctx := f.Pydantic()
		list[i] = DetailFault{Type: kind, Loc: e.loc(f), Msg: message, Ctx: ctx}
	}
	return "application/json", &DetailBody{Detail: list}
}

// pythonDetail returns the detail in the words of Django Ninja.
func (e *Error) pythonDetail() string {
	switch {
	case e.Status == http.StatusUnauthorized && e.Code == codeUnauthorized:
		return "Unauthorized"
	case e.Status == http.StatusBadRequest && e.Code == codeMalformed:
		return "Cannot parse request body"
	case e.Status == http.StatusInternalServerError && !e.mismatch:
		return "A server error occurred."
	default:
		return e.detail()
	}
}

func (e *Error) loc(f Fault) []any {
	loc := make([]any, 0, len(f.Path)+2)
	loc = append(loc, f.In)
	if f.In == fault.Body && e.bodyName != "" {
		loc = append(loc, e.bodyName)
	}
	return append(loc, f.Path...)
}
