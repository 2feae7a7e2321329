package page_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/auth"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/query"
)

// shop has a list with each paginator.
type shop struct{ books []book }

func (c *shop) list(context.Context, struct{}) (query.Set[book], error) {
	return query.Slice(c.books), nil
}

func (c *shop) Routes(r *rest.Routes) {
	rest.List(r, "/default", c.list)
	rest.List(r, "/number", c.list, page.Number(page.Size(2)))
	rest.List(r, "/cursor", c.list, page.Cursor(page.Sign(page.RandomSecret()), page.Size(2), page.LinkHeader()))
	rest.List(r, "/none", c.list, page.None())
	rest.List(r, "/uncounted", c.list, page.Number(page.Count(page.NoCount)))
	rest.List(r, "/own", c.list, page.New(halves{page.NewReader[half]("halves")}))
	rest.List(r, "/ordered", c.list, query.Order("id", "title"), page.Cursor(page.Sign(page.RandomSecret()), page.Size(2)))
	rest.List(r, "/keyed", c.list, page.Number(page.Size(2)),
		rest.Auth(auth.APIKeyQuery("key", auth.Keys(map[string]*rest.User{"secret": {ID: "1"}}))))
}

func newShop(options ...rest.APIOption) *rest.API {
	api := rest.New(options...)
	api.Register(&shop{books(5)}, rest.Prefix("/books"))

	return api
}

// call asks an API over HTTP and returns status and body.
func call(t *testing.T, api http.Handler, address string) (int, string, http.Header) {
	t.Helper()

	r := httptest.NewRequest(http.MethodGet, address, nil)
	r.Host = "evil.example"
	w := httptest.NewRecorder()
	api.ServeHTTP(w, r)

	return w.Code, strings.TrimSpace(w.Body.String()), w.Header()
}

func TestListRoutes(t *testing.T) {
	t.Parallel()

	api := newShop()
	for address, want := range map[string]string{
		"/books/default?limit=1":      `{"items":[{"id":1}],"count":5}`,
		"/books/default?offset=9":     `{"items":[],"count":5}`,
		"/books/number?page=2":        `{"count":5,"next":"/books/number?page=3","previous":"/books/number","results":[{"id":3},{"id":4}]}`,
		"/books/none":                 `[{"id":1},{"id":2},{"id":3},{"id":4},{"id":5}]`,
		"/books/own?half=second":      `{"items":[{"id":4},{"id":5}]}`,
		"/books/keyed?key=secret&x=1": `{"count":5,"next":"/books/keyed?x=1&page=2","previous":null,"results":[{"id":1},{"id":2}]}`,
	} {
		status, body, _ := call(t, api, address)
		if body = strings.ReplaceAll(body, `\u0026`, "&"); status != http.StatusOK || body != want {
			t.Errorf("%s: got %d %s, want %s", address, status, body, want)
		}
	}

	for address, want := range map[string]int{
		"/books/number?page=4":              http.StatusNotFound,
		"/books/number?page=0":              http.StatusUnprocessableEntity,
		"/books/number?page_size=201":       http.StatusUnprocessableEntity,
		"/books/default?offset=1&limit=%zz": http.StatusUnprocessableEntity,
		"/books/cursor?cursor=AQ":           http.StatusUnprocessableEntity,
		"/books/own?half=3":                 http.StatusUnprocessableEntity,
		"/books/keyed":                      http.StatusUnauthorized,
	} {
		if status, body, _ := call(t, api, address); status != want {
			t.Errorf("%s: got %d %s, want %d", address, status, body, want)
		}
	}
}

// A client that knows nothing but the addresses it is given reads the list.
func TestCursorOverHTTP(t *testing.T) {
	t.Parallel()

	api := newShop(rest.BaseURL("https://api.example"))
	var seen []int64
	for address := "/books/cursor?page_size=2"; address != ""; {
		status, text, header := call(t, api, address)
		if status != http.StatusOK {
			t.Fatalf("%s: got %d %s", address, status, text)
		}
		var body cursorPage
		if err := json.Unmarshal([]byte(text), &body); err != nil {
			t.Fatal(err)
		}
		seen = append(seen, ids(body.Results)...)

		address = ""
		if body.Next != nil {
			if !strings.HasPrefix(*body.Next, "https://api.example/books/cursor?page_size=2&cursor=") {
				t.Errorf("got the address %s", *body.Next)
			}
			if want := "<" + *body.Next + `>; rel="next"`; !strings.Contains(header.Get("Link"), want) {
				t.Errorf("got the links %s, want %s", header.Get("Link"), want)
			}
			address = strings.TrimPrefix(*body.Next, "https://api.example")
		}
	}
	if diff := cmp.Diff(ids(books(5)), seen); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A client that chooses the order keeps it from page to page, and cannot change it midway.
func TestCursorInTheOrderOfTheClient(t *testing.T) {
	t.Parallel()

	api := newShop()
	next := func(address string) (found []int64, to string) {
		status, text, _ := call(t, api, address)
		var body cursorPage
		if err := json.Unmarshal([]byte(text), &body); err != nil || status != http.StatusOK {
			t.Fatalf("%s: got %d %s", address, status, text)
		}
		return ids(body.Results), *body.Next
	}

	first, to := next("/books/ordered?ordering=-id")
	if diff := cmp.Diff([]int64{5, 4}, first); diff != "" {
		t.Errorf("first (-want +got)\n%s", diff)
	}
	second, _ := next(to)
	if diff := cmp.Diff([]int64{3, 2}, second); diff != "" {
		t.Errorf("second (-want +got)\n%s", diff)
	}
	turned := strings.Replace(to, "ordering=-id", "ordering=id", 1)
	if status, text, _ := call(t, api, turned); status != http.StatusUnprocessableEntity ||
		!strings.Contains(text, "cursor") {
		t.Errorf("in another order: got %d %s", status, text)
	}
}

// The document has the parameters with their limits, and the body, of each paginator.
func TestDocument(t *testing.T) {
	t.Parallel()

	type schema struct {
		Ref              string `json:"$ref"`
		Type             any    `json:"type"`
		Default          any    `json:"default"`
		Minimum, Maximum *float64
		Properties       map[string]schema `json:"properties"`
		Required         []string          `json:"required"`
	}
	type operation struct {
		Parameters []struct {
			Name     string
			In       string
			Required bool
			Schema   schema
		}
		Responses map[string]struct {
			Content map[string]struct{ Schema schema }
		}
	}
	var document struct {
		Paths      map[string]struct{ Get operation }
		Components struct{ Schemas map[string]schema }
	}
	_, text, _ := call(t, newShop(), "/openapi.json")
	if err := json.Unmarshal([]byte(text), &document); err != nil {
		t.Fatal(err)
	}

	op := document.Paths["/books/number"].Get
	var names []string
	for _, p := range op.Parameters {
		names = append(names, p.Name)
		if p.In != "query" || p.Required || *p.Schema.Minimum != 1 {
			t.Errorf("parameter %+v", p)
		}
	}
	if diff := cmp.Diff([]string{"page", "page_size"}, names); diff != "" {
		t.Fatalf("parameters (-want +got)\n%s", diff)
	}
	if size := op.Parameters[1].Schema; *size.Maximum != 200 || size.Default != 2.0 {
		t.Errorf("page_size: %+v", size)
	}
	for status, want := range map[string]bool{"200": true, "404": true, "422": true} {
		if _, ok := op.Responses[status]; ok != want {
			t.Errorf("%s documented: %v", status, ok)
		}
	}
	if _, ok := document.Paths["/books/default"].Get.Responses["404"]; ok {
		t.Error("a page of limit and offset is documented as 404")
	}

	body := func(path string) string {
		return document.Paths[path].Get.Responses["200"].Content["application/json"].Schema.Ref
	}
	for path, want := range map[string]string{
		"/books/default":   "RestPaginationResponseSchemaBook",
		"/books/number":    "PaginatedResponseSchemaBook",
		"/books/uncounted": "UncountedPaginatedResponseSchemaBook",
		"/books/cursor":    "CursorResponseSchemaBook",
		"/books/own":       "HalfBook",
		"/books/none":      "",
	} {
		if got := body(path); got != want && got != "#/components/schemas/"+want {
			t.Errorf("%s: got the body %s, want %s", path, got, want)
		}
	}
	page := document.Components.Schemas["PaginatedResponseSchemaBook"]
	if diff := cmp.Diff([]string{"count", "next", "previous", "results"}, page.Required); diff != "" {
		t.Errorf("required (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]any{"string", "null"}, page.Properties["next"].Type); diff != "" {
		t.Errorf("next (-want +got)\n%s", diff)
	}
}
