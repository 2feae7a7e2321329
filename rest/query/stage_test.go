package query_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest/internal/bind"
	"github.com/spoolhq/spool/rest/internal/stage"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/query/driver"
	"github.com/spoolhq/spool/rest/query/querytest"
)

type timeFilter struct {
	Day     *string     `filter:"added_at__date"`
	Since   *time.Time  `filter:"added_at__date__gte"    format:"date"`
	Years   *[]int      `filter:"added_at__year__in"`
	Months  []int       `filter:"added_at__month__range"`
	Moments []time.Time `filter:"added_at,in"`
	Pattern *string     `filter:"title__regex"`
	Unsold  *bool       `filter:"reviews__isnull"`
}

func apply(t *testing.T, s stage.Stage, rawQuery string) (*driver.List, []string) {
	t.Helper()

	in := bind.NewInput(httptest.NewRequest(http.MethodGet, "/?"+rawQuery, nil), nil)
	list, faults := s.Apply(t.Context(), in, driver.Slice(querytest.Shelf().Books))
	texts := []string{}
	for _, f := range faults {
		texts = append(texts, f.Kind+" "+f.Location()+": "+f.Message)
	}
	return list, texts
}

func TestFilterOfTimes(t *testing.T) {
	t.Parallel()

	model := driver.Slice(querytest.Shelf().Books).Model()
	stage, err := query.Filter[timeFilter]().AllowRegex().Compile(model, "GET /books")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		query string
		want  int64
	}{
		{"day=2024-12-31", 1},
		{"since=2024-12-31", 2},
		{"years=2023&years=2025", 2},
		{"months=1&months=2", 3},
		{"moments=2024-02-29T00:00:00Z&moments=2024-01-01T01:00:00%2B01:00", 2},
		{"pattern=^[KN]a", 2},
		{"unsold=true", 3},
	} {
		list, faults := apply(t, stage, test.query)
		if len(faults) > 0 {
			t.Errorf("%s: %v", test.query, faults)
			continue
		}
		if n, err := list.Count(t.Context()); err != nil || n != test.want {
			t.Errorf("%s: counted %d (%v), want %d", test.query, n, err, test.want)
		}
	}
	for rawQuery, want := range map[string]string{
		"day=2024-02-30":                             "value_error query.day: cannot be compared: a text is not a date like 2006-01-02",
		"pattern=(":                                  "value_error query.pattern: must be a regular expression",
		"pattern=" + strings.Repeat("a", 257):        "string_too_long query.pattern: must be at most 256 characters",
		"moments=0000-01-01T00:00:00Z&day=x":         "value_error query.day",
		"months=1":                                   "too_short query.months",
		"years=1" + strings.Repeat("&years=1", 1000): "too_long query.years",
	} {
		if _, faults := apply(t, stage, rawQuery); len(faults) == 0 || !strings.HasPrefix(faults[0], want) {
			t.Errorf("%.40s: got %v, want %s", rawQuery, faults, want)
		}
	}
}

func TestParams(t *testing.T) {
	t.Parallel()

	model := shelf().List().Model()
	var got []string
	for _, o := range []query.Option{
		query.Filter[bookFilter](), query.Order("price", "-id"), query.OrderDefault("id"),
		query.Search("title", "^author__name").Param("q2"),
	} {
		compiled, err := o.Compile(model, "GET /books")
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range compiled.Params() {
			if p.Required {
				t.Errorf("%s is required", p.Name)
			}
			got = append(got, strings.TrimSpace(p.In+" "+p.Name+" "+p.Type.String()+" "+p.Doc))
		}
	}
	want := []string{
		"query title string", "query min_price float64", "query author string", "query q string", "query both string",
		"query id []int64", "query id__range []int64", "query author__isnull bool", "query cheap bool",
		"query ordering []string Order of the result: price, -id, separated by commas. A minus in front means descending.",
		"query q2 string Words to be found in title, author__name.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestColumns(t *testing.T) {
	t.Parallel()

	got := []string{}
	for _, o := range []query.Option{
		query.Filter[bookFilter](), query.Order("price", "-id"), query.OrderDefault("title"), query.Search("=author__name"),
	} {
		compiled, err := o.Compile(shelf().List().Model(), "GET /books")
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range compiled.Columns() {
			got = append(got, c.Path())
		}
	}
	want := []string{
		"title", "price", "author__name", "title", "author__name", "title", "author__name", "id", "id", "author__id",
		"price", "id", "title", "author__name",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// One stage serves all requests of a route.
func TestStageIsShared(t *testing.T) {
	t.Parallel()

	stage, err := query.Filter[bookFilter]().Compile(shelf().List().Model(), "GET /books")
	if err != nil {
		t.Fatal(err)
	}
	list := shelf().List()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				in := bind.NewInput(httptest.NewRequest(http.MethodGet, "/?title=an&author=annie+ernaux&cheap=false", nil), nil)
				narrowed, faults := stage.Apply(t.Context(), in, list)
				if n, err := narrowed.Count(t.Context()); n != 1 || err != nil || len(faults) > 0 {
					t.Errorf("counted %d (%v, %v), want 1", n, err, faults)
				}
			}
		})
	}
	wg.Wait()
	if n, _ := list.Count(t.Context()); n != 4 {
		t.Errorf("the list that was narrowed has %d rows", n)
	}
}
