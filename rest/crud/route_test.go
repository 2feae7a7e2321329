package crud_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/crud"
	"github.com/spoolhq/spool/rest/page"
)

func TestRoutes(t *testing.T) {
	t.Parallel()

	c := serve(t, storeOf(), crud.Config[Book]{})

	created := c.do("POST /books", dune).status(201)
	if got := created.Header().Get("Location"); got != "/books/1" {
		t.Errorf("Location %q, want /books/1", got)
	}
	if got := created.Header().Get("ETag"); got != `"1"` {
		t.Errorf("ETag %s, want \"1\"", got)
	}
	want := map[string]any{
		"id": 1.0, "title": "Dune", "slug": "dune", "price": 9.5, "stock": 7.0, "note": nil, "authorId": 1.0,
		"owner": "", "version": 1.0, "seen": "0001-01-01T00:00:00Z",
	}
	if diff := cmp.Diff(want, created.object()); diff != "" {
		t.Errorf("create (-want +got):\n%s", diff)
	}

	if diff := cmp.Diff(want, c.do("GET /books/1", "").status(200).object()); diff != "" {
		t.Errorf("find_one (-want +got):\n%s", diff)
	}
	c.do("GET /books/2", "").status(404).has("Book was not found.")
	c.do("GET /books/x", "").status(404)
	c.do("GET /books", "").status(200).has(`"count":1`)

	c.do("PUT /books/1", `{"title":"Dune 2","slug":"dune-2","price":1,"authorId":2}`).status(200).has(`"title":"Dune 2"`)
	c.do("PUT /books/2", dune).status(404)
	c.do("PATCH /books/1", `{"price":3}`).status(200).has(`"price":3`).has(`"title":"Dune 2"`)
	c.do("PATCH /books/2", `{"price":3}`).status(404)

	gone := c.do("DELETE /books/1", "").status(204)
	if n, length := gone.Body.Len(), gone.Header().Get("Content-Length"); n != 0 || length != "" {
		t.Errorf("delete answers %d bytes with Content-Length %q", n, length)
	}
	c.do("DELETE /books/1", "").status(404)
	c.do("HEAD /books/1", "").status(404)
}

func TestAllowedRoutes(t *testing.T) {
	t.Parallel()

	c := serve(t, storeOf(Book{Slug: "a", AuthorID: 1}),
		crud.Config[Book]{AllowedRoutes: []crud.Route{crud.List, crud.FindOne}})
	c.do("GET /books", "").status(200)
	c.do("GET /books/1", "").status(200)
	for _, line := range []string{"POST /books", "PUT /books/1", "PATCH /books/1", "DELETE /books/1"} {
		c.do(line, "{}").status(405)
	}
}

// TestCreateWithoutFindOne has no address to point to.
func TestCreateWithoutFindOne(t *testing.T) {
	t.Parallel()

	c := serve(t, storeOf(), crud.Config[Book]{AllowedRoutes: []crud.Route{crud.Create}})
	if got := c.do("POST /books", dune).status(201).Header().Get("Location"); got != "" {
		t.Errorf("Location %q, want none", got)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()

	c := serve(t, storeOf(), crud.Config[Book]{})
	names := map[string]string{}
	for _, r := range c.api.Routes() {
		names[r.Methods[0]+" "+r.Path] = r.Name
	}
	want := map[string]string{
		"POST /books": "Books.create", "GET /books": "Books.list", "GET /books/{id}": "Books.get",
		"PUT /books/{id}": "Books.update", "PATCH /books/{id}": "Books.patch", "DELETE /books/{id}": "Books.delete",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func TestListIsAnArrayWithoutPages(t *testing.T) {
	t.Parallel()

	store := storeOf(Book{Slug: "a", AuthorID: 1}, Book{Slug: "b", AuthorID: 1})
	c := serve(t, store, crud.Config[Book]{Pagination: crud.Pagination{Klass: page.None}})
	if got := c.do("GET /books", "").status(200).Body.String(); got[0] != '[' {
		t.Errorf("the list is %s, not an array", got)
	}
}

// Shelf has a route of its own beside those of the model, and overrides one.
type Shelf struct{ crud.Controller[Book, int64] }

func (s *Shelf) Routes(r *rest.Routes) {
	r.Configure(rest.Prefix("/shelf"))
	r.Inherit(&s.Controller)
	rest.Post(r, "/{int:id}/sell", s.sell)
	rest.Delete(r, "/{int:id}", s.keep)
}

type bookID struct {
	ID int64 `path:"id"`
}

func TestOwnRoutes(t *testing.T) {
	t.Parallel()

	c := serveController(t, &Shelf{crud.New(storeOf(Book{Slug: "a", AuthorID: 1, Price: 4}), crud.Config[Book]{})})
	c.do("POST /shelf/1/sell", "").status(200).has("4")
	c.do("POST /shelf/9/sell", "").status(404)
	c.do("DELETE /shelf/1", "").status(409)
	c.do("GET /shelf/1", "").status(200)
}

func (s *Shelf) sell(ctx context.Context, in bookID) (float64, error) {
	book, err := s.Get(ctx, in.ID)
	return book.Price, err
}

func (s *Shelf) keep(context.Context, bookID) (rest.NoContent, error) {
	return rest.NoContent{}, rest.Conflict("Books stay.")
}
