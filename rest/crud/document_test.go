package crud_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/crud"
)

type schema struct {
	Required   []string `json:"required"`
	Properties map[string]struct {
		ReadOnly  bool     `json:"readOnly"`
		WriteOnly bool     `json:"writeOnly"`
		Minimum   *float64 `json:"minimum"`
		Default   any      `json:"default"`
	} `json:"properties"`
}

type document struct {
	Paths map[string]map[string]struct {
		OperationID string                     `json:"operationId"`
		Responses   map[string]json.RawMessage `json:"responses"`
		RequestBody struct {
			Content map[string]struct {
				Schema map[string]string `json:"schema"`
			} `json:"content"`
		} `json:"requestBody"`
	} `json:"paths"`
	Components struct {
		Schemas map[string]schema `json:"schemas"`
	} `json:"components"`
}

func documentOf(t *testing.T, c *client) document {
	t.Helper()
	b, err := c.api.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	var d document
	if err := json.Unmarshal(b, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDocument(t *testing.T) {
	t.Parallel()

	d := documentOf(t, serve(t, storeOf(), crud.Config[Book]{}))
	bodies := map[string]string{}
	for _, operations := range d.Paths {
		for _, o := range operations {
			bodies[o.OperationID] = o.RequestBody.Content["application/json"].Schema["$ref"]
		}
	}
	want := map[string]string{
		"Books_create": "#/components/schemas/BookIn", "Books_update": "#/components/schemas/BookIn",
		"Books_patch": "#/components/schemas/BookPatch", "Books_list": "", "Books_get": "", "Books_delete": "",
	}
	if diff := cmp.Diff(want, bodies); diff != "" {
		t.Errorf("bodies (-want +got):\n%s", diff)
	}

	in, patch, out := d.Components.Schemas["BookIn"], d.Components.Schemas["BookPatch"], d.Components.Schemas["Book"]
	if diff := cmp.Diff([]string{"title", "slug", "price", "authorId"}, in.Required); diff != "" {
		t.Errorf("required of BookIn (-want +got):\n%s", diff)
	}
	if len(patch.Required) > 0 {
		t.Errorf("required of BookPatch: %v", patch.Required)
	}
	var readOnly []string
	for name, p := range in.Properties {
		if p.ReadOnly {
			readOnly = append(readOnly, name)
		}
	}
	slices.Sort(readOnly)
	if diff := cmp.Diff([]string{"id", "owner", "seen", "version"}, readOnly); diff != "" {
		t.Errorf("read-only in BookIn (-want +got):\n%s", diff)
	}
	if _, there := out.Properties["secret"]; there || !in.Properties["secret"].WriteOnly {
		t.Error("the secret is shown, or not marked as only written")
	}
	for _, s := range []schema{in, patch, out} {
		if s.Properties["price"].Minimum == nil {
			t.Error("a limit is not documented")
		}
	}
	if in.Properties["stock"].Default != 7.0 || patch.Properties["stock"].Default != nil {
		t.Error("a default is of what is created, and of no patch")
	}
	for line, statuses := range map[[2]string][]string{
		{"/books", "post"}:        {"201", "400", "409", "413", "415", "422", "500"},
		{"/books/{id}", "get"}:    {"200", "304", "404", "422", "500"},
		{"/books/{id}", "patch"}:  {"200", "400", "404", "409", "412", "413", "415", "422", "500"},
		{"/books/{id}", "delete"}: {"204", "404", "409", "412", "422", "500"},
	} {
		got := slices.Sorted(maps.Keys(d.Paths[line[0]][line[1]].Responses))
		if diff := cmp.Diff(statuses, got); diff != "" {
			t.Errorf("statuses of %v (-want +got):\n%s", line, diff)
		}
	}
}

// One controller in two APIs has its routes in both, and links to its own.
func TestTwoAPIs(t *testing.T) {
	t.Parallel()

	books := &Books{crud.New(storeOf(), crud.Config[Book]{})}
	a, b := serveController(t, books, rest.Prefix("/a")), serveController(t, books, rest.Prefix("/b"))
	if got := a.do("POST /a", dune).status(201).Header().Get("Location"); got != "/a/1" {
		t.Errorf("Location %q", got)
	}
	if got := b.do(
		"POST /b", `{"title":"Dune","slug":"x","price":1,"authorId":1}`,
	).status(201).Header().Get("Location"); got != "/b/2" {
		t.Errorf("Location %q", got)
	}
}

// ID is a UUID as libraries have it.
type ID [16]byte

var errID = errors.New("not an id")

func (i ID) MarshalText() ([]byte, error) {
	h := hex.EncodeToString(i[:])
	return []byte(h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]), nil
}

func (i *ID) UnmarshalText(text []byte) error {
	if len(text) != 36 {
		return errID
	}
	b, err := hex.DecodeString(string(text[:8]) + string(text[9:13]) + string(text[14:18]) + string(text[19:23]) +
		string(text[24:]))
	if err != nil {
		return errID
	}
	copy(i[:], b)
	return nil
}

// Token is known by a UUID.
type Token struct {
	ID   ID     `json:"id"`
	Name string `json:"name"`
}

type Tokens struct{ crud.Controller[Token, ID] }

func TestUUIDKeys(t *testing.T) {
	t.Parallel()

	c := serveController(t, &Tokens{crud.New(crud.Memory[Token, ID](crud.MemoryConfig{}), crud.Config[Token]{
		Path: "/tokens",
		Hooks: crud.Hooks[Token]{BeforeCreate: func(_ context.Context, row *Token) error {
			row.ID = ID{1, 2, 3}
			return nil
		}},
	})})
	url := c.do("POST /tokens", `{"name":"a"}`).status(201).Header().Get("Location")
	if url != "/tokens/01020300-0000-0000-0000-000000000000" {
		t.Errorf("Location %q", url)
	}
	c.do("GET "+url, "").status(200).has(`"name":"a"`)
	c.do("PATCH "+url, `{"name":"b"}`).status(200).has(`"name":"b"`)
	c.do("GET /tokens/01020300-0000-0000-0000-000000000001", "").status(404)
	c.do("GET /tokens/x", "").status(404)
	c.do("DELETE "+url, "").status(204)
}

// Tiny has a key of few bits.
type Tiny struct {
	ID   uint8  `json:"id"`
	Name string `json:"name"`
}

type Tinies struct{ crud.Controller[Tiny, uint8] }

func TestKeysThatDoNotFit(t *testing.T) {
	t.Parallel()

	c := serveController(t, &Tinies{
		crud.New(crud.Memory[Tiny, uint8](crud.MemoryConfig{}), crud.Config[Tiny]{Path: "/tinies"}),
	})
	c.do("POST /tinies", `{"name":"a"}`).status(201).has(`"id":1`)
	for _, id := range []string{"257", "-1", "0"} {
		c.do("GET /tinies/"+id, "").status(404)
		c.do("PATCH /tinies/"+id, `{"name":"b"}`).status(404)
	}
	c.do("GET /tinies/1", "").status(200).has(`"name":"a"`)
}
