package page_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/query"
)

func TestLimitOffset(t *testing.T) {
	t.Parallel()

	p := page.LimitOffset(page.Size(2), page.Max(3))
	list := query.Slice(books(5))

	for address, want := range map[string]string{
		"/books":                              `{"items":[{"id":1},{"id":2}],"count":5}`,
		"/books?limit=3":                      `{"items":[{"id":1},{"id":2},{"id":3}],"count":5}`,
		"/books?limit=1&offset=0":             `{"items":[{"id":1}],"count":5}`,
		"/books?offset=4":                     `{"items":[{"id":5}],"count":5}`,
		"/books?offset=5":                     `{"items":[],"count":5}`,
		"/books?offset=500":                   `{"items":[],"count":5}`,
		"/books?offset=9223372032559808515":   `{"items":[],"count":5}`, // the greatest that there is
		"/books?limit=2&offset=3&other=thing": `{"items":[{"id":4},{"id":5}],"count":5}`,
	} {
		if got := get(t, p, list, address).ok(t); got != want {
			t.Errorf("%s: got %s, want %s", address, got, want)
		}
	}

	if got, want := get(t, p, query.Slice[book](nil), "/books").ok(t), `{"items":[],"count":0}`; got != want {
		t.Errorf("an empty list: got %s, want %s", got, want)
	}
}

func TestLimitOffsetBounds(t *testing.T) {
	t.Parallel()

	list := query.Slice(books(5))
	for address, want := range map[string]map[string]string{
		"/books?limit=1000":                 nil,
		"/books?limit=1001":                 {"query.limit": "less_than_equal"},
		"/books?limit=0":                    {"query.limit": "greater_than_equal"},
		"/books?limit=-1":                   {"query.limit": "greater_than_equal"},
		"/books?offset=-1":                  {"query.offset": "greater_than_equal"},
		"/books?limit=a&offset=1.0":         {"query.limit": "int_parsing", "query.offset": "int_parsing"},
		"/books?limit=1&limit=2":            {"query.limit": "repeated"},
		"/books?offset=9223372036854775807": {"query.offset": "int_overflow"},
		"/books?offset=9223372036854775808": {"query.offset": "int_overflow"},
		"/books?offset=9223372032559808516": {"query.offset": "int_overflow"},
	} {
		a := get(t, page.LimitOffset(), list, address)
		if diff := cmp.Diff(want, a.kinds()); diff != "" || a.err != nil {
			t.Errorf("%s: error %v, faults (-want +got)\n%s", address, a.err, diff)
		}
	}
}

func TestLimitOffsetOptions(t *testing.T) {
	t.Parallel()

	list := query.Slice(books(5))

	clamped := page.LimitOffset(page.Max(2), page.OverMax(page.Clamp))
	if got, want := get(t, clamped, list, "/?limit=999").ok(t), `{"items":[{"id":1},{"id":2}],"count":5}`; got != want {
		t.Errorf("clamped: got %s, want %s", got, want)
	}
	if got, want := get(t, clamped, list, "/?limit=0").kinds(), "greater_than_equal"; got["query.limit"] != want {
		t.Errorf("clamped below: got %v, want %s", got, want)
	}

	renamed := page.LimitOffset(page.Names("take", "skip"))
	if got, want := get(t, renamed, list, "/?take=1&skip=1&limit=a").ok(t), `{"items":[{"id":2}],"count":5}`; got != want {
		t.Errorf("renamed: got %s, want %s", got, want)
	}

	strict := page.LimitOffset(page.PastEnd(page.NotFound), page.Size(2))
	a := get(t, strict, list, "/?offset=6")
	if past, ok := errors.AsType[*page.PastEndError](a.err); !ok || past.Page != 4 {
		t.Errorf("past the end: got %+v, want page 4 not to be there", a)
	}
	if got, want := get(t, strict, query.Slice[book](nil), "/").ok(t), `{"items":[],"count":0}`; got != want {
		t.Errorf("empty and strict: got %s, want %s", got, want)
	}

	uncounted := page.LimitOffset(page.Count(page.NoCount), page.Size(2))
	if got, want := get(t, uncounted, list, "/").ok(t), `{"items":[{"id":1},{"id":2}],"count":null}`; got != want {
		t.Errorf("not counted: got %s, want %s", got, want)
	}
}

func TestLimitOffsetLinkHeader(t *testing.T) {
	t.Parallel()

	list := query.Slice(books(5))
	exact := page.LimitOffset(page.Size(2), page.LinkHeader())
	uncounted := page.LimitOffset(page.Size(2), page.LinkHeader(), page.Count(page.NoCount))

	for _, test := range []struct {
		p             page.Paginator
		address, want string
	}{
		{
			exact, "/books?a=1",
			`</books?a=1>; rel="first", </books?a=1&offset=2>; rel="next", </books?a=1&offset=4>; rel="last"`,
		},
		{
			exact, "/books?offset=2&a=1",
			`</books?a=1>; rel="first", </books?a=1>; rel="prev", </books?offset=4&a=1>; rel="next", </books?offset=4&a=1>; rel="last"`,
		},
		{
			exact, "/books?offset=1&key=x",
			`</books>; rel="first", </books>; rel="prev", </books?offset=3>; rel="next", </books?offset=4>; rel="last"`,
		},
		{exact, "/books?offset=4", `</books>; rel="first", </books?offset=2>; rel="prev", </books?offset=4>; rel="last"`},
		{exact, "/books?offset=90", `</books>; rel="first", </books?offset=4>; rel="prev", </books?offset=4>; rel="last"`},
		{uncounted, "/books?offset=2", `</books>; rel="first", </books>; rel="prev", </books?offset=4>; rel="next"`},
		{uncounted, "/books?offset=3", `</books>; rel="first", </books?offset=1>; rel="prev"`},
	} {
		a := get(t, test.p, list, test.address)
		a.ok(t)
		if got := a.header.Get("Link"); got != test.want {
			t.Errorf("%s: got %s, want %s", test.address, got, test.want)
		}
	}

	if a := get(t, page.LimitOffset(), list, "/"); a.header != nil {
		t.Errorf("not asked for: got %v, want no header", a.header)
	}
}
