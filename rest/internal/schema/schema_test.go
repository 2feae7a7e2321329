package schema_test

import (
	"encoding/json"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest/internal/body"
	"github.com/spoolhq/spool/rest/internal/fault"
	"github.com/spoolhq/spool/rest/internal/opt"
	"github.com/spoolhq/spool/rest/internal/schema"
	"github.com/spoolhq/spool/rest/internal/schema/testdata/one"
	"github.com/spoolhq/spool/rest/internal/schema/testdata/two"
)

type Page[T any] struct {
	Items []T `json:"items"`
}

type Pair[A, B any] struct {
	A A `json:"a"`
	B B `json:"b"`
}

type author struct {
	Name string `json:"name"`
}

type base struct {
	Version int `json:"version"`
}

type book struct {
	base

	Title    string             `doc:"What it is called" example:"Dune"   json:"title" minLength:"2"`
	Price    float64            `json:"price"            minimum:"0"`
	Stock    int                `default:"3"             json:"stock"     maximum:"10"`
	Author   *author            `json:"author"`
	Subtitle opt.Opt[string]    `json:"subtitle"         maxLength:"5"`
	Editor   opt.Opt[author]    `json:"editor"`
	Tags     []string           `json:"tags"`
	Aliases  []string           `json:"aliases"          nullable:"true"`
	Labels   map[string]*author `json:"labels,omitempty"`
	Note     string             `json:"note"             required:"false"`
	Must     *string            `json:"must"             required:"true"`
	ID       string             `json:"id"               readOnly:"true"`
	Digest   [4]byte            `json:"digest,omitzero"`
	Amount   json.Number        `json:"amount,omitempty"`
	From     netip.Addr         `json:"from,omitzero"`
	Next     *book              `json:"next,omitempty"`
	Hidden   string             `json:"-"`
	Place    string             `path:"place"`
	Sort     string             `query:"sort"`
}

const wantBook = `{
  "additionalProperties": false,
  "properties": {
    "aliases": {"items": {"type": "string"}, "type": ["array", "null"]},
    "amount": {"type": "number"},
    "author": {"$ref": "#/components/schemas/Author"},
    "digest": {"items": {"format": "int32", "minimum": 0, "type": "integer"}, "maxItems": 4, "minItems": 4, "type": "array"},
    "editor": {"anyOf": [{"$ref": "#/components/schemas/Author"}, {"enum": [null], "type": "null"}]},
    "from": {"format": "ip", "type": "string"},
    "id": {"readOnly": true, "type": "string"},
    "labels": {"additionalProperties": {"$ref": "#/components/schemas/Author"}, "type": "object"},
    "must": {"type": ["string", "null"]},
    "next": {"$ref": "#/components/schemas/Book"},
    "note": {"type": "string"},
    "price": {"format": "double", "minimum": 0, "type": "number"},
    "stock": {"default": 3, "format": "int64", "maximum": 10, "type": "integer"},
    "subtitle": {"maxLength": 5, "type": ["string", "null"]},
    "tags": {"items": {"type": "string"}, "type": "array"},
    "title": {"description": "What it is called", "examples": ["Dune"], "minLength": 2, "type": "string"},
    "version": {"format": "int64", "type": "integer"}
  },
  "required": ["version", "title", "price", "tags", "aliases", "must"],
  "type": "object"
}`

func normal(t *testing.T, text []byte) any {
	t.Helper()

	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatalf("%v: %s", err, text)
	}

	return value
}

func TestObject(t *testing.T) {
	t.Parallel()

	r := schema.New()
	if got := r.Of(reflect.TypeFor[*book](), "").Ref; got != "#/components/schemas/Book" {
		t.Errorf("a struct is %q", got)
	}
	text, err := json.Marshal(r.SchemaFromRef("#/components/schemas/Book"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(normal(t, []byte(wantBook)), normal(t, text)); diff != "" {
		t.Error(diff)
	}

	all, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(all), "$schema") {
		t.Error("there is a $schema property")
	}
	if got := r.TypeFromRef("#/components/schemas/Book"); got != reflect.TypeFor[book]() {
		t.Errorf("the type of the component is %v", got)
	}
	if r.SchemaFromRef("#/elsewhere/Book") != nil || r.TypeFromRef("Book") != nil {
		t.Error("a reference to elsewhere was followed")
	}
}

func TestNames(t *testing.T) {
	t.Parallel()

	local := func() reflect.Type {
		type author struct{ A int }

		return reflect.TypeFor[author]()
	}()

	r := schema.New()
	for _, tc := range []struct {
		typ        reflect.Type
		hint, want string
	}{
		{reflect.TypeFor[author](), "", "Author"},
		{reflect.TypeFor[Page[author]](), "", "PageAuthor"},
		{reflect.TypeFor[Page[*author]](), "", "PageSchema_testAuthor"},
		{reflect.TypeFor[Page[[]author]](), "", "PageListAuthor"},
		{reflect.TypeFor[Page[Pair[int, author]]](), "", "PagePairIntAuthor"},
		{reflect.TypeFor[Page[map[string]time.Time]](), "", "PageMapStringTime"},
		{reflect.TypeFor[one.Book](), "", "Book"},
		{reflect.TypeFor[two.Book](), "", "TwoBook"},
		{reflect.TypeFor[Page[one.Book]](), "", "PageBook"},
		{reflect.TypeFor[Page[two.Book]](), "", "PageTwoBook"},
		{reflect.TypeFor[struct{ A int }](), "CreateBody", "CreateBody"},
		{reflect.TypeFor[struct{ B int }](), "CreateBody", "CreateBody2"},
		{reflect.TypeFor[struct{ A int }](), "Other", "CreateBody"},
		{local, "", "Schema_testAuthor"},
	} {
		ref := r.Of(tc.typ, tc.hint).Ref
		if got := strings.TrimPrefix(ref, schema.Prefix); got != tc.want {
			t.Errorf("%v is called %s, want %s", tc.typ, got, tc.want)
		}
		if again := r.Of(tc.typ, tc.hint).Ref; again != ref {
			t.Errorf("%v is called %s and then %s", tc.typ, ref, again)
		}
	}

	for name := range r.Map() {
		legal := strings.TrimLeft(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_")
		if legal != "" {
			t.Errorf("the name %q is not legal", name)
		}
	}
}

func TestNameInOthers(t *testing.T) {
	t.Parallel()

	r := schema.New()
	for typ, want := range map[reflect.Type]string{
		reflect.TypeFor[*author]():        "Author",
		reflect.TypeFor[int]():            "Int",
		reflect.TypeFor[[]string]():       "StringList",
		reflect.TypeFor[map[string]int](): "IntMap",
		reflect.TypeFor[time.Time]():      "Time",
		reflect.TypeFor[any]():            "Any",
	} {
		if got := r.Name(typ, ""); got != want {
			t.Errorf("%v is %s in other names, want %s", typ, got, want)
		}
	}

	a := r.Named("PageAuthor", &huma.Schema{Type: huma.TypeObject})
	b := r.Named("PageAuthor", &huma.Schema{Type: huma.TypeObject})
	c := r.Named("PageAuthor", &huma.Schema{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString}})
	if a.Ref != b.Ref || c.Ref != a.Ref+"2" {
		t.Errorf("named %s, %s and %s", a.Ref, b.Ref, c.Ref)
	}
	if got := r.Of(reflect.TypeFor[Page[author]](), "").Ref; got == a.Ref || got == c.Ref {
		t.Errorf("a type got the name of a component made by hand: %s", got)
	}
}

// TestMistakes are declarations that must stop a program at its start.
func TestMistakes(t *testing.T) {
	t.Parallel()

	for _, tc := range []struct {
		typ  reflect.Type
		want []string
	}{
		{reflect.TypeFor[struct {
			A int `minimum:"abc"`
		}](), []string{"minimum", "abc"}},
		{reflect.TypeFor[struct {
			A string `minLength:"-1"`
		}](), []string{"field A", "minLength", "-1"}},
		{reflect.TypeFor[struct {
			A string `minimum:"1"`
		}](), []string{"field A", "does not apply"}},
		{reflect.TypeFor[struct {
			A int `maxLength:"1"`
		}](), []string{"field A", "does not apply"}},
		{reflect.TypeFor[struct {
			A string `pattern:"("`
		}](), []string{"missing closing"}},
		{reflect.TypeFor[struct {
			A int `default:"11" maximum:"10"`
		}](), []string{"field A", `default:"11"`, "10"}},
		{reflect.TypeFor[struct {
			A int8 `default:"300"`
		}](), []string{"field A", `default:"300"`}},
		{reflect.TypeFor[struct {
			A int `default:"x"`
		}](), []string{"'A'", "x"}},
		{reflect.TypeFor[struct {
			A string `default:"c" enum:"a,b"`
		}](), []string{"field A", `default:"c"`}},
		{reflect.TypeFor[struct {
			A opt.Opt[int] `default:"1"`
		}](), []string{"'A'"}},
		{reflect.TypeFor[struct {
			A int `default:"1" required:"true"`
		}](), []string{"field A", "no use for a default"}},
		{reflect.TypeFor[struct {
			A int `deprecated:"yes"`
		}](), []string{"A", "deprecated", "yes"}},
		{reflect.TypeFor[struct {
			A float64 `multipleOf:"0"`
		}](), []string{"field A", "multipleOf"}},
		{reflect.TypeFor[chan int](), []string{"chan int", "JSON"}},
	} {
		t.Run(tc.typ.String(), func(t *testing.T) {
			t.Parallel()

			_, err := schema.New().Body(tc.typ, "Body", false)
			if err == nil {
				t.Fatal("the mistake was taken")
			}
			for _, word := range append(tc.want, tc.typ.String()[:6]) {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%q does not say %q", err, word)
				}
			}
		})
	}
}

// shape is described by its own schema, with words that a plan does not know.
type shape struct {
	Kind   string  `json:"kind"`
	Radius float64 `json:"radius,omitempty"`
	Side   float64 `json:"side,omitempty"`
}

func (shape) Schema(r huma.Registry) *huma.Schema {
	variant := func(kind, size string) *huma.Schema {
		return &huma.Schema{
			Type: huma.TypeObject, AdditionalProperties: false, Required: []string{"kind", size},
			Properties: map[string]*huma.Schema{
				"kind": {Type: huma.TypeString, Enum: []any{kind}},
				size:   r.Schema(reflect.TypeFor[float64](), true, ""),
			},
		}
	}

	return &huma.Schema{OneOf: []*huma.Schema{variant("circle", "radius"), variant("square", "side")}}
}

type drawing struct {
	Shapes []shape `json:"shapes"`
}

func TestComposed(t *testing.T) {
	t.Parallel()

	s, err := schema.New().Body(reflect.TypeFor[drawing](), "", false)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := body.Compile(reflect.TypeFor[drawing](), s, body.Options{})
	if err != nil {
		t.Fatal(err)
	}

	for data, want := range map[string][]string{
		`{"shapes":[{"kind":"circle","radius":1},{"kind":"square","side":2}]}`: nil,
		`{"shapes":[{"kind":"circle","side":1}]}`:                              {"value_error at body.shapes[0]"},
		`{"shapes":[{"kind":"circle","radius":"x"}]}`:                          {"float_type at body.shapes[0].radius"},
		`{"shapes":[{"kind":"circle","radius":1,"RADIUS":2}]}`: {
			"key_case_mismatch at body.shapes[0].RADIUS",
		},
		`{"shapes":[{"kind":"circle","radius":1,"radius":2}]}`: {"duplicate_key at body.shapes[0].radius"},
	} {
		t.Run(data, func(t *testing.T) {
			t.Parallel()

			var words []string
			_, faults := plan.Decode([]byte(data), new(drawing))
			for _, f := range faults {
				words = append(words, f.Kind+" at "+f.Location())
			}
			if diff := cmp.Diff(want, words); diff != "" {
				t.Error(diff, faults)
			}
		})
	}
}

// TestParameterFieldsAreNoKeys keeps clients from writing to fields that are read from
// elsewhere in the request.
func TestParameterFieldsAreNoKeys(t *testing.T) {
	t.Parallel()

	type update struct {
		ID   int    `path:"id"`
		Name string `json:"name"`
	}

	for _, ignore := range []bool{false, true} {
		s, err := schema.New().Body(reflect.TypeFor[update](), "", ignore)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := body.Compile(reflect.TypeFor[update](), s, body.Options{})
		if err != nil {
			t.Fatal(err)
		}

		for data, kinds := range map[string][]string{
			`{"name":"a","ID":5}`: {fault.KindExtra},
			`{"name":"a","id":5}`: {fault.KindExtra},
			`{"name":"a"}`:        nil,
		} {
			var got []string
			for _, f := range faultsOf(plan, data) {
				got = append(got, f.Kind)
			}
			if !slices.Equal(got, kinds) {
				t.Errorf("ignore %v: %s: got %v, want %v", ignore, data, got, kinds)
			}
		}

		unknown := faultsOf(plan, `{"name":"a","other":{"x":1,"x":2}}`)
		if len(unknown) > 0 == ignore {
			t.Errorf("ignore %v: an unknown key gave %v", ignore, unknown)
		}
	}
}

// TestGlobals shows that nothing of huma that others may set was touched.
func TestGlobals(t *testing.T) {
	t.Parallel()

	schema.New().Of(reflect.TypeFor[book](), "")
	if !huma.DefaultArrayNullable || huma.ValidateStrictCasing {
		t.Error("a global setting of huma was changed")
	}
}

// TestIgnoredKeys ignores unknown keys in all objects but those whose type says otherwise.
func TestIgnoredKeys(t *testing.T) {
	t.Parallel()

	type open struct {
		A int `json:"a,omitempty"`
	}
	type strict struct {
		_     struct{} `additionalProperties:"false"`
		Inner open     `json:"inner,omitzero"`
	}
	type outer struct {
		Strict strict `json:"strict,omitzero"`
	}

	s, err := schema.New().Body(reflect.TypeFor[outer](), "", true)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := body.Compile(reflect.TypeFor[outer](), s, body.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range faultsOf(plan, `{"x":1,"strict":{"x":1,"inner":{"x":1}}}`) {
		got = append(got, f.Location())
	}
	if diff := cmp.Diff([]string{"body.strict.x"}, got); diff != "" {
		t.Error(diff)
	}
}

// faultsOf lists what a plan finds in a document.
func faultsOf(plan *body.Plan, data string) []fault.Fault {
	_, faults := plan.Decode([]byte(data), reflect.New(plan.Type()).Interface())

	return faults
}
