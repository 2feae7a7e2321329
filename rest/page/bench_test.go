package page_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/spoolhq/spool/rest/internal/bind"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/query/driver"
)

// BenchmarkCursor shows that a page costs the same however deep it lies, over a source that
// uses the bound of the first field as a database uses an index.
func BenchmarkCursor(b *testing.B) {
	const n = 1_000_000
	p := page.Cursor(page.Sign(page.RandomSecret()), page.Size(50))
	list := query.From[book](&index{size: n})

	for _, at := range []int64{0, n / 2, n - 100} {
		b.Run(fmt.Sprintf("at %d", at), func(b *testing.B) {
			r := httptest.NewRequest(http.MethodGet, addressAt(b, p, at), nil)
			links := page.NewLinks("", r.URL, nil)
			in := page.NewInput(r)
			b.ReportAllocs()
			for b.Loop() {
				(*bind.Input)(in).Reset(r, nil)
				result, faults, err := p.Page(b.Context(), in, list.List(), links)
				if err != nil || len(faults) > 0 || result.N != 50 {
					b.Fatal(result.N, faults, err)
				}
			}
		})
	}
}

// A deep page of a source with an index touches as many rows as the first page.
func TestCursorCostIsConstant(t *testing.T) {
	t.Parallel()

	p := page.Cursor(page.Sign(page.RandomSecret()), page.Size(50))
	for _, at := range []int64{0, 500, 500_000, 999_900} {
		source := &index{size: 1_000_000}
		body := as[cursorPage](t, get(t, p, query.From[book](source), addressAt(t, p, at)))
		if got := body.Results[0].ID; got != at+1 {
			t.Errorf("at %d: the page begins with %d", at, got)
		}
		if source.touched != 51 || source.skipped != 0 {
			t.Errorf("at %d: %d rows touched and %d skipped, want 51 and 0", at, source.touched, source.skipped)
		}
	}
}

// addressAt is the address of the page after the item with the id.
func addressAt(tb testing.TB, p page.Paginator, id int64) string {
	tb.Helper()

	if id == 0 {
		return "/books"
	}
	around := query.From[book](&index{start: id - 1, size: id + 1})

	return strings.Replace(*as[cursorPage](tb, get(tb, p, around, "/books?page_size=1")).Next, "page_size=1&", "", 1)
}

// index is a source of books with the ids from start+1 to size, in that order, that can
// begin anywhere when it is told by a condition.
type index struct {
	start, size      int64
	touched, skipped int64
}

func (x *index) Fetch(_ context.Context, plan driver.Plan) ([]book, error) {
	id := x.start + 1
	if after, ok := plan.Where.(*driver.Test); ok && after.Lookup == driver.Greater {
		value, _ := after.Values[0].(int64)
		id = max(id, value+1)
	} else if plan.Where != nil {
		return nil, fmt.Errorf("no index for %#v", plan.Where)
	}

	x.skipped += plan.Offset
	id += plan.Offset
	var found []book
	for ; id <= x.size && int64(len(found)) < plan.Limit; id++ {
		found = append(found, book{ID: id})
		x.touched++
	}

	return found, nil
}

func (x *index) Count(context.Context, driver.Plan) (int64, error) { return x.size - x.start, nil }

func BenchmarkPage(b *testing.B) {
	list := query.Slice(books(1000))
	for name, test := range map[string]struct {
		p       page.Paginator
		address string
	}{
		"limit offset": {page.LimitOffset(), "/books?limit=50&offset=100"},
		"number":       {page.Number(), "/books?page=3&page_size=50&q=go"},
		"none":         {page.None(), "/books"},
	} {
		b.Run(name, func(b *testing.B) {
			r := httptest.NewRequest(http.MethodGet, test.address, nil)
			in := page.NewInput(r)
			b.ReportAllocs()
			for b.Loop() {
				(*bind.Input)(in).Reset(r, nil)
				result, faults, err := test.p.Page(b.Context(), in, list.List(), page.NewLinks("", r.URL, nil))
				if err != nil || len(faults) > 0 {
					b.Fatal(result.N, faults, err)
				}
			}
		})
	}
}

func BenchmarkLinks(b *testing.B) {
	r := httptest.NewRequest(http.MethodGet, "/books?q=go&page=3&page_size=50", nil)
	b.ReportAllocs()
	for b.Loop() {
		if page.NewLinks("https://api.example", r.URL, nil).With("page", "4").String() == "" {
			b.Fatal("no address")
		}
	}
}
