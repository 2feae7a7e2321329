package main

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/page"
)

type bookPage = page.PaginatedResponseSchema[Book]

func titles(books []Book) []string {
	names := []string{}
	for _, b := range books {
		names = append(names, b.Title)
	}
	return names
}

func TestBooksAreFiltered(t *testing.T) {
	t.Parallel()

	v := open(t)
	for query, want := range map[string][]string{
		"title=EMMA":                           {"Emma"},
		"author=jane+austen&ordering=-price":   {"Emma", "Pride and Prejudice", "Persuasion"},
		"author=austen":                        {},
		"author=%C3%A9MILE+zola&in_stock=true": {"Germinal"},
		"in_stock=false&ordering=title":        {"Nana", "Persuasion"},
		"min_price=1299&max_price=1399&ordering=-price,title": {
			"Twenty Thousand Leagues Under the Seas", "Germinal", "The Last Man",
		},
		"published__year=1895":                            {"The Time Machine"},
		"genre=gothic&genre=sea-story&search=or":          {},
		"genre=gothic&genre=sea-story&search=melville,ty": {"Typee"},
		"search=9780141439600":                            {"Pride and Prejudice"},
		"search=978014143960":                             {},
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			got := decode[bookPage](v.get("/books?" + query).expect(http.StatusOK))
			if diff := cmp.Diff(want, titles(got.Results)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestBooksAreRefusedWithFaults(t *testing.T) {
	t.Parallel()

	v := open(t)
	got := v.get("/books?min_price=-1&in_stock=maybe&published__year=x&ordering=stock&page_size=51").expect(
		http.StatusUnprocessableEntity,
	)
	places := map[string]bool{}
	for _, e := range decode[rest.Problem](got).Errors {
		places[e.Location] = true
	}
	want := map[string]bool{
		"query.min_price": true, "query.in_stock": true, "query.published__year": true, "query.ordering[0]": true,
		"query.page_size": true,
	}
	if diff := cmp.Diff(want, places); diff != "" {
		t.Error(diff)
	}
}

// TestPages follows the links of a filtered list, which keep what it is filtered by.
func TestPages(t *testing.T) {
	t.Parallel()

	v := open(t)
	var all []string
	pages := 0
	for next := "/books?in_stock=true&ordering=title&page_size=4"; next != ""; pages++ {
		got := decode[bookPage](v.get(next).expect(http.StatusOK))
		if got.Count != 11 {
			t.Errorf("page %d counts %d books, want 11", pages+1, got.Count)
		}
		all = append(all, titles(got.Results)...)
		next = ""
		if got.Next != nil {
			next = *got.Next
		}
	}
	if pages != 3 || len(all) != 11 || all[0] != "Around the World in Eighty Days" || all[10] != "Typee" {
		t.Errorf("%d pages with %q", pages, all)
	}
	v.get("/books?page=99").code(http.StatusNotFound, "page_not_found")
}

func TestCatalogIsReadByAllAndWrittenByFew(t *testing.T) {
	t.Parallel()

	v := open(t)
	genre := Genre{Slug: "essay", Name: "Essay"}
	v.post("/genres", genre).code(http.StatusUnauthorized, "unauthorized")
	v.partner("wrong").get("/genres").expect(http.StatusUnauthorized)
	v.partner("demo-reading").post("/genres", genre).code(http.StatusForbidden, "permission_denied")
	v.login(demoCustomer).post("/genres", genre).code(http.StatusForbidden, "permission_denied")
	created := v.partner(demoKey).post("/genres", genre).expect(http.StatusCreated)
	if at := created.header.Get("Location"); at != "/genres/essay" {
		t.Errorf("Location %q", at)
	}
	v.login(demoAdmin).post("/genres", genre).code(http.StatusConflict, "not_unique")
	if got := decode[[]Genre](v.get("/genres").expect(http.StatusOK)); len(got) != 5 || got[0] != genre {
		t.Errorf("genres %v", got)
	}
	v.partner(demoKey).send(http.MethodPut, "/genres/essay", genre).expect(http.StatusMethodNotAllowed)
	v.partner(demoKey).send(http.MethodDelete, "/genres/essay", nil).expect(http.StatusNoContent)
	v.get("/genres/essay").code(http.StatusNotFound, "not_found")
	v.partner(demoKey).send(http.MethodDelete, "/genres/novel", nil).code(http.StatusConflict, "referenced")
	v.get("/genres/no%20slug").expect(http.StatusNotFound)
}

// TestBooksOfGenre asks the route that a model controller has beside those of its model.
func TestBooksOfGenre(t *testing.T) {
	t.Parallel()

	v := open(t)
	got := decode[page.RestPaginationResponseSchema[Book]](v.get("/genres/sea-story/books?limit=1").expect(http.StatusOK))
	if got.Count != 2 || got.Items[0].Title != "Moby-Dick" {
		t.Errorf("books %+v", got)
	}
	v.get("/genres/opera/books").code(http.StatusNotFound, "not_found")
	v.get("/genres/a%20b/books").expect(http.StatusNotFound) // no slug, so no path of a genre
}

func TestBookIsMadeAndChanged(t *testing.T) {
	t.Parallel()

	v := open(t).partner(demoKey)
	draft := map[string]any{
		"title": "Mardi", "isbn": "9780141439999", "authorId": 3, "genre": "sea-story", "price": 1099,
		"published": "1849-01-01T00:00:00Z",
	}
	created := v.post("/books", draft).expect(http.StatusCreated)
	book := decode[Book](created)
	if book.Stock != 0 || book.Version != 1 || book.Author == nil || book.Author.Name != "Herman Melville" {
		t.Errorf("created %+v by %+v", book, book.Author)
	}
	v.post("/books", draft).code(http.StatusConflict, "not_unique")

	draft["isbn"], draft["authorId"] = "9780141439998", 99
	v.post("/books", draft).expect(http.StatusUnprocessableEntity) // there is no such author

	at := created.header.Get("Location")
	first := created.header.Get("ETag")
	v.with("If-None-Match", first).get(at).expect(http.StatusNotModified)
	second := v.with("If-Match", first).send(http.MethodPatch, at, map[string]any{"stock": 3}).expect(http.StatusOK)
	if got := decode[Book](second); got.Stock != 3 || got.Title != "Mardi" || second.header.Get("ETag") == first {
		t.Errorf("patched %+v with the ETag %s", got, second.header.Get("ETag"))
	}
	v.with("If-Match", first).send(http.MethodPatch, at, map[string]any{"stock": 9}).code(http.StatusPreconditionFailed,
		"precondition_failed")
	v.send(http.MethodPatch, at, map[string]any{"price": nil}).expect(http.StatusUnprocessableEntity)
	v.send(http.MethodPatch, at, map[string]any{"colour": "red"}).expect(http.StatusUnprocessableEntity)

	draft["authorId"] = 3
	replaced := decode[Book](v.send(http.MethodPut, at, draft).expect(http.StatusOK))
	if replaced.Stock != 0 || replaced.Version != 3 {
		t.Errorf("replaced %+v", replaced)
	}
	v.send(http.MethodDelete, at, nil).expect(http.StatusNoContent)
	v.get(at).code(http.StatusNotFound, "not_found")
}

func TestAuthorsHaveVersionsByHash(t *testing.T) {
	t.Parallel()

	v := open(t)
	first := v.get("/authors/5").expect(http.StatusOK)
	tag := first.header.Get("ETag")
	admin := v.login(demoAdmin).with("If-Match", tag)
	admin.send(http.MethodPatch, "/authors/5", map[string]any{"born": nil}).expect(http.StatusOK)
	admin.send(http.MethodPatch, "/authors/5", map[string]any{"born": 1840}).expect(http.StatusPreconditionFailed)
	if got := decode[Author](v.get("/authors/5")); got.Born != nil {
		t.Errorf("born %d", *got.Born)
	}
	got := decode[page.PaginatedResponseSchema[Author]](
		v.get("/authors?born=1790&born=1830&ordering=-born").expect(http.StatusOK),
	)
	if len(got.Results) != 3 || got.Results[0].Name != "Jules Verne" {
		t.Errorf("authors %v", got.Results)
	}
}

// TestShelvesInherit shows one controller embedded in two, of which one overrides a route.
func TestShelvesInherit(t *testing.T) {
	t.Parallel()

	v := open(t)
	arrivals := decode[bookPage](v.get("/shelves/arrivals").expect(http.StatusOK))
	bargains := decode[page.PaginatedResponseSchema[Offer]](v.get("/shelves/bargains").expect(http.StatusOK))
	if arrivals.Count != 6 || arrivals.Results[0].Title != "Around the World in Eighty Days" {
		t.Errorf("arrivals %v", titles(arrivals.Results))
	}
	if bargains.Count != 5 || bargains.Results[0] != (Offer{12, "The Time Machine", 699, 301}) {
		t.Errorf("bargains %v", bargains.Results)
	}
	for path, want := range map[string]int64{"/shelves/arrivals/size": 6, "/shelves/bargains/size": 5} {
		if got := decode[Size](v.get(path).expect(http.StatusOK)); got.Books != want {
			t.Errorf("%s: %d books, want %d", path, got.Books, want)
		}
	}
}
