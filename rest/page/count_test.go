package page_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/query/driver"
)

// What each kind of page costs in queries.
func TestQueries(t *testing.T) {
	t.Parallel()

	const size = 2
	number := func(options ...page.NumberOption) page.Paginator {
		return page.Number(append(options, page.Size(size))...)
	}
	offset := func(options ...page.OffsetOption) page.Paginator {
		return page.LimitOffset(append(options, page.Size(size))...)
	}

	for name, test := range map[string]struct {
		p               page.Paginator
		books           int
		address         string
		fetches, counts int
		limit           int64 // of the fetch
	}{
		"an empty list":            {number(), 0, "/", 1, 0, 2},
		"one page, not full":       {number(), 1, "/", 1, 0, 2},
		"one page, full":           {number(), 2, "/", 1, 1, 2},
		"the first of two":         {number(), 3, "/", 1, 1, 2},
		"the last, not full":       {number(), 3, "/?page=2", 1, 0, 2},
		"the last, full":           {number(), 4, "/?page=2", 1, 1, 2},
		"past the end, refused":    {number(), 4, "/?page=3", 1, 0, 2},
		"past the end, empty":      {number(page.PastEnd(page.Empty)), 4, "/?page=3", 1, 1, 2},
		"never counted":            {number(page.Count(page.NoCount)), 3, "/", 1, 0, 3},
		"no guess to be had":       {number(page.Count(page.Estimate)), 3, "/", 1, 1, 3},
		"no guess needed":          {number(page.Count(page.Estimate)), 3, "/?page=2", 1, 0, 3},
		"offset: one page":         {offset(), 1, "/", 1, 0, 2},
		"offset: full":             {offset(), 2, "/", 1, 1, 2},
		"offset: the last":         {offset(), 3, "/?offset=2", 1, 0, 2},
		"offset: past the end":     {offset(), 3, "/?offset=3", 1, 1, 2},
		"offset: never counted":    {offset(page.Count(page.NoCount)), 3, "/?offset=3", 1, 0, 3},
		"all of it":                {page.None(), 3, "/", 1, 0, -1},
		"all of it, up to a limit": {page.None(page.Limit(2)), 3, "/", 1, 0, 2},
		"a cursor":                 {page.Cursor(page.Sign(page.RandomSecret()), page.Size(size)), 3, "/", 1, 0, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := &shelf{items: books(test.books)}
			get(t, test.p, s.set(), test.address)
			if s.fetches != test.fetches || s.counts != test.counts {
				t.Errorf("got %d fetches and %d counts, want %d and %d", s.fetches, s.counts, test.fetches, test.counts)
			}
			if diff := cmp.Diff([]int64{test.limit}, s.limits); diff != "" {
				t.Errorf("limits of fetches (-want +got)\n%s", diff)
			}
		})
	}
}

// Nothing is read for a request that is refused.
func TestQueriesOfFaults(t *testing.T) {
	t.Parallel()

	s := &shelf{items: books(3)}
	for p, address := range map[page.Paginator]string{
		page.Number():      "/?page=0",
		page.LimitOffset(): "/?limit=a",
		page.Cursor(page.Sign(page.RandomSecret())): "/?cursor=AQAB",
	} {
		if a := get(t, p, s.set(), address); len(a.faults) == 0 {
			t.Errorf("%s: got %+v, want faults", address, a)
		}
	}
	if s.fetches+s.counts > 0 {
		t.Errorf("got %d fetches and %d counts, want none", s.fetches, s.counts)
	}
}

func TestEstimate(t *testing.T) {
	t.Parallel()

	p := page.Number(page.Size(2), page.Count(page.Estimate))
	for name, test := range map[string]struct {
		books   int
		guess   int64
		address string
		want    string
	}{
		"believed": {
			3, 1000, "/", `{"count":1000,"next":"/?page=2","previous":null,"results":[{"id":1},{"id":2}]}`,
		},
		"known to be too low": {
			3, 0, "/", `{"count":3,"next":"/?page=2","previous":null,"results":[{"id":1},{"id":2}]}`,
		},
		"too low, next all the same": {
			6, 1, "/?page=2", `{"count":5,"next":"/?page=3","previous":"/","results":[{"id":3},{"id":4}]}`,
		},
		"too high, no next": {4, 1000, "/?page=2", `{"count":1000,"next":null,"previous":"/","results":[{"id":3},{"id":4}]}`},
		"not needed":        {3, 1000, "/?page=2", `{"count":3,"next":null,"previous":"/","results":[{"id":3}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			g := guessing{&shelf{items: books(test.books), guess: test.guess}}
			if got := get(t, p, query.From[book](g), test.address).ok(t); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			if g.counts > 0 {
				t.Errorf("got %d counts, want none", g.counts)
			}
		})
	}
}

// shrinking is a shelf from which everything is taken between fetch and count.
type shrinking struct{ *shelf }

func (shrinking) Count(context.Context, driver.Plan) (int64, error) { return 0, nil }

func TestCountIsNeverLessThanThePage(t *testing.T) {
	t.Parallel()

	list := query.From[book](shrinking{&shelf{items: books(5)}})
	want := `{"count":4,"next":null,"previous":"/","results":[{"id":3},{"id":4}]}`
	if got := get(t, page.Number(page.Size(2)), list, "/?page=2").ok(t); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// The count is of what the conditions leave, not of everything.
func TestCountIsFiltered(t *testing.T) {
	t.Parallel()

	list := query.Slice(books(9)).Where(query.Where("id__gt", 4))
	want := `{"items":[{"id":5},{"id":6}],"count":5}`
	if got := get(t, page.LimitOffset(page.Size(2)), list, "/").ok(t); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestErrorsOfTheList(t *testing.T) {
	t.Parallel()

	s := &shelf{broken: errBroken}
	for _, p := range []page.Paginator{
		page.Number(), page.LimitOffset(), page.None(), page.Cursor(page.Sign(page.RandomSecret())),
	} {
		if a := get(t, p, s.set(), "/"); !errors.Is(a.err, errBroken) {
			t.Errorf("got %+v, want the error of the list", a)
		}
		mistaken := query.Slice(books(1)).Where(query.Where("nothing", 1))
		if a := get(t, p, mistaken, "/"); a.err == nil || len(a.faults) > 0 {
			t.Errorf("got %+v, want the mistake in the list", a)
		}
	}
}

// Pages of a list without an order are pages of one order.
func TestPagesAreOrdered(t *testing.T) {
	t.Parallel()

	s := &shelf{items: []book{{ID: 3}, {ID: 1}, {ID: 2}}}
	for p, want := range map[page.Paginator]string{
		page.LimitOffset():             `{"items":[{"id":1},{"id":2},{"id":3}],"count":3}`,
		page.None(page.Limit(2)):       `[{"id":1},{"id":2}]`,
		page.LimitOffset(page.Size(1)): `{"items":[{"id":1}],"count":3}`,
	} {
		if got := get(t, p, s.set(), "/").ok(t); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	// A slice has an order, which stays.
	want := `{"items":[{"id":3},{"id":1},{"id":2}],"count":3}`
	if got := get(t, page.LimitOffset(), query.Slice(s.items), "/").ok(t); got != want {
		t.Errorf("a slice: got %s, want %s", got, want)
	}
}

func TestNone(t *testing.T) {
	t.Parallel()

	list := query.Slice(books(3))
	if got, want := get(t, page.None(), list, "/?limit=1&page=x").ok(t), `[{"id":1},{"id":2},{"id":3}]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := get(t, page.None(), query.Slice[book](nil), "/").ok(t), `[]`; got != want {
		t.Errorf("an empty list: got %s, want %s", got, want)
	}
	if params, shape := page.None().Params(), page.None().Shape(); len(params) > 0 || shape.Name != "" ||
		len(shape.Properties) > 0 {
		t.Errorf("got parameters %v and shape %v, want none", params, shape)
	}
}

// One value serves all requests at once.
func TestConcurrentPages(t *testing.T) {
	t.Parallel()

	list := query.Slice(books(50))
	for _, p := range []page.Paginator{
		page.Number(page.Size(7)), page.LimitOffset(page.Size(7), page.LinkHeader()), page.None(),
		page.Cursor(page.Sign(page.RandomSecret()), page.By("-id"), page.Size(7)),
	} {
		want := get(t, p, list, "/?a=1").ok(t)
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				for range 20 {
					if a := get(t, p, list, "/?a=1"); a.body != want {
						t.Errorf("got %+v, want %s", a, want)
					}
				}
			})
		}
		group.Wait()
	}
}
