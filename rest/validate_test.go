package rest_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/query"
)

// wrong is the fault of a value that says so of itself.
func wrong(path ...any) error {
	return rest.Invalid(rest.Fault{Path: path, Kind: "value_error", Message: "is wrong"})
}

// mark is wrong where it is "wrong". Its method has a receiver that is no pointer.
type mark string

func (m mark) Validate(context.Context) error {
	if m == "wrong" {
		return wrong()
	}
	return nil
}

// stamped is embedded in others.
type stamped struct {
	By string `json:"by,omitempty"`
}

func (s *stamped) Validate(context.Context) error {
	if s.By == "wrong" {
		return wrong("by")
	}
	return nil
}

// part is a value in many places, whose method has a pointer as its receiver.
type part struct {
	Name  string  `json:"name,omitempty"`
	Mark  mark    `json:"mark,omitempty"`
	Parts []*part `json:"parts,omitempty"`
}

func (p *part) Validate(ctx context.Context) error {
	if rest.RequestOf(ctx) == nil {
		return errors.New("no context of a request")
	}
	switch p.Name {
	case "wrong":
		return rest.Invalid(rest.Fault{In: "body", Path: []any{"name"}, Kind: "value_error", Message: "is wrong"})
	case "taken":
		return rest.Conflict("Taken.")
	case "broken":
		return errors.New("the database is gone")
	}
	return nil
}

type machine struct {
	stamped

	One    part                  `json:"one,omitzero"`
	Ptr    *part                 `json:"ptr,omitempty"`
	List   []part                `json:"list,omitempty"`
	Fixed  [1]part               `json:"fixed,omitzero"`
	Map    map[string]part       `json:"map,omitempty"`
	Ptrs   map[int]*part         `json:"ptrs,omitempty"`
	Opt    rest.Opt[part]        `json:"opt,omitzero"`
	Marks  []mark                `json:"marks,omitempty"`
	Deep   map[string][]*machine `json:"deep,omitempty"`
	Hidden part                  `json:"-"`
	Sum    int                   `json:"sum,omitempty"`
}

func (m machine) Validate(context.Context) error {
	if m.Sum == 13 {
		return wrong("sum")
	}
	return nil
}

// Validate is called on each value of an input, and its faults say where the value is.
func TestValidateAtEveryDepth(t *testing.T) {
	t.Parallel()

	type whole struct {
		ID   mark   `path:"id"`
		Tags []mark `query:"tag"`
		Body machine
	}
	type spread struct {
		ID   int64    `path:"id"`
		One  part     `json:"one,omitzero"`
		More *machine `json:"more,omitempty"`
	}
	type embedding struct {
		ID int64 `path:"id"`
		machine
	}
	type parameters struct {
		stamps
		Page int `query:"page"`
	}
	type form struct {
		Mark mark `form:"mark"`
	}
	api := serve(func(r *rest.Routes) {
		rest.Post(r, "/whole/{id}", func(context.Context, *whole) (rest.NoContent, error) { return rest.NoContent{}, nil })
		rest.Post(r, "/spread/{id}", func(context.Context, spread) (rest.NoContent, error) { return rest.NoContent{}, nil })
		rest.Post(r, "/embedding/{id}", func(context.Context, embedding) (rest.NoContent, error) {
			return rest.NoContent{}, nil
		})
		rest.Post(r, "/bare", func(context.Context, machine) (rest.NoContent, error) { return rest.NoContent{}, nil })
		rest.Get(r, "/parameters", func(context.Context, parameters) (rest.NoContent, error) { return rest.NoContent{}, nil })
		rest.Post(r, "/form", func(context.Context, form) (rest.NoContent, error) { return rest.NoContent{}, nil })
	})

	for _, tc := range []struct{ path, body, want string }{
		{"/whole/a", `{}`, ""},
		{"/whole/wrong?tag=a&tag=wrong", `{"marks":["a","wrong"]}`, "path.id, query.tag[1], body.marks[1]"},
		{"/whole/a", `{"by":"wrong"}`, "body.by"},
		{"/whole/a", `{"one":{"name":"wrong"}}`, "body.one.name"},
		{"/whole/a", `{"one":{"mark":"wrong"}}`, "body.one.mark"},
		{"/whole/a", `{"one":{"mark":"wrong","name":"wrong"}}`, "body.one.mark"},
		{"/whole/a", `{"ptr":{"name":"wrong"}}`, "body.ptr.name"},
		{
			"/whole/a", `{"list":[{},{"name":"wrong"},{"parts":[{},{"name":"wrong"}]}]}`,
			"body.list[1].name, body.list[2].parts[1].name",
		},
		{"/whole/a", `{"fixed":[{"name":"wrong"}]}`, "body.fixed[0].name"},
		{"/whole/a", `{"map":{"b":{"name":"wrong"},"a":{"mark":"wrong"}}}`, "body.map.a.mark, body.map.b.name"},
		{"/whole/a", `{"ptrs":{"7":{"name":"wrong"}}}`, "body.ptrs.7.name"},
		{"/whole/a", `{"opt":{"name":"wrong"}}`, "body.opt.name"},
		{"/whole/a", `{"opt":null,"ptr":null}`, ""},
		{
			"/whole/a", `{"deep":{"x":[{"sum":13},{"deep":{"y":[{"by":"wrong"}]}}]}}`,
			"body.deep.x[0].sum, body.deep.x[1].deep.y[0].by",
		},
		{"/whole/a", `{"sum":13}`, "body.sum"},
		{"/whole/a", `{"sum":13,"marks":["wrong"]}`, "body.marks[0]"},
		{"/spread/1", `{"one":{"name":"wrong"},"more":{"list":[{"name":"wrong"}]}}`, "body.one.name, body.more.list[0].name"},
		{"/embedding/1", `{"by":"wrong","one":{"name":"wrong"}}`, "body.by, body.one.name"},
		{"/embedding/1", `{"sum":13}`, "body.sum"},
		{"/bare", `{"sum":13}`, "body.sum"},
		{"/bare", `{"list":[{"name":"wrong"}]}`, "body.list[0].name"},
	} {
		if got := faultsAt(t, api, http.MethodPost, tc.path, tc.body); got != tc.want {
			t.Errorf("%s %s: got %q, want %q", tc.path, tc.body, got, tc.want)
		}
	}
	if got := faultsAt(t, api, http.MethodGet, "/parameters?from=wrong", ""); got != "query.from" {
		t.Errorf("an embedded struct of parameters: %q", got)
	}
	for name, want := range map[string]string{"taken": "409 Taken.", "broken": "500 Internal error."} {
		status, text := record(api, jsonRequest(http.MethodPost, "/bare", `{"map":{"x":{"name":"`+name+`"}}}`))
		if words := strings.Fields(want); status != map[string]int{"409": 409, "500": 500}[words[0]] ||
			!strings.Contains(text, words[1]) {
			t.Errorf("%s: %d %s, want %s", name, status, text, want)
		}
	}
}

// stamps are parameters that check themselves.
type stamps struct {
	From string `query:"from"`
}

func (s stamps) Validate(context.Context) error {
	if s.From == "wrong" {
		return rest.Invalid(rest.Fault{In: "query", Path: []any{"from"}, Kind: "value_error", Message: "is wrong"})
	}
	return nil
}

// asked counts how often it is asked.
type asked struct {
	N int `json:"n"`
}

var askedCalls int

func (*asked) Validate(context.Context) error { askedCalls++; return nil }

// A method that a struct has from one that it embeds is called once.
//
//nolint:paralleltest // it counts calls of a method
func TestValidateOnce(t *testing.T) {
	type inner struct{ asked }
	type outer[T any] struct {
		inner
		More T `json:"more,omitempty"`
	}
	type generic = outer[int]
	api := serve(func(r *rest.Routes) {
		rest.Post(r, "/promoted", func(context.Context, inner) (rest.NoContent, error) { return rest.NoContent{}, nil })
		rest.Post(r, "/generic", func(context.Context, struct{ Body generic }) (rest.NoContent, error) {
			return rest.NoContent{}, nil
		})
	})
	for _, path := range []string{"/promoted", "/generic"} {
		askedCalls = 0
		if got := faultsAt(t, api, http.MethodPost, path, `{"n":1}`); got != "" || askedCalls != 1 {
			t.Errorf("%s: %d calls, %s", path, askedCalls, got)
		}
	}
}

type (
	noContext   struct{ N int }
	wordy       struct{ N int }
	keyed       string
	holdsWordy  struct{ In []map[string]*wordy }
	embedsWordy struct {
		wordy
		M int
	}
)

func (noContext) Validate() error { return nil }

func (*wordy) Validate(context.Context, string) (bool, error) { return true, nil }

func (keyed) Validate(context.Context) error { return nil }

// A method Validate that nothing would call is a mistake of the program.
func TestValidateThatIsNeverCalled(t *testing.T) {
	t.Parallel()

	for want, register := range map[string]func(r *rest.Routes){
		"rest_test.noContext has a method Validate that is never called, as it is Validate() error: declare it as Validate(context.Context) error": func(r *rest.Routes) {
			rest.Post(r, "/", func(context.Context, noContext) (rest.NoContent, error) { return rest.NoContent{}, nil })
		},
		"field Body: field In: rest_test.wordy has a method Validate that is never called, as it is Validate(context.Context, string) (bool, error)": func(r *rest.Routes) {
			rest.Post(r, "/", func(context.Context, struct{ Body holdsWordy }) (rest.NoContent, error) {
				return rest.NoContent{}, nil
			})
		},
		"rest_test.wordy has a method": func(r *rest.Routes) {
			rest.Post(r, "/", func(context.Context, embedsWordy) (rest.NoContent, error) { return rest.NoContent{}, nil })
		},
		"the keys of map[rest_test.keyed]int have a method Validate": func(r *rest.Routes) {
			rest.Post(r, "/", func(context.Context, struct{ M map[keyed]int }) (rest.NoContent, error) {
				return rest.NoContent{}, nil
			})
		},
		"the filter rest_test.checkedFilter has a method Validate": func(r *rest.Routes) {
			rest.List(r, "/", func(context.Context, struct{}) ([]book, error) { return nil, nil }, query.Filter[checkedFilter]())
		},
	} {
		wantPanic(t, want, func() { serve(register) })
	}
	serve(func(r *rest.Routes) { // an answer is not checked
		rest.Get(r, "/", func(context.Context, struct{}) (noContext, error) { return noContext{}, nil })
	})
}

type checkedFilter struct {
	Title *string
}

func (checkedFilter) Validate(context.Context) error { return nil }

// faultsAt asks for a path with a JSON body, and returns the places of what is wrong.
func faultsAt(t *testing.T, h http.Handler, method, path, body string) string {
	t.Helper()
	status, text := record(h, jsonRequest(method, path, body))
	var problem struct{ Errors []struct{ Location string } }
	if status == http.StatusNoContent {
		return ""
	}
	if err := json.Unmarshal([]byte(text), &problem); err != nil || status != http.StatusUnprocessableEntity {
		t.Fatalf("%s %s: %d %s", path, body, status, text)
	}
	places := make([]string, len(problem.Errors))
	for i, e := range problem.Errors {
		places[i] = e.Location
	}
	return strings.Join(places, ", ")
}

func jsonRequest(method, path, body string) *http.Request {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

// wantPanic asks that f is refused with words.
func wantPanic(t *testing.T, words string, f func()) {
	t.Helper()
	if said := mustPanic(t, f); !strings.Contains(said, words) {
		t.Errorf("said %q, want %q", said, words)
	}
}
