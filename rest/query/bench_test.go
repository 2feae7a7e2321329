package query_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/spoolhq/spool/rest/internal/bind"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/query/querytest"
)

// BenchmarkApply measures what the options of a list cost a request before anything is read.
func BenchmarkApply(b *testing.B) {
	for _, bench := range []struct {
		name, query string
		option      query.Option
	}{
		{"Nothing", "page=2&page_size=50", query.Filter[bookFilter]()},
		{"Filter", "title=an&min_price=2.5&id=1&id=2", query.Filter[bookFilter]()},
		{"Order", "ordering=-price,id", query.Order("price", "id")},
		{"Search", "search=les+ann", query.Search("title", "author__name")},
	} {
		b.Run(bench.name, func(b *testing.B) {
			list := shelf().List()
			stage, err := bench.option.Compile(list.Model(), "bench")
			if err != nil {
				b.Fatal(err)
			}
			r := httptest.NewRequest(http.MethodGet, "/books?"+bench.query, nil)
			in := bind.NewInput(r, nil)
			ctx := b.Context()
			b.ReportAllocs()
			for b.Loop() {
				in.Reset(r, nil)
				if _, faults := stage.Apply(ctx, in, list); len(faults) > 0 {
					b.Fatal(faults)
				}
			}
		})
	}
}

// BenchmarkMemory measures reading a page of a thousand rows.
func BenchmarkMemory(b *testing.B) {
	rows := make([]querytest.Book, 0, 1000)
	for len(rows) < cap(rows) {
		rows = append(rows, querytest.Shelf().Books[len(rows)%6])
	}
	all := query.Slice(rows)
	for _, bench := range []struct {
		name string
		set  query.Set[querytest.Book]
	}{
		{"Page", all},
		{"Filtered", all.Where(query.Where("title__icontains", "an"), query.Where("author__country__code", "FR"))},
		{"Ordered", all.OrderBy("-rating", "id")},
	} {
		b.Run(bench.name, func(b *testing.B) {
			ctx := b.Context()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := bench.set.Fetch(ctx, 100, 50); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
