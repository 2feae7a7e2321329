package body_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest/internal/body"
)

type Deep struct {
	Deepest int
	Name    string
}

type hidden struct {
	Shown   string `json:"shown"`
	private int
}

type Left struct {
	Both int
}

type Right struct {
	Both int
}

type Named string

type many struct {
	hidden
	*Deep
	Left
	Right
	Named

	Name    string   `json:"name,omitempty"`
	Skipped int      `json:"-"`
	Zero    []string `json:"zero,omitzero"`
	Own     Deep     `json:"own"`
	private int
}

// TestFieldsAsEncodingJSON compares with the keys that encoding/json writes.
func TestFieldsAsEncodingJSON(t *testing.T) {
	t.Parallel()

	value := many{
		hidden: hidden{private: 1}, Deep: &Deep{}, Name: "x", Zero: []string{"x"}, private: 1,
	}
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(text, &keys); err != nil {
		t.Fatal(err)
	}
	var want []string
	for key := range keys {
		want = append(want, key)
	}
	slices.Sort(want)

	var got []string
	for _, f := range body.Fields(reflect.TypeFor[many]()) {
		got = append(got, f.Name)
		if reflect.TypeFor[many]().FieldByIndex(f.Index).Name != f.Field.Name {
			t.Errorf("%s leads elsewhere", f.Name)
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestCompileMistakes(t *testing.T) {
	t.Parallel()

	for _, tc := range []struct {
		typ    reflect.Type
		schema *body.Schema
		want   string
	}{
		{reflect.TypeFor[chan int](), nil, "cannot be read from JSON"},
		{reflect.TypeFor[struct{ A func() }](), nil, "field A"},
		{reflect.TypeFor[struct{ A error }](), nil, "field A"},
		{reflect.TypeFor[map[struct{}]int](), nil, "keys that JSON cannot hold"},
		{reflect.TypeFor[struct {
			A int `json:"a,string"`
		}](), nil, "field A"},
		{reflect.TypeFor[string](), &body.Schema{Type: "string", Pattern: "("}, "pattern"},
		{reflect.TypeFor[string](), &body.Schema{Type: "text"}, "unknown JSON type"},
		{reflect.TypeFor[struct{ A int8 }](), &body.Schema{
			Type: "object", Properties: map[string]*body.Schema{"A": {Type: "integer", Default: json.RawMessage("300")}},
		}, "field A: its default"},
		{reflect.TypeFor[struct{ A int }](), &body.Schema{
			Type: "object", Properties: map[string]*body.Schema{"A": {}}, DependentRequired: map[string][]string{"A": {"B"}},
		}, `unknown property "B"`},
	} {
		t.Run(tc.typ.String(), func(t *testing.T) {
			t.Parallel()

			_, err := body.Compile(tc.typ, tc.schema, body.Options{})
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), tc.typ.String()) {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

// TestWithoutSchema checks what follows from the Go type alone.
func TestWithoutSchema(t *testing.T) {
	t.Parallel()

	type tree struct {
		Size     int8    `json:"size"`
		Children []*tree `json:"children"`
	}

	plan, err := body.Compile(reflect.TypeFor[tree](), nil, body.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for data, want := range map[string][]string{
		`{"size":1,"children":[{"children":null},null],"more":1}`: {},
		`{"children":[{"size":300},{"SIZE":1}]}`: {
			"int_overflow at body.children[0].size", "key_case_mismatch at body.children[1].SIZE",
		},
	} {
		if diff := cmp.Diff(want, found(plan, data)); diff != "" {
			t.Error(data, diff)
		}
	}
}
