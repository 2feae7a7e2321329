package page_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/query"
)

func TestNumber(t *testing.T) {
	t.Parallel()

	p := page.Number(page.Size(2))
	list := query.Slice(books(5))

	for address, want := range map[string]string{
		"/books":                   `{"count":5,"next":"/books?page=2","previous":null,"results":[{"id":1},{"id":2}]}`,
		"/books?page=1":            `{"count":5,"next":"/books?page=2","previous":null,"results":[{"id":1},{"id":2}]}`,
		"/books?page=2&q=a":        `{"count":5,"next":"/books?page=3\u0026q=a","previous":"/books?q=a","results":[{"id":3},{"id":4}]}`,
		"/books?page=3":            `{"count":5,"next":null,"previous":"/books?page=2","results":[{"id":5}]}`,
		"/books?page_size=5":       `{"count":5,"next":null,"previous":null,"results":[{"id":1},{"id":2},{"id":3},{"id":4},{"id":5}]}`,
		"/books?page_size=4":       `{"count":5,"next":"/books?page_size=4\u0026page=2","previous":null,"results":[{"id":1},{"id":2},{"id":3},{"id":4}]}`,
		"/books?key=secret&page=3": `{"count":5,"next":null,"previous":"/books?page=2","results":[{"id":5}]}`,
	} {
		if got := get(t, p, list, address).ok(t); got != want {
			t.Errorf("%s: got %s, want %s", address, got, want)
		}
	}

	want := `{"count":0,"next":null,"previous":null,"results":[]}`
	if got := get(t, p, query.Slice[book](nil), "/books").ok(t); got != want {
		t.Errorf("an empty list: got %s, want %s", got, want)
	}
}

func TestNumberLinksWithBase(t *testing.T) {
	t.Parallel()

	r := httptest.NewRequest(http.MethodGet, "/books?page=2", nil)
	links := page.NewLinks("https://api.example/v1", r.URL, nil)
	body := as[page.PaginatedResponseSchema[book]](t, ask(t, page.Number(page.Size(2)), query.Slice(books(5)), r, links))

	if got, want := *body.Next, "https://api.example/v1/books?page=3"; got != want {
		t.Errorf("next: got %s, want %s", got, want)
	}
	if got, want := *body.Previous, "https://api.example/v1/books"; got != want {
		t.Errorf("previous: got %s, want %s", got, want)
	}
}

func TestNumberBounds(t *testing.T) {
	t.Parallel()

	list := query.Slice(books(500))
	for address, want := range map[string]map[string]string{
		"/?page_size=200": nil,
		"/?page_size=201": {"query.page_size": "less_than_equal"},
		"/?page_size=0&page=0": {
			"query.page_size": "greater_than_equal", "query.page": "greater_than_equal",
		},
		"/?page=-1":                              {"query.page": "greater_than_equal"},
		"/?page=9223372036854775807":             {"query.page": "int_overflow"},
		"/?page=9223372036854775808":             {"query.page": "int_overflow"},
		"/?page=92233720368547759&page_size=100": {"query.page": "int_overflow"},
		"/?page=4611686018427387905&page_size=2": {"query.page": "int_overflow"}, // the product is 2^63 + 2
		"/?page=9223372036854775807&page_size=1": {"query.page": "int_overflow"},
		"/?page=":                                {"query.page": "int_parsing"},
		"/?page=1&page=2":                        {"query.page": "repeated"},
		"/?page=%zz":                             {"query.page": "percent_encoding"},
	} {
		a := get(t, page.Number(), list, address)
		if diff := cmp.Diff(want, a.kinds()); diff != "" || a.err != nil {
			t.Errorf("%s: error %v, faults (-want +got)\n%s", address, a.err, diff)
		}
	}
}

func TestNumberPastEnd(t *testing.T) {
	t.Parallel()

	list := query.Slice(books(4))
	strict, lenient := page.Number(page.Size(2)), page.Number(page.Size(2), page.PastEnd(page.Empty))

	for _, address := range []string{"/?page=3", "/?page=99999999999999999"} {
		a := get(t, strict, list, address)
		if _, ok := errors.AsType[*page.PastEndError](a.err); !ok {
			t.Errorf("%s: got %+v, want a page past the end", address, a)
		}
	}
	a := get(t, strict, list, "/?page=3")
	if got, want := a.err.Error(), "Invalid page. 3 That page contains no results"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}

	for address, want := range map[string]string{
		"/?page=3":  `{"count":4,"next":null,"previous":"/?page=2","results":[]}`,
		"/?page=90": `{"count":4,"next":null,"previous":"/?page=2","results":[]}`,
	} {
		if got := get(t, lenient, list, address).ok(t); got != want {
			t.Errorf("%s: got %s, want %s", address, got, want)
		}
	}
	want := `{"count":0,"next":null,"previous":"/","results":[]}`
	if got := get(t, lenient, query.Slice[book](nil), "/?page=7").ok(t); got != want {
		t.Errorf("an empty list: got %s, want %s", got, want)
	}
}

func TestNumberNotCounted(t *testing.T) {
	t.Parallel()

	p := page.Number(page.Size(2), page.Count(page.NoCount))
	list := query.Slice(books(4))

	for address, want := range map[string]string{
		"/":        `{"count":null,"next":"/?page=2","previous":null,"results":[{"id":1},{"id":2}]}`,
		"/?page=2": `{"count":null,"next":null,"previous":"/","results":[{"id":3},{"id":4}]}`,
	} {
		if got := get(t, p, list, address).ok(t); got != want {
			t.Errorf("%s: got %s, want %s", address, got, want)
		}
	}
}

func TestNumberLinkHeader(t *testing.T) {
	t.Parallel()

	p := page.Number(page.Size(2), page.LinkHeader())
	list := query.Slice(books(6))

	for address, want := range map[string]string{
		"/":        `</>; rel="first", </?page=2>; rel="next", </?page=3>; rel="last"`,
		"/?page=2": `</>; rel="first", </>; rel="prev", </?page=3>; rel="next", </?page=3>; rel="last"`,
		"/?page=3": `</>; rel="first", </?page=2>; rel="prev", </?page=3>; rel="last"`,
	} {
		a := get(t, p, list, address)
		a.ok(t)
		if got := a.header.Get("Link"); got != want {
			t.Errorf("%s: got %s, want %s", address, got, want)
		}
	}
}

// Following next from the first page reads the whole list, whatever the sizes.
func TestNumberWalk(t *testing.T) {
	t.Parallel()

	for n := range 8 {
		for size := 1; size <= 4; size++ {
			p := page.Number(page.Size(size))
			var seen []int64
			address := "/books"
			for address != "" {
				body := as[page.PaginatedResponseSchema[book]](t, get(t, p, query.Slice(books(n)), address))
				seen = append(seen, ids(body.Results)...)
				address = ""
				if body.Next != nil {
					address = *body.Next
				}
			}
			if diff := cmp.Diff(ids(books(n)), append([]int64{}, seen...)); diff != "" {
				t.Errorf("%d books in pages of %d (-want +got)\n%s", n, size, diff)
			}
		}
	}
}
