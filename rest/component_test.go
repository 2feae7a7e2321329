package rest_test

import (
	"context"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/throttle"
)

type plate struct {
	ID   int    `json:"id"   readOnly:"true"`
	Name string `json:"name"`
}

func plates(r *rest.Routes) {
	rest.Post(r, "/plates", func(_ context.Context, in struct{ Body plate }) (plate, error) { return in.Body, nil })
	rest.List(r, "/plates", func(context.Context, struct{}) ([]plate, error) { return nil, nil }, page.Number())
	rest.List(r, "/more", func(context.Context, struct{}) ([]plate, error) { return nil, nil }, page.Number())
}

func TestErrorAnswersAreShared(t *testing.T) {
	t.Parallel()

	d := document(t, serve(func(r *rest.Routes) {
		plates(r)
		rest.Get(r, "/own", handle("x"), rest.Returns[error](http.StatusNotFound, "No such plate."),
			rest.Fails(http.StatusConflict))
		rest.Get(r, "/busy", handle("x"), rest.Fails(http.StatusServiceUnavailable))
		rest.Get(r, "/bearer", handle("x"), rest.Auth(bearer()), rest.Throttles(throttle.PerUser("5/min")))
		rest.Get(r, "/hidden", handle("x"), rest.Hidden(), rest.Fails(http.StatusTeapot))
	}))
	ref := func(method, path, status string) any {
		return at(d, "paths", path, method, "responses", status, "$ref")
	}
	const to = "#/components/responses/"
	for _, c := range [][4]string{
		{"post", "/plates", "422", "UnprocessableEntity"},
		{"get", "/more", "422", "UnprocessableEntity"},
		{"get", "/own", "409", "Conflict"},
		{"get", "/own", "500", "InternalServerError"},
		{"get", "/busy", "503", "ServiceUnavailable"},
		{"get", "/bearer", "503", "ServiceUnavailable2"}, // it has a Retry-After
		{"get", "/bearer", "401", "Unauthorized"},
	} {
		wantDiff(t, c[1], any(to+c[3]), ref(c[0], c[1], c[2]))
	}
	wantDiff(t, "in words of its own", any("No such plate."),
		at(d, "paths", "/own", "get", "responses", "404", "description"))
	if ref("get", "/own", "404") != nil || at(d, "components", "responses", "ImATeapot") != nil {
		t.Error("an answer of one route, or of a hidden one, is shared")
	}
	wantDiff(t, "shared", any("#/components/schemas/Problem"),
		at(d, "components", "responses", "ServiceUnavailable2", "content", "application/problem+json", "schema", "$ref"))
	if at(d, "components", "responses", "ServiceUnavailable2", "headers", "Retry-After") == nil ||
		at(d, "components", "responses", "ServiceUnavailable", "headers") != nil {
		t.Error("two answers that differ are one")
	}
}

func TestNameSchemas(t *testing.T) {
	t.Parallel()

	seen := map[string]reflect.Type{}
	d := document(t, serve(plates, rest.NameSchemas(func(name string, t reflect.Type) string {
		seen[name] = t
		switch {
		case name == "PlateInput":
			return "PlateToMake"
		case t == reflect.TypeFor[plate]():
			return "Shop.Plate"
		case strings.HasSuffix(name, "Shop.Plate"):
			return "PlatePage"
		}
		return ""
	})))
	schemas, _ := at(d, "components", "schemas").(map[string]any)
	for _, name := range []string{"PlateToMake", "Shop.Plate", "PlatePage", "Problem"} {
		if schemas[name] == nil {
			t.Errorf("%s is missing", name)
		}
	}
	wantDiff(t, "number of schemas", 5, len(schemas)) // and ProblemFault
	wantDiff(t, "body", any("#/components/schemas/PlateToMake"),
		at(d, "paths", "/plates", "post", "requestBody", "content", "application/json", "schema", "$ref"))
	for _, path := range []string{"/plates", "/more"} {
		wantDiff(t, path, any("#/components/schemas/PlatePage"),
			at(d, "paths", path, "get", "responses", "200", "content", "application/json", "schema", "$ref"))
	}
	for name, of := range seen {
		if want := reflect.TypeFor[plate](); strings.HasPrefix(name, "Plate") && of != want ||
			strings.HasSuffix(name, "Shop.Plate") && of != nil {
			t.Errorf("%s is of %v", name, of)
		}
	}

	for want, name := range map[string]string{"is that of another component": "Same", "is no name of a component": "a/b"} {
		text := mustPanic(t, func() { serve(plates, rest.NameSchemas(func(string, reflect.Type) string { return name })) })
		if !strings.Contains(text, want) {
			t.Errorf("got %q, want %q", text, want)
		}
	}
	// The names of SchemaNames are final.
	names := rest.SchemaNames(map[reflect.Type]string{reflect.TypeFor[plate](): "Dish"})
	d = document(t, serve(plates, names, rest.NameSchemas(func(name string, _ reflect.Type) string { return "X" + name })))
	schemas, _ = at(d, "components", "schemas").(map[string]any)
	if schemas["Dish"] == nil || schemas["XDishInput"] == nil || schemas["XProblem"] == nil {
		t.Errorf("got %v", schemas)
	}
}

// kitchen has the comments of the file below.
type kitchen struct{} //nolint:recvcheck // comments are found at both

func (kitchen) list(context.Context, struct{}) (string, error)    { return "", nil }
func (*kitchen) get(context.Context, struct{}) (string, error)    { return "", nil }
func (kitchen) drop(context.Context, struct{}) (string, error)    { return "", nil }
func (kitchen) lengthy(context.Context, struct{}) (string, error) { return "", nil }
func oven(context.Context, struct{}) (string, error)              { return "", nil }
func sink(context.Context, struct{}) (string, error)              { return "", nil }

const kitchenSource = `package rest_test

// list returns all plates
// of the kitchen. They are sorted.
//
// With a second paragraph.
func (k kitchen) list() {}

// get is of no interest.
func (*kitchen) get() {}

// drop does something else.
func (kitchen) drop() {}

// What oven is about.
func oven() {}

// sink answers with the dishes
// of today.
func sink() {}
`

func TestComments(t *testing.T) {
	t.Parallel()

	source := fstest.MapFS{
		"kitchen.go":      {Data: []byte(kitchenSource)},
		"shop/kitchen.go": {Data: []byte("package shop\n\n// get is another one.\nfunc (*kitchen) get() {}\n")},
		"broken_test.go":  {Data: []byte("no Go")},
		"a/page.html":     {Data: []byte("no Go")},
		"drop/drop_of.go": {Data: []byte("package drop\n")},
		"old/kitchen.go":  {Data: []byte("package old\n\nfunc (kitchen) lengthy() {}\n")},
		"old/kitchen2.go": {
			Data: []byte("package old\n\ntype kitchen[T any] struct{}\n\n// make is generic.\nfunc (k *kitchen[T]) make() {}\n"),
		},
		"old/kitchen3.txt": {Data: []byte("")},
	}
	d := document(t, serve(func(r *rest.Routes) {
		k := &kitchen{}
		rest.Get(r, "/list", k.list)
		rest.Get(r, "/get", k.get)
		rest.Get(r, "/drop", k.drop, rest.Summary("Own words"), rest.Description("Own text."))
		rest.Get(r, "/oven", oven)
		rest.Get(r, "/sink", sink)
		rest.Get(r, "/long", k.lengthy, rest.Description(strings.Repeat("word ", 40)+"end. And more."))
		rest.Get(r, "/described", handle("x"), rest.Name("x"), rest.Description("Opens the door. Then waits."))
		rest.Get(r, "/markdown", handle("x"), rest.Name("listBooks"), rest.Description("With *filters*."))
	}, rest.Comments(source)))
	for path, want := range map[string][2]any{
		"/list": {
			"Returns all plates of the kitchen",
			"Returns all plates\nof the kitchen. They are sorted.\n\nWith a second paragraph.",
		},
		"/get":       {"Is of no interest", "Is of no interest."},
		"/drop":      {"Own words", "Own text."},
		"/oven":      {"What oven is about", "What oven is about."},
		"/sink":      {"The dishes of today", "The dishes\nof today."},
		"/long":      {"Lengthy", strings.Repeat("word ", 40) + "end. And more."},
		"/described": {"Opens the door", "Opens the door. Then waits."},
		"/markdown":  {"List books", "With *filters*."},
	} {
		wantDiff(t, path, want, [2]any{at(d, "paths", path, "get", "summary"), at(d, "paths", path, "get", "description")})
	}
	text := mustPanic(t, func() { rest.New(rest.Comments(fstest.MapFS{"a.go": {Data: []byte("no Go")}})) })
	if !strings.Contains(text, "a.go") {
		t.Errorf("got %q", text)
	}
}
