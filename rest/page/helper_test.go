package page_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/query/driver"
)

type book struct {
	ID     int64   `json:"id"`
	Title  string  `json:"-"`
	Price  float64 `json:"-"`
	Rating *int    `json:"-"`
}

// books are n books with the ids from 1.
func books(n int) []book {
	list := make([]book, n)
	for i := range list {
		list[i].ID = int64(i) + 1
	}

	return list
}

// answer is what a client sees of a page, as far as a paginator makes it.
type answer struct {
	body   string
	header http.Header
	faults []page.Fault
	err    error
}

// get asks the paginator for the page of l that the address says.
func get(tb testing.TB, p page.Custom, l any, address string) answer {
	tb.Helper()

	r := httptest.NewRequest(http.MethodGet, address, nil)
	links := page.NewLinks("", r.URL, []string{"key"})

	return ask(tb, p, l, r, links)
}

func ask(tb testing.TB, p page.Custom, l any, r *http.Request, links page.Links) answer {
	tb.Helper()

	list, ok := driver.ListOf(l)
	if !ok {
		tb.Fatalf("%T is no list", l)
	}
	result, faults, err := p.Page(r.Context(), page.NewInput(r), list, links)
	if len(faults) > 0 || err != nil {
		return answer{faults: faults, err: err}
	}

	body := result.Items
	if result.Body != nil {
		body = result.Body(result.Items)
	}
	text, err := json.Marshal(body)
	if err != nil {
		tb.Fatal(err)
	}

	return answer{body: string(text), header: result.Header}
}

// ok is the answer's body, where nothing may be wrong.
func (a answer) ok(tb testing.TB) string {
	tb.Helper()

	if len(a.faults) > 0 || a.err != nil {
		tb.Fatalf("got faults %+v, error %v; want a page", a.faults, a.err)
	}

	return a.body
}

// as is the answer's body as a typed client reads it.
func as[T any](tb testing.TB, a answer) T {
	tb.Helper()

	var body T
	if err := json.Unmarshal([]byte(a.ok(tb)), &body); err != nil {
		tb.Fatal(err)
	}

	return body
}

// kinds are the parameters that are wrong, each with how.
func (a answer) kinds() map[string]string {
	if len(a.faults) == 0 {
		return nil
	}
	kinds := map[string]string{}
	for _, f := range a.faults {
		kinds[f.Location()] = f.Kind
	}

	return kinds
}

func ids(list []book) []int64 {
	found := make([]int64, len(list))
	for i, b := range list {
		found[i] = b.ID
	}

	return found
}

// shelf is a source that can be written to and knows what it was asked.
type shelf struct {
	mu      sync.Mutex
	items   []book
	fetches int
	counts  int
	guesses int
	guess   int64
	limits  []int64
	broken  error
}

var errBroken = errors.New("the shelf is broken")

func (s *shelf) set() query.Set[book] { return query.From[book](s) }

func (s *shelf) Fetch(ctx context.Context, plan driver.Plan) ([]book, error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.broken != nil {
		return nil, s.broken
	}
	s.fetches++
	s.limits = append(s.limits, plan.Limit)

	return s.view(plan).Fetch(ctx, plan.Offset, plan.Limit)
}

func (s *shelf) Count(ctx context.Context, plan driver.Plan) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts++

	return s.view(plan).Count(ctx)
}

// guessing is a shelf that can guess.
type guessing struct{ *shelf }

func (g guessing) Estimate(context.Context, driver.Plan) (int64, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.guesses++

	return g.guess, nil
}

// view reads the plan from a copy of the items, in an order that says nothing by itself.
func (s *shelf) view(plan driver.Plan) query.Set[book] {
	list := query.Slice(slices.Clone(s.items))
	if plan.Where != nil {
		list = list.Where(plan.Where)
	}
	if len(plan.Order) == 0 {
		return list
	}
	sorts := make([]string, len(plan.Order))
	for i, key := range plan.Order {
		sorts[i] = driver.Sort{Path: key.Column.Path(), Desc: key.Desc}.String()
	}

	return list.OrderBy(sorts...)
}

func (s *shelf) add(b book) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.items = append(s.items, b)
}

func (s *shelf) remove(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.items = slices.DeleteFunc(s.items, func(b book) bool { return b.ID == id })
}
