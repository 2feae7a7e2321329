package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest"
)

func TestCatalogIsExported(t *testing.T) {
	t.Parallel()

	v := open(t)
	v.get("/partner/books.csv").expect(http.StatusUnauthorized)
	got := v.partner("demo-reading").get("/partner/books.csv").expect(http.StatusOK)
	rows, err := csv.NewReader(strings.NewReader(string(got.body))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"9780141439612", "The War of the Worlds", "899", "6"}
	old := v.partner("demo-reading").get("/partner/catalog.csv").expect(http.StatusOK)
	if !bytes.Equal(old.body, got.body) || old.header.Get("Deprecation") != "@1767225600" ||
		old.header.Get("Sunset") != "Thu, 01 Jul 2027 00:00:00 GMT" {
		t.Errorf("header %v of the old address", old.header)
	}
	if len(rows) != 14 || !cmp.Equal(rows[13], want) {
		t.Errorf("%d rows: %v", len(rows), rows)
	}
}

func TestBooksAreLoaded(t *testing.T) {
	t.Parallel()

	v := open(t)
	file := []byte(`{"title": "Mardi", "isbn": "9780141439999", "authorId": 3, "genre": "sea-story", "price": 1099, "published": "1849-01-01T00:00:00Z"}
{"title": "Mardi", "isbn": "9780141439999", "authorId": 3, "genre": "sea-story", "price": 1099, "published": "1849-01-01T00:00:00Z"}
what is this
{"title": "Omoo", "isbn": "9780141439998", "authorId": 3, "genre": "sea-story", "price": 1099, "published": "1847-01-01T00:00:00Z"}
`)
	const path, field, kind = "/partner/books.jsonl", "books", "application/jsonl"
	v.partner("demo-reading").upload(http.MethodPost, path, field, kind, file).expect(http.StatusForbidden)
	got := v.partner(demoKey).upload(http.MethodPost, path, field, kind, file).expect(http.StatusOK)
	if kind := got.header.Get("Content-Type"); kind != "application/jsonl" {
		t.Errorf("content type %q", kind)
	}
	var lines []Loaded
	for decoder := json.NewDecoder(strings.NewReader(string(got.body))); decoder.More(); {
		var l Loaded
		if err := decoder.Decode(&l); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	want := []Loaded{
		{Line: 1, ID: 14},
		{Line: 2, Error: "the book breaks a rule: unique"},
		{Line: 3, Error: "the line is not a book"},
		{Line: 4, ID: 15},
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
	if book := decode[Book](v.get("/books/15").expect(http.StatusOK)); book.Title != "Omoo" {
		t.Errorf("book %+v", book)
	}
}

// TestStock asks an operation of huma, which is behind the same door as the others.
func TestStock(t *testing.T) {
	t.Parallel()

	v := open(t)
	v.get("/partner/stock/9780141439600").code(http.StatusUnauthorized, "unauthorized")
	v.login(demoAdmin).get("/partner/stock/9780141439600").expect(http.StatusUnauthorized)
	partner := v.partner(demoKey)
	if got := decode[Stock](partner.get("/partner/stock/9780141439600").expect(http.StatusOK)); got != (Stock{1, 12}) {
		t.Errorf("stock %+v", got)
	}
	partner.get("/partner/stock/9790000000000").code(http.StatusNotFound, "not_found")
	wrong := decode[rest.Problem](partner.get("/partner/stock/12").expect(http.StatusUnprocessableEntity))
	if len(wrong.Errors) != 1 || wrong.Errors[0].Location != "path.isbn" {
		t.Errorf("errors %+v", wrong.Errors)
	}
}
