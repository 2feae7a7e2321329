package rest_test

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/resttest"
)

type Circle struct {
	Kind   string  `json:"kind"   const:"circle"`
	Radius float64 `json:"radius" exclusiveMinimum:"0"`
}

type Square struct {
	Kind string `json:"kind" const:"square"`
	Side int    `json:"side" default:"1"    maximum:"10"`
}

// Validate refuses what is too even.
func (s *Square) Validate(context.Context) error {
	if s.Side == 8 {
		return rest.Invalid(rest.Fault{Path: []any{"side"}, Kind: "value_error", Message: "Not eight."})
	}
	return nil
}

type Group struct {
	Kind  string              `json:"kind"  const:"group"`
	Parts []rest.OneOf[Shape] `json:"parts"`
}

// Shape is one of three.
type Shape struct {
	_      struct{} `doc:"A shape."`
	Circle *Circle
	Square *Square
	Group  *Group
}

type drawing struct {
	Shapes []rest.OneOf[Shape] `json:"shapes"`
	Frame  *rest.OneOf[Shape]  `json:"frame,omitempty"`
}

func shapes(r *rest.Routes) {
	rest.Post(r, "/drawings", func(_ context.Context, in drawing) (drawing, error) { return in, nil })
	rest.Post(r, "/one", func(_ context.Context, in struct{ Body rest.OneOf[Shape] }) (string, error) {
		switch s := in.Body.Which().(type) {
		case *Circle:
			return "circle", nil
		case *Square:
			return strings.Repeat("s", s.Side), nil
		default:
			return "other", nil
		}
	})
	rest.Get(r, "/made", func(context.Context, struct{}) (rest.OneOf[Shape], error) {
		return rest.One(Shape{Circle: &Circle{Radius: 2}}), nil
	})
	rest.Get(r, "/none", func(context.Context, struct{}) (rest.OneOf[Shape], error) { return rest.OneOf[Shape]{}, nil })
}

func TestOneOf(t *testing.T) {
	t.Parallel()

	api := serve(shapes)
	for _, c := range []struct{ path, body, want string }{
		{"/one", `{"kind":"circle","radius":1}`, `"circle"`},
		{"/one", `{"side":3,"kind":"square"}`, `"sss"`},
		{"/one", `{"kind":"square"}`, `"s"`},
		{"/one", `{"kind":"group","parts":[]}`, `"other"`},
		{
			"/drawings",
			`{"shapes":[{"kind":"circle","radius":1},{"kind":"group","parts":[{"kind":"square","side":2}]}],"frame":{"kind":"square","side":9}}`,
			`{"shapes":[{"kind":"circle","radius":1},{"kind":"group","parts":[{"kind":"square","side":2}]}],"frame":{"kind":"square","side":9}}`,
		},
	} {
		a := resttest.Do[any](t, api, http.MethodPost, c.path, resttest.Content("application/json", c.body))
		wantDiff(t, c.body, []string{"OK", c.want}, []string{http.StatusText(a.Status), strings.TrimSpace(a.Text)})
	}
	for body, want := range map[string]string{
		`{"kind":"oval"}`:                       "body.shapes[0].kind: enum",
		`{}`:                                    "body.shapes[0].kind: missing",
		`{"kind":7}`:                            "body.shapes[0].kind: missing",
		`7`:                                     "body.shapes[0]: dict_type",
		`null`:                                  "body.shapes[0]: dict_type",
		`{"kind":"circle","radius":0}`:          "body.shapes[0].radius: greater_than",
		`{"kind":"circle","radius":1,"side":2}`: "body.shapes[0].side: extra_forbidden",
		`{"kind":"circle","kind":"square","side":2}`:            "body.shapes[0].kind: duplicate_key",
		`{"kind":"group","parts":[{"kind":"circle"}]}`:          "body.shapes[0].parts[0].radius: missing",
		`{"kind":"group","parts":[{"kind":"square","side":8}]}`: "body.shapes[0].parts[0].side: value_error",
	} {
		a := resttest.Do[any](t, api, http.MethodPost, "/drawings",
			resttest.Content("application/json", `{"shapes":[`+body+`]}`))
		if a.Error == nil || len(a.Error.Faults) != 1 || a.Error.Faults[0].String() != want {
			t.Errorf("%s: got %d %s, want %s", body, a.Status, a.Text, want)
		}
	}
	if _, text := get(t, api, "/made"); text != `{"kind":"circle","radius":2}` {
		t.Errorf("got %s", text)
	}
	wantStatus(t, api, http.MethodGet, "/none", http.StatusInternalServerError)
}

func TestOneOfIsDocumented(t *testing.T) {
	t.Parallel()

	d := document(t, serve(shapes))
	ref := func(name string) map[string]any { return map[string]any{"$ref": "#/components/schemas/" + name} }
	form := func(suffix string) map[string]any {
		return map[string]any{
			"description": "A shape.",
			"oneOf":       []any{ref("Circle"), ref("Square" + suffix), ref("Group" + suffix)},
			"discriminator": map[string]any{"propertyName": "kind", "mapping": map[string]any{
				"circle": "#/components/schemas/Circle", "square": "#/components/schemas/Square" + suffix,
				"group": "#/components/schemas/Group" + suffix,
			}},
		}
	}
	wantDiff(t, "answers", form(""), at(d, "components", "schemas", "Shape"))
	wantDiff(t, "requests", form("Input"), at(d, "components", "schemas", "ShapeInput"))
	wantDiff(t, "tag", map[string]any{"type": "string", "const": "circle"},
		at(d, "components", "schemas", "Circle", "properties", "kind"))
	wantDiff(t, "list", map[string]any{"type": "array", "items": ref("Shape")},
		at(d, "components", "schemas", "Drawing", "properties", "shapes"))
}

// words is a text or a list of them.
type words []string

func (words) AnyOf() []reflect.Type {
	return []reflect.Type{reflect.TypeFor[string](), reflect.TypeFor[[]string]()}
}

func (w words) MarshalJSON() ([]byte, error) {
	if len(w) == 1 {
		return json.Marshal(w[0])
	}
	return json.Marshal([]string(w))
}

func (w *words) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*w = words{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(w))
}

func TestAlternatives(t *testing.T) {
	t.Parallel()

	type both struct {
		Words words `json:"words"`
	}
	api := serve(func(r *rest.Routes) {
		rest.Post(r, "/x", func(_ context.Context, in both) (both, error) { return in, nil })
	})
	wantDiff(t, "document", map[string]any{"anyOf": []any{
		map[string]any{"type": "string"}, map[string]any{"type": "array", "items": map[string]any{"type": "string"}},
	}}, at(document(t, api), "components", "schemas", "Both", "properties", "words"))
	for body, want := range map[string]int{
		`{"words":"a"}`: 200, `{"words":["a","b"]}`: 200, `{"words":7}`: 422, `{"words":[7]}`: 422,
	} {
		a := resttest.Do[any](t, api, http.MethodPost, "/x", resttest.Content("application/json", body))
		if a.Status != want || (want == http.StatusOK && strings.TrimSpace(a.Text) != body) {
			t.Errorf("%s: got %d %s", body, a.Status, a.Text)
		}
	}
}

func TestOneOfThatCannotBe(t *testing.T) {
	t.Parallel()

	type one struct{ Circle *Circle }
	type plain struct {
		Circle *Circle
		Author *author
	}
	type value struct {
		Circle *Circle
		Square Square
	}
	for want, f := range map[string]func(*rest.Routes){
		"two variants or more":                 answers[rest.OneOf[one]],
		"no property tells its variants apart": answers[rest.OneOf[plain]],
		"field Square: a variant is":           answers[rest.OneOf[value]],
	} {
		if text := mustPanic(t, func() { serve(f) }); !strings.Contains(text, want) {
			t.Errorf("got %s, want %s", text, want)
		}
	}
	if _, err := json.Marshal(rest.One(Shape{Circle: &Circle{}, Square: &Square{}})); err == nil ||
		!strings.Contains(err.Error(), "two variants") {
		t.Error(err)
	}
	if _, err := json.Marshal(rest.One(Shape{Circle: &Circle{Kind: "square"}})); err == nil ||
		!strings.Contains(err.Error(), `in place of "circle"`) {
		t.Error(err)
	}
}
