package crud_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/crud"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/permission"
	"github.com/spoolhq/spool/rest/query"
)

// Room is below two parents.
type Room struct {
	ID      int64  `json:"id"`
	OrgID   int64  `crud:"parent" json:"orgId"`
	HouseID string `crud:"parent" json:"houseId"`
	Name    string `json:"name"`
}

type Rooms struct{ crud.Controller[Room, int64] }

// A prefix with two parameters, or one without a type, broke the reference's model routes.
func TestDefect12PrefixWithParameters(t *testing.T) {
	t.Parallel()

	store := crud.Memory[Room, int64](crud.MemoryConfig{})
	for _, row := range []Room{{0, 1, "a", "mine"}, {0, 1, "b", "other house"}, {0, 2, "a", "other org"}} {
		if err := store.Insert(context.Background(), &row); err != nil {
			t.Fatal(err)
		}
	}
	c := serveController(t, &Rooms{crud.New(store, crud.Config[Room]{
		Path: "/orgs/{int:org_id}/houses/{house_id}/rooms", Pagination: crud.Pagination{Klass: page.None},
	})}, rest.Prefix("/v1"))

	c.do("GET /v1/orgs/1/houses/a/rooms", "").status(200).has("mine").hasNot("other")
	c.do("GET /v1/orgs/1/houses/a/rooms/1", "").status(200)
	for _, line := range []string{"GET", "PATCH", "PUT", "DELETE"} {
		body := `{"name":"taken"}`
		if line == "GET" || line == "DELETE" {
			body = ""
		}
		c.do(line+" /v1/orgs/1/houses/a/rooms/2", body).status(404)
		c.do(line+" /v1/orgs/1/houses/a/rooms/3", body).status(404)
		c.do(line+" /v1/orgs/x/houses/a/rooms/1", body).status(404)
	}
	created := c.do("POST /v1/orgs/1/houses/a/rooms",
		`{"name":"new","orgId":2}`).status(201).has(`"orgId":1`).has(`"houseId":"a"`)
	if got := created.Header().Get("Location"); got != "/v1/orgs/1/houses/a/rooms/4" {
		t.Errorf("Location %q", got)
	}
	c.do("PUT /v1/orgs/1/houses/a/rooms/4", `{"name":"newer","orgId":2,"houseId":"b"}`).status(200).has(`"orgId":1`)
	c.do("DELETE /v1/orgs/1/houses/a/rooms/4", "").status(204)
}

// Board is below three parents.
type Board struct {
	ID      int64  `json:"id"`
	OrgID   int64  `crud:"parent" json:"orgId"`
	HouseID string `crud:"parent" json:"houseId"`
	RoomID  int64  `crud:"parent" json:"roomId"`
}

type Boards struct{ crud.Controller[Board, int64] }

// A site has any number of parents, which the document calls by their names in the path.
func TestParentsHaveTheirNames(t *testing.T) {
	t.Parallel()

	store := crud.Memory[Board, int64](crud.MemoryConfig{})
	c := serveController(t, &Boards{crud.New(store, crud.Config[Board]{
		Path: "/orgs/{int:org_id}/houses/{houseId}/rooms/{int:room_id}/shelves",
	})})
	created := c.do("POST /orgs/1/houses/a/rooms/7/shelves",
		`{}`).status(201).has(`"orgId":1`).has(`"houseId":"a"`).has(`"roomId":7`)
	if got := created.Header().Get("Location"); got != "/orgs/1/houses/a/rooms/7/shelves/1" {
		t.Errorf("Location %q", got)
	}
	c.do("GET /orgs/1/houses/a/rooms/7/shelves/1", "").status(200)
	c.do("GET /orgs/1/houses/a/rooms/8/shelves/1", "").status(404)
	c.do("GET /openapi.json", "").status(200).
		has(`"/orgs/{org_id}/houses/{houseId}/rooms/{room_id}/shelves/{id}"`).
		has(`"name": "org_id"`).has(`"name": "houseId"`).has(`"name": "room_id"`).hasNot(`parent`)
}

// The reference's lists had no order, and so no page was sure.
func TestDefect11ListsHaveAnOrder(t *testing.T) {
	t.Parallel()

	store := storeOf(
		Book{ID: 3, Slug: "c", AuthorID: 1, Price: 2}, Book{ID: 1, Slug: "a", AuthorID: 1, Price: 2},
		Book{ID: 2, Slug: "b", AuthorID: 1, Price: 1},
	)
	for name, test := range map[string]struct {
		pagination crud.Pagination
		query      string
		want       []string
	}{
		"Key":      {crud.Pagination{}, "", []string{"a", "b", "c"}},
		"Default":  {crud.Pagination{DefaultOrdering: []string{"-price"}}, "", []string{"c", "a", "b"}},
		"Asked":    {crud.Pagination{Ordering: []string{"price"}}, "?ordering=price", []string{"b", "a", "c"}},
		"NotAsked": {crud.Pagination{Ordering: []string{"price"}}, "", []string{"b", "a", "c"}},
		"Other": {
			crud.Pagination{Ordering: []string{"price"}, DefaultOrdering: []string{"-slug"}},
			"",
			[]string{"c", "b", "a"},
		},
		"Search": {crud.Pagination{Searching: []string{"slug"}}, "?search=c", []string{"c"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			test.pagination.Klass = page.Number
			c := serve(t, store, crud.Config[Book]{Pagination: test.pagination})
			var got []string
			results, _ := c.do("GET /books"+test.query, "").status(200).object()["results"].([]any)
			for _, row := range results {
				book, _ := row.(map[string]any)
				slug, _ := book["slug"].(string)
				got = append(got, slug)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("slugs (-want +got):\n%s", diff)
			}
		})
	}
}

type bookFilter struct {
	MaxPrice *float64 `filter:"price,lte" query:"max_price"`
}

func TestPagination(t *testing.T) {
	t.Parallel()

	store := storeOf(Book{Slug: "a", AuthorID: 1, Price: 2}, Book{Slug: "b", AuthorID: 1, Price: 3},
		Book{Slug: "c", AuthorID: 1, Price: 9})
	c := serve(t, store, crud.Config[Book]{Pagination: crud.Pagination{
		Klass: page.Number, FilterSchema: query.Filter[bookFilter](), PaginatorKwargs: map[string]any{"page_size": 1},
	}})
	c.do("GET /books?max_price=5", "").status(200).has(`"count":2`).has(`"next":"/books?max_price=5&page=2"`)
	c.do("GET /books?max_price=x", "").status(422)
	c.do("GET /books?page=9", "").status(404)

	named := serve(t, store, crud.Config[Book]{Pagination: crud.Pagination{
		Klass: "LimitOffsetPagination", PaginatorKwargs: map[string]any{"limit": 2},
	}})
	named.do("GET /books", "").status(200).has(`"items":[`).hasNot(`"slug":"c"`)
}

func TestLookup(t *testing.T) {
	t.Parallel()

	c := serve(t, storeOf(Book{Slug: "a-1", Title: "A", AuthorID: 1}, Book{Slug: "b", Title: "B", AuthorID: 1}),
		crud.Config[Book]{Lookup: "slug"})
	c.do("GET /books/a-1", "").status(200).has(`"id":1`)
	c.do("GET /books/1", "").status(404)
	c.do("PATCH /books/b", `{"price":4}`).status(200).has(`"id":2`)
	if got := c.do("POST /books", dune).status(201).Header().Get("Location"); got != "/books/dune" {
		t.Errorf("Location %q", got)
	}
	c.do("PATCH /books/b", `{"slug":"b2"}`).status(200)
	c.do("GET /books/b", "").status(404)
	c.do("DELETE /books/b2", "").status(204)
	c.do("GET /books/b2", "").status(404)
}

// keyAuth knows a caller by the header Name.
type keyAuth struct{}

func (keyAuth) Scheme() rest.Scheme {
	return rest.Scheme{Name: "Name", Type: "apiKey", In: "header", Param: "Name"}
}

func (keyAuth) Authenticate(r *http.Request) (rest.Principal, error) {
	if name := r.Header.Get("Name"); name != "" {
		return person(name), nil
	}
	return nil, rest.ErrNoCredentials
}

type person string

func (p person) PrincipalID() string { return string(p) }

func TestObjectPermissions(t *testing.T) {
	t.Parallel()

	var api rest.Controller = &Books{crud.New(storeOf(Book{Slug: "a", AuthorID: 1, Owner: "ann"}), crud.Config[Book]{
		Options: []rest.RouteOption{rest.Auth(keyAuth{})},
		RouteOptions: map[crud.Route][]rest.RouteOption{
			crud.Update: {rest.Permit(permission.Owner(func(b Book) string { return b.Owner }))},
			crud.Patch:  {rest.Permit(permission.Owner(func(b *Book) string { return b.Owner }))},
			crud.Delete: {rest.Permit(permission.Owner(func(b Book) string { return b.Owner }))},
		},
	})}
	c := serveController(t, api, rest.Prefix("/books"))
	c.do("GET /books/1", "").status(401)
	bob, ann := c.with("Name", "bob"), c.with("Name", "ann")
	bob.do("GET /books/1", "").status(200)
	for line, body := range map[string]string{
		"PATCH /books/1": `{"price":2}`, "PUT /books/1": dune, "DELETE /books/1": "",
	} {
		bob.do(line, body).status(403)
		bob.with("If-Match", `"other"`).do(line, body).status(403)
	}
	bob.do("GET /books/1", "").status(200).has(`"version":0`)
	ann.do("PATCH /books/1", `{"price":2}`).status(200)
	ann.do("PUT /books/1", dune).status(200)
	ann.do("DELETE /books/1", "").status(204)
}

func mine() rest.Permission {
	return permission.ListScope[Book](func(ctx context.Context) query.Expr {
		return query.Where("note", rest.PrincipalOf(ctx).PrincipalID())
	})
}

func TestListScopeHoldsForAll(t *testing.T) {
	t.Parallel()

	anns, bobs := "ann", "bob"
	store := storeOf(Book{Slug: "a", AuthorID: 1, Note: &anns}, Book{Slug: "b", AuthorID: 1, Note: &bobs})
	c := serve(t, store, crud.Config[Book]{Options: []rest.RouteOption{rest.Auth(keyAuth{}), rest.Permit(mine())}}).
		with("Name", "ann")
	c.do("GET /books", "").status(200).has(`"count":1`).has(`"slug":"a"`)
	c.do("GET /books/1", "").status(200)
	for line, body := range map[string]string{
		"GET /books/2": "", "PATCH /books/2": `{"price":2}`, "PUT /books/2": dune, "DELETE /books/2": "",
	} {
		c.do(line, body).status(404)
	}
	// Nothing is made, or moved, to where its maker could not see it.
	c.do("POST /books", dune).status(403)
	c.do("PATCH /books/1", `{"note":"bob"}`).status(403)
	c.do("POST /books", `{"note":"ann","title":"Dune","slug":"dune","price":9.5,"authorId":1}`).status(201)
	c.do("GET /books", "").status(200).has(`"count":2`)
	if row := stored(t, store); *row.Note != "ann" || row.Version != 0 {
		t.Errorf("a refused patch has left the note %q of version %d", *row.Note, row.Version)
	}
}
