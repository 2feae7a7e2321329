package rest_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/resttest"
)

type maker struct {
	Name  string `json:"name"  minLength:"2"`
	Email string `json:"email" required:"false"`
	notes string
}

type vase struct {
	ID     int64             `json:"id"              readOnly:"true"`
	Title  string            `json:"title"           maxLength:"10"`
	Price  int               `json:"price"           default:"5"     minimum:"1"`
	Maker  *maker            `json:"maker,omitempty"`
	Owner  maker             `json:"owner"`
	Tags   []string          `json:"tags"`
	Labels map[string]string `json:"labels"`
	Note   rest.Opt[string]  `json:"note,omitzero"`
	Secret string            `json:"-"`
}

func (v vase) Validate(context.Context) error {
	if v.Title == v.Owner.Name {
		return rest.Invalid(rest.Fault{Path: []any{"title"}, Kind: "same", Message: "is the name of its owner"})
	}
	return nil
}

func TestMergePatch(t *testing.T) {
	t.Parallel()

	first := vase{
		ID: 7, Title: "Blue", Price: 9, Maker: &maker{Name: "Ann", Email: "a@x", notes: "n"},
		Owner: maker{Name: "Bob", Email: "b@x", notes: "m"}, Tags: []string{"a", "b"},
		Labels: map[string]string{"x": "1", "y": "2"}, Note: rest.Some("old"), Secret: "s",
	}
	var got vase
	type change struct {
		Body rest.MergePatch[vase]
	}
	var endpoint *rest.Endpoint[change, vase]
	api := serve(func(r *rest.Routes) {
		endpoint = rest.Patch(r, "/vase", func(ctx context.Context, in change) (vase, error) {
			var err error
			got, err = in.Body.Apply(ctx, first)
			return got, err
		})
		rest.Post(r, "/vase", func(ctx context.Context, in struct{ Body vase }) (vase, error) {
			_, err := rest.MergePatch[vase]{}.Apply(ctx, in.Body)
			return in.Body, err
		})
	})
	with := func(change func(v *vase)) vase {
		v := first
		m := *first.Maker
		v.Maker = &m
		change(&v)
		return v
	}
	for patch, want := range map[string]vase{
		`{}`:                                first,
		`{"title":"Red"}`:                   with(func(v *vase) { v.Title = "Red" }),
		`{"id":8,"tags":["c"]}`:             with(func(v *vase) { v.Tags = []string{"c"} }),
		`{"price":null}`:                    with(func(v *vase) { v.Price = 5 }),
		`{"maker":null,"note":null}`:        with(func(v *vase) { v.Maker, v.Note = nil, rest.Opt[string]{} }),
		`{"maker":{"email":null}}`:          with(func(v *vase) { v.Maker.Email = "" }),
		`{"owner":{"name":"Eve"}}`:          with(func(v *vase) { v.Owner.Name = "Eve" }),
		`{"labels":{"x":null,"z":"3"}}`:     with(func(v *vase) { v.Labels = map[string]string{"y": "2", "z": "3"} }),
		`{"maker":{"name":"Al"},"id":null}`: with(func(v *vase) { v.Maker.Name = "Al" }),
	} {
		a := resttest.Call(t, api, endpoint, change{rest.NewMergePatch[vase]([]byte(patch))})
		if a.Status != http.StatusOK {
			t.Errorf("%s: got %d %s", patch, a.Status, a.Text)
			continue
		}
		if got.Maker != nil && want.Maker != nil && *got.Maker != *want.Maker || (got.Maker == nil) != (want.Maker == nil) ||
			got.Owner != want.Owner {
			t.Errorf("%s: got %+v and %+v", patch, got.Maker, got.Owner)
		}
		got.Maker, want.Maker, got.Owner, want.Owner = nil, nil, maker{}, maker{}
		wantDiff(t, patch, [6]any{want.ID, want.Title, want.Price, want.Tags, want.Labels, want.Secret},
			[6]any{got.ID, got.Title, got.Price, got.Tags, got.Labels, got.Secret})
		if got.Note != want.Note {
			t.Errorf("%s: got the note %v", patch, got.Note)
		}
	}
	if first.Maker.Name != "Ann" || first.Maker.notes != "n" || len(first.Labels) != 2 {
		t.Errorf("the value itself was changed: %+v %v", first.Maker, first.Labels)
	}

	for patch, want := range map[string]string{
		`{"title":null}`:                 "body.title",
		`{"title":"A title too long"}`:   "body.title",
		`{"owner":{"name":"E"}}`:         "body.owner.name",
		`{"owner":{"name":null}}`:        "body.owner.name",
		`{"colour":"red"}`:               "body.colour",
		`{"price":"high"}`:               "body.price",
		`{"maker":{"name":1}}`:           "body.maker.name",
		`{"title":"Bob"}`:                "is the name of its owner",
		`{"title":"Red","title":"Blue"}`: "body.title",
		`[1]`:                            "body",
	} {
		a := resttest.Do[any](t, api, http.MethodPatch, "/vase", resttest.Content("application/merge-patch+json", patch))
		if a.Status != http.StatusUnprocessableEntity || !strings.Contains(a.Text, want) {
			t.Errorf("%s: got %d %s", patch, a.Status, a.Text)
		}
	}
	for kind, want := range map[string]int{
		"application/json": 200, "text/plain": 415, "application/merge-patch+json; charset=utf-8": 200,
	} {
		wantStatus(t, api, http.MethodPatch, "/vase", want, resttest.Content(kind, "{}"))
	}
	wantStatus(t, api, http.MethodPatch, "/vase", http.StatusBadRequest, resttest.Content("application/json", "{"))
	wantStatus(t, api, http.MethodPost, "/vase", http.StatusInternalServerError,
		resttest.JSON(map[string]any{
			"title": "x", "owner": map[string]any{"name": "Bob"}, "tags": []string{}, "labels": map[string]string{},
		}))

	d := document(t, api)
	wantDiff(t, "body", any("#/components/schemas/VasePatch"),
		at(d, "paths", "/vase", "patch", "requestBody", "content", "application/merge-patch+json", "schema", "$ref"))
	patched := func(path ...string) any {
		return at(d, append([]string{"components", "schemas", "VasePatch"}, path...)...)
	}
	if patched("required") != nil || patched("properties", "price", "default") != nil {
		t.Errorf("documented as %v", patched())
	}
	wantDiff(t, "a text", any([]any{"string", "null"}), patched("properties", "title", "type"))
	either, _ := patched("properties", "owner", "anyOf").([]any)
	if len(either) != 2 || at(either[0], "$ref") != "#/components/schemas/MakerPatch" ||
		at(d, "components", "schemas", "MakerPatch", "required") != nil {
		t.Errorf("the owner is documented as %v", either)
	}
	text := mustPanic(t, func() {
		serve(func(r *rest.Routes) {
			rest.Patch(r, "/", func(context.Context, struct{ Body rest.MergePatch[int] }) (int, error) { return 0, nil })
		})
	})
	if !strings.Contains(text, "rest.MergePatch changes structs") {
		t.Errorf("got %q", text)
	}
}
