package query_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest/internal/bind"
	"github.com/spoolhq/spool/rest/internal/fault"
	"github.com/spoolhq/spool/rest/internal/opt"
	"github.com/spoolhq/spool/rest/internal/stage"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/query/driver"
)

type bookFilter struct {
	Title    *string         `filter:"__icontains"`
	MinPrice *float64        `filter:"price,gte"`
	Author   opt.Opt[string] `filter:"author__name__iexact"`
	Text     *string         `filter:"title,icontains|author.name,icontains" query:"q"`
	Both     *string         `filter:"title,icontains&author.name,icontains"`
	IDs      []int64         `filter:"__in"                                  query:"id"`
	Between  []int64         `query:"id__range,comma"`
	Orphan   *bool           `query:"author__isnull"`
	Cheap    *bool
}

func (bookFilter) FilterCheap(cheap bool) query.Expr {
	if !cheap {
		return nil
	}
	return query.Where("price__lt", 5)
}

type eitherFilter struct {
	Title *string
	ID    *int64
}

func (eitherFilter) FilterConnector() driver.Connector { return driver.AnyOf }

type ownFilter struct {
	From int64 `query:"from"`
}

func (f *ownFilter) Filter(context.Context) query.Expr {
	return query.Where("id__gte", f.From)
}

type defaultFilter struct {
	ID int64 `default:"3"`
}

// run applies options to the shelf, and returns the ids or the kinds and places of faults.
func run(t *testing.T, rawQuery string, options ...query.Option) any {
	t.Helper()

	in := bind.NewInput(httptest.NewRequest(http.MethodGet, "/books?"+rawQuery, nil), nil)
	list := shelf().List()
	var all []fault.Fault
	var stages []stage.Stage
	for _, o := range options {
		compiled, err := o.Compile(list.Model(), "GET /books")
		if err != nil {
			t.Fatal(err)
		}
		stages = append(stages, compiled)
	}
	for _, s := range stage.SettleOrder(stages, false, false) {
		next, faults := s.Apply(t.Context(), in, list)
		list = next
		all = append(all, faults...)
	}
	if len(all) > 0 {
		texts := []string{}
		for _, f := range all {
			texts = append(texts, f.Kind+" "+f.Location())
		}
		return texts
	}
	items, _, err := list.Fetch(t.Context(), 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	found := []int64{}
	for _, b := range items.([]book) { //nolint:errcheck // the shelf has books
		found = append(found, b.ID)
	}
	return found
}

func TestFilter(t *testing.T) {
	t.Parallel()

	filter := query.Filter[bookFilter]()
	for _, test := range []struct {
		query  string
		option query.Option
		want   any
	}{
		{"", filter, []int64{1, 2, 3, 4}},
		{"other=1", filter, []int64{1, 2, 3, 4}},
		{"title=AN", filter, []int64{2, 4}},
		{"title=", filter, []int64{1, 2, 3, 4}},
		{"min_price=9.5", filter, []int64{1, 4}},
		{"author=annie+ernaux", filter, []int64{2}},
		{"q=annie", filter, []int64{2}},
		{"q=nana", filter, []int64{4}},
		{"both=a", filter, []int64{1, 2, 4}},
		{"id=1&id=3", filter, []int64{1, 3}},
		{"id__range=2,3", filter, []int64{2, 3}},
		{"id__range=2", filter, []string{"too_short query.id__range"}},
		{"id__range=1,2,3", filter, []string{"too_long query.id__range"}},
		{"author__isnull=true", filter, []int64{3}},
		{"cheap=true", filter, []int64{3}},
		{"cheap=false", filter, []int64{1, 2, 3, 4}},
		{"title=n&min_price=1", filter, []int64{1, 4}},
		{"title=n&title=a", filter, []string{"repeated query.title"}},
		{"title=%00", filter, []string{"string_nul query.title"}},
		{"min_price=x&id=y", filter, []string{"float_parsing query.min_price", "int_parsing query.id[0]"}},
		{"title=" + strings.Repeat("x", 1001), filter, []string{"value_error query.title"}},
		{"id=1" + strings.Repeat("&id=2", 1000), filter, []string{"too_long query.id"}},
		{"title=Nana&id=1", query.Filter[eitherFilter](), []int64{1, 4}},
		{"title=Nana&id=4", query.Filter[eitherFilter]().Odd(), []int64{}},
		{"", query.Filter[ownFilter](), []int64{1, 2, 3, 4}},
		{"from=3", query.Filter[ownFilter](), []int64{3, 4}},
		{"", query.Filter[defaultFilter](), []int64{3}},
		{"id=2", query.Filter[defaultFilter](), []int64{2}},
	} {
		t.Run(test.query[:min(len(test.query), 40)], func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(test.want, run(t, test.query, test.option)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFilterMistakes(t *testing.T) {
	t.Parallel()

	for _, test := range []struct {
		name   string
		option query.Option
		want   string
	}{
		{"UnknownField", query.Filter[struct {
			A *string `filter:"titel"`
		}](), `.A filter:"titel": query_test.book has no field "titel" (there are id, title, price, author, tags)`},
		{"UnknownLookup", query.Filter[struct {
			A *string `filter:"title,like"`
		}](), `title is a column, and "like" is no lookup of it`},
		{"BelowColumn", query.Filter[struct {
			A *string `filter:"title__name__iexact"`
		}](), `goes below title, which is a column`},
		{"WrongType", query.Filter[struct {
			A *string `filter:"id,gte"`
		}](), `id is int64, and cannot be compared with string`},
		{"FloatOfInt", query.Filter[struct {
			A *float64 `filter:"id,gte"`
		}](), `id is int64, and cannot be compared with float64`},
		{"WrongLookup", query.Filter[struct {
			A *int `filter:"id,icontains"`
		}](), `lookup "icontains" is not for id, which is int64`},
		{"NoTime", query.Filter[struct {
			A *int `filter:"id__year"`
		}](), `part "year" is of a time, but id is int64`},
		{"Plain", query.Filter[struct {
			Title string
		}](), `a value of type string is always there`},
		{"InOfOne", query.Filter[struct {
			ID *int64 `filter:"__in"`
		}](), `lookup "in" takes a list`},
		{"ListOfExact", query.Filter[struct {
			ID []int64
		}](), `takes one value, and the field is a list`},
		{"Regex", query.Filter[struct {
			Title *string `filter:"__regex"`
		}](), `allow it with AllowRegex`},
		{"Both", query.Filter[struct {
			Title *string `filter:"title|id&title"`
		}](), `both | and &`},
		{"Path", query.Filter[struct {
			ID *int64 `header:"Id"`
		}](), `reads the query string, not header`},
		{"OrderUnknown", query.Order("titel"), `query.Order("titel"): order by "titel"`},
		{"OrderMany", query.Order("tags__name"), `leads to many rows`},
		{"OrderNothing", query.Order(), `no field is allowed`},
		{"OrderDefault", query.OrderDefault("-x"), `has no field "x"`},
		{"SearchUnknown", query.Search("^x"), `query.Search("^x")`},
		{"SearchNumber", query.Search("id"), `lookup "icontains" is not for id`},
		{"SearchRegex", query.Search("$title"), `allow it with AllowRegex`},
		{"SearchNothing", query.Search(), `no field to search`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()

			_, err := test.option.Compile(shelf().List().Model(), "GET /books")
			if err == nil || !strings.HasPrefix(err.Error(), "GET /books: ") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()

	order := query.Order("price", "author__name", "-id")
	for _, test := range []struct {
		query   string
		options []query.Option
		want    any
	}{
		{"", []query.Option{order}, []int64{2, 3, 4, 1}}, // by all of its names
		{"", []query.Option{query.Order("-price", "price")}, []int64{4, 1, 3, 2}},
		{"", []query.Option{query.Order("price")}, []int64{2, 3, 1, 4}}, // and the key
		{"", []query.Option{order.KeepOrder()}, []int64{1, 2, 3, 4}},
		{"", []query.Option{query.OrderDefault("-price"), order}, []int64{4, 1, 3, 2}},
		{"ordering=price", []query.Option{order}, []int64{2, 3, 1, 4}},
		{"ordering=-price", []query.Option{order}, []int64{4, 1, 3, 2}},
		{"ordering=price,-id", []query.Option{order}, []int64{2, 3, 4, 1}},
		{"ordering=-author__name,-id", []query.Option{order}, []int64{4, 1, 2, 3}},
		{"ordering=id", []query.Option{order}, []string{"enum query.ordering[0]"}},
		{"ordering=price,title", []query.Option{order}, []string{"enum query.ordering[1]"}},
		{"ordering=title,-id", []query.Option{order.IgnoreUnknown()}, []int64{4, 3, 2, 1}},
		{"ordering=price,-price,price", []query.Option{order}, []int64{2, 3, 1, 4}},
		{"ordering=price&ordering=-id", []query.Option{order}, []int64{2, 3, 4, 1}},
		{"ordering=price&ordering=%00", []query.Option{order}, []string{"string_nul query.ordering"}},
		{"ordering=", []query.Option{order}, []int64{1, 2, 3, 4}},
		{"sort=-id", []query.Option{order.Param("sort")}, []int64{4, 3, 2, 1}},
		{"", []query.Option{order, query.OrderDefault("-price")}, []int64{4, 1, 3, 2}},
		{"ordering=-id", []query.Option{query.OrderDefault("price"), order}, []int64{4, 3, 2, 1}},
		{"ordering=-id", []query.Option{order, query.OrderDefault("price")}, []int64{4, 3, 2, 1}},
	} {
		t.Run(test.query, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(test.want, run(t, test.query, test.options...)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()

	search := query.Search("title", "^author__name")
	for _, test := range []struct {
		query  string
		option query.Option
		want   any
	}{
		{"search=AN", search, []int64{2, 4}},
		{"search=an,%C3%A9", search, []int64{2, 4}},
		{"search=zola", search, []int64{}},
		{"search=%C3%A9mile", search, []int64{1, 4}},
		{"search=+,+", search, []int64{1, 2, 3, 4}},
		{"search=%00", search, []string{"string_nul query.search"}},
		{"search=" + strings.Repeat("a+", 16), search, []int64{1, 2, 4}},
		{"search=" + strings.Repeat("a+", 17), search, []string{"value_error query.search"}},
		{"search=nan", query.Search("=title"), []int64{}},
		{"q=nana", query.Search("=title").Param("q"), []int64{4}},
		{"search=^.an", query.Search("$title").AllowRegex(), []int64{4}},
		{"search=(", query.Search("$title").AllowRegex(), []string{"value_error query.search"}},
	} {
		t.Run(test.query[:min(len(test.query), 30)], func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(test.want, run(t, test.query, test.option)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Not parallel with others: it counts allocations.
//
//nolint:paralleltest // allocations of other tests would be counted
func TestApplyOfNothingIsFree(t *testing.T) {
	r := httptest.NewRequest(http.MethodGet, "/books", nil)
	r.URL.RawQuery = url.Values{"page": {"2"}}.Encode()
	in := bind.NewInput(r, nil)
	list := shelf().List()
	for _, o := range []query.Option{query.Filter[bookFilter](), query.Order("id").KeepOrder(), query.Search("title")} {
		stage, err := o.Compile(list.Model(), "x")
		if err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(100, func() { stage.Apply(t.Context(), in, list) }); n > 0 {
			t.Errorf("%T allocates %v times", o, n)
		}
	}
}
