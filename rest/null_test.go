package rest_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/page"
)

type petal struct {
	Name string `json:"name"`
}

type flower struct {
	List    []*petal            `json:"list"`
	Map     map[string]*petal   `json:"map"`
	Pair    [1]*petal           `json:"pair"`
	Nested  [][]*petal          `json:"nested"`
	Named   map[string][]*petal `json:"named"`
	Lists   []*[]int            `json:"lists"`
	Maps    []*map[string]int   `json:"maps"`
	Texts   []*string           `json:"texts"`
	Maybe   *[]int              `json:"maybe"`
	Plain   []petal             `json:"plain"`
	Left    []*petal            `json:"left,omitempty"`
	Flowers []*flower           `json:"flowers,omitempty"`
}

// A list or map of pointers to objects has objects only. What else may be null is null in the document.
func TestNullItemsOfAnswers(t *testing.T) {
	t.Parallel()

	wrong := map[string]flower{
		"list": {List: []*petal{{}, nil}}, "map": {Map: map[string]*petal{"a": nil}},
		"nested": {Nested: [][]*petal{nil, {nil}}}, "named": {Named: map[string][]*petal{"a": {nil}}},
		"left": {Left: []*petal{nil}}, "flowers": {Flowers: []*flower{{}, nil}},
		"inner": {Flowers: []*flower{{Left: []*petal{nil}}}},
	}
	var log memory
	api := serve(func(r *rest.Routes) {
		rest.Get(r, "/flower", func(context.Context, struct{}) (flower, error) {
			return flower{
				List: []*petal{{"a"}}, Nested: [][]*petal{nil, {}}, Lists: []*[]int{nil}, Maps: []*map[string]int{nil},
				Texts: []*string{nil},
			}, nil
		})
		rest.Get(r, "/wrong/{at}", func(_ context.Context, in struct {
			At string `path:"at"`
		},
		) (flower, error) {
			return wrong[in.At], nil
		})
		rest.Get(r, "/texts", func(context.Context, struct{}) ([]*bloom, error) { return []*bloom{nil}, nil })
		rest.Get(r, "/list", func(context.Context, struct{}) ([]*petal, error) { return []*petal{nil}, nil })
		rest.Get(r, "/map", func(context.Context, struct{}) (map[string]*petal, error) {
			return map[string]*petal{"a": nil}, nil
		})
		rest.Get(r, "/plain", func(context.Context, struct{}) ([]petal, error) { return nil, nil })
	}, rest.Logger(log.logger()))
	const want = `{"list":[{"name":"a"}],"map":{},"pair":[null],"nested":[[],[]],"named":{},"lists":[null],"maps":[null],` +
		`"texts":[null],"maybe":null,"plain":[]}`
	if status, text := get(t, api, "/flower"); status != http.StatusOK || text != want {
		t.Errorf("%d\n got %s\nwant %s", status, text, want)
	}
	for name := range wrong {
		wantStatus(t, api, http.MethodGet, "/wrong/"+name, http.StatusInternalServerError)
	}
	for _, path := range []string{"/texts", "/list", "/map"} {
		wantStatus(t, api, http.MethodGet, path, http.StatusInternalServerError)
	}
	if !strings.Contains(log.String(), "a nil *rest_test.petal is in a []*rest_test.petal") {
		t.Errorf("the log does not say what is wrong:\n%s", log.String())
	}

	type object = map[string]any
	plain := object{"$ref": "#/components/schemas/Petal"}
	maybe := object{"anyOf": []any{plain, object{"type": "null", "enum": []any{nil}}}}
	list := func(items object) object { return object{"type": "array", "items": items} }
	number := object{"type": "integer", "format": "int64"}
	d := document(t, api)
	for name, want := range map[string]any{
		"list": list(plain), "map": object{"type": "object", "additionalProperties": plain}, "nested": list(list(plain)),
		"pair":  object{"type": "array", "items": maybe, "minItems": 1.0, "maxItems": 1.0},
		"named": object{"type": "object", "additionalProperties": list(plain)},
		"lists": list(object{"type": []any{"array", "null"}, "items": number}),
		"maps":  list(object{"type": []any{"object", "null"}, "additionalProperties": number}),
		"texts": list(object{"type": []any{"string", "null"}}),
		"maybe": object{"type": []any{"array", "null"}, "items": number},
		"plain": list(plain), "left": list(plain), "flowers": list(object{"$ref": "#/components/schemas/Flower"}),
	} {
		wantDiff(t, name, want, at(d, "components", "schemas", "Flower", "properties", name))
	}
	for path, want := range map[string]object{
		"/list": list(plain), "/map": {"type": "object", "additionalProperties": plain}, "/plain": list(plain),
	} {
		wantDiff(t, path, any(want), at(d, "paths", path, "get", "responses", "200", "content", "application/json", "schema"))
	}
}

// bloom is written field by field, because of its format.
type bloom struct {
	Time time.Duration `format:"duration" json:"time"`
}

// A request refuses null for an object in a list or map, and its document says so.
func TestNullItemsOfRequests(t *testing.T) {
	t.Parallel()

	type bunch struct {
		List  []*petal          `json:"list,omitempty"`
		Map   map[string]*petal `json:"map,omitempty"`
		Texts []*string         `json:"texts,omitempty"`
	}
	api := serve(func(r *rest.Routes) {
		rest.Post(r, "/bunches", func(_ context.Context, in struct{ Body bunch }) (bunch, error) { return in.Body, nil })
	})
	for body, want := range map[string]string{
		`{"list":[null]}`: `"location":"body.list[0]"`, `{"map":{"a":null}}`: `"location":"body.map.a"`,
	} {
		status, text := record(api, jsonRequest(http.MethodPost, "/bunches", body))
		if status != http.StatusUnprocessableEntity || !strings.Contains(text, want) {
			t.Errorf("%s: got %d %s", body, status, text)
		}
	}
	if status, text := record(api, jsonRequest(http.MethodPost, "/bunches", `{"texts":[null]}`)); status != http.StatusOK {
		t.Errorf("got %d %s", status, text)
	}
	d := document(t, api)
	properties := func(name string) any { return at(d, "components", "schemas", name, "properties") }
	plain := any(map[string]any{"$ref": "#/components/schemas/Petal"})
	wantDiff(t, "list of a request", plain, at(properties("Bunch"), "list", "items"))
	wantDiff(t, "map of a request", plain, at(properties("Bunch"), "map", "additionalProperties"))
	wantDiff(t, "texts of a request", any([]any{"string", "null"}), at(properties("Bunch"), "texts", "items", "type"))
	if properties("BunchInput") != nil {
		t.Error("requests and answers differ")
	}
}

// The rows of a list are objects in its document, also where the handler has pointers to them: a
// nil one is an error of the program, as it is for a result.
func TestNilRow(t *testing.T) {
	t.Parallel()

	api := serve(func(r *rest.Routes) {
		rest.List(r, "/rows", func(context.Context, struct{}) ([]*petal, error) { return []*petal{{"a"}}, nil },
			page.Number())
		rest.List(r, "/nil", func(context.Context, struct{}) ([]*petal, error) { return []*petal{{"a"}, nil}, nil },
			page.Number())
		rest.List(r, "/plain", func(context.Context, struct{}) ([]*petal, error) { return []*petal{nil}, nil }, page.None())
	})
	for path, want := range map[string]int{
		"/rows": http.StatusOK, "/nil": http.StatusInternalServerError, "/plain": http.StatusInternalServerError,
	} {
		if status, text := get(t, api, path); status != want {
			t.Errorf("%s: got %d %s", path, status, text)
		}
	}
	wantDiff(t, "an item", any(map[string]any{"$ref": "#/components/schemas/Petal"}),
		at(document(t, api), "paths", "/plain", "get", "responses", "200", "content", "application/json", "schema", "items"))
}
