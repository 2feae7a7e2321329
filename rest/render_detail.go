package rest

import (
	"net/http"
	"reflect"
	"strings"

	"github.com/spoolhq/spool/rest/internal/bind"
	"github.com/spoolhq/spool/rest/internal/fault"
)

// DetailErrors writes errors as Django Ninja does, for clients that were written for it:
// {"detail": ...} with a sentence, or with the list of what is wrong with the input. Each
// item of the list has the type, loc, msg and ctx of Pydantic. A fault with words of the
// program keeps them.
//
// The second step of the loc of a body is the name of the body, as [BodyName] says.
var DetailErrors ErrorRenderer = details{}

// DetailBody is the body of an error by [DetailErrors].
type DetailBody struct {
	Detail any `doc:"What happened: a sentence, or a list of what is wrong with the request." json:"detail"`
}

// DetailFault is one thing that is wrong with a request, in a [DetailBody].
type DetailFault struct {
	// Type is Pydantic's word for the kind of the [Fault], and often the same.
	Type string `json:"type"`
	// Loc is the fault's In, the name of the body, and the fault's Path.
	Loc []any `json:"loc"`
	// Msg is what Pydantic says of it.
	Msg string `json:"msg"`
	// Ctx has what Msg names, such as a limit.
	Ctx map[string]any `json:"ctx,omitempty"`
}

// BodyName sets what [DetailErrors] calls the JSON body, which has a name in Python: the
// body of
//
//	def create(self, item: Item)
//
// is "item", and a fault in its price has the loc ["body", "item", "price"]. An empty name
// leaves that step out: ["body", "price"]. So does a body whose fields stand among the
// parameters of the input, as they do in Python.
//
// Defaults to the name of the body's type in snake case: "new_book" for NewBook. A list is
// called "items", any other type without a name "data".
func BodyName(name string) Option { return levelOption(func(l *level) { l.bodyArg = &name }) }

// nameOfBody is what the body of the route is called.
func (rt *route) nameOfBody() string {
	b := rt.input.body
	switch {
	case b == nil || len(b.spread) > 0:
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

// pythonDetail is the detail in the words of Django Ninja.
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

// loc is where f is, for [DetailErrors].
func (e *Error) loc(f Fault) []any {
	loc := make([]any, 0, len(f.Path)+2)
	loc = append(loc, f.In)
	if f.In == fault.Body && e.bodyName != "" {
		loc = append(loc, e.bodyName)
	}
	return append(loc, f.Path...)
}
