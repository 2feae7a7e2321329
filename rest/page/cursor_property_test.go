package page_test

import (
	"database/sql"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/query"
)

// row has a field of every kind that can be ordered, each with few values, so that many
// rows are equal in all but their key.
type row struct {
	ID     int64          `json:"id"`
	Whole  *int           `json:"-"`
	Big    uint64         `json:"-"`
	Float  *float64       `json:"-"`
	Text   sql.NullString `json:"-"`
	At     *time.Time     `json:"-"`
	Yes    bool           `json:"-"`
	Maybe  *bool          `json:"-"`
	Bytes  []byte         `json:"-"`
	Parent *parent        `json:"-"`
}

type parent struct {
	ID   int64
	Name *string
}

func pick[T any](r *rand.Rand, values ...T) *T {
	i := r.IntN(len(values) + 1)
	if i == len(values) {
		return nil
	}

	return &values[i]
}

func or[T any](v *T, other T) T {
	if v == nil {
		return other
	}

	return *v
}

func randomRow(r *rand.Rand, id int64) row {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	text := pick(r, "", "a", "B", "é\n&=", "\x01", strings.Repeat("ö", 40))
	v := row{
		ID:    id,
		Whole: pick(r, math.MinInt, -1, 0, 1, math.MaxInt),
		Big:   or(pick(r, uint64(math.MaxInt64), math.MaxInt64+1, math.MaxUint64), 0),
		Float: pick(r, -1e300, -0.1, 0, 0.1, 1.0/3, math.MaxFloat64, math.SmallestNonzeroFloat64),
		Text:  sql.NullString{String: or(text, ""), Valid: text != nil},
		At: pick(r, at, at.Add(time.Microsecond), at.Add(-time.Hour), at.In(time.FixedZone("", 3600)),
			time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC)),
		Yes:   r.IntN(2) == 0,
		Maybe: pick(r, true, false),
		Bytes: or(pick(r, []byte{}, []byte{0}, []byte{0, 255}), nil),
	}
	if r.IntN(3) > 0 {
		v.Parent = &parent{ID: id % 3, Name: pick(r, "x", "y")}
	}

	return v
}

var orders = []string{
	"whole", "big", "float", "text", "at", "yes", "maybe", "bytes", "parent__name", "parent__id", "id",
}

func randomOrder(r *rand.Rand) []string {
	paths := slices.Clone(orders)
	r.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
	paths = paths[:1+r.IntN(3)]
	for i := range paths {
		if r.IntN(2) == 0 {
			paths[i] = "-" + paths[i]
		}
	}

	return paths
}

// Whatever the order, following the cursors in either direction reads what the list is in
// that order, each item once.
func TestCursorReadsTheList(t *testing.T) {
	t.Parallel()

	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		rows := make([]row, r.IntN(25))
		for i := range rows {
			rows[i] = randomRow(r, int64(i))
		}
		r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		list, order, size := query.Slice(rows), randomOrder(r), 1+r.IntN(6)
		p := page.Cursor(page.Sign(page.RandomSecret()), page.By(order...), page.Size(size), page.LinkHeader())

		want := sortedIDs(t, list, order)
		if diff := cmp.Diff(want, walk(t, p, list, "/", forward)); diff != "" {
			t.Fatalf("%d rows by %v in pages of %d, forward (-want +got)\n%s", len(rows), order, size, diff)
		}
		if diff := cmp.Diff(want, walk(t, p, list, lastPage(t, p, list), backward)); diff != "" {
			t.Fatalf("%d rows by %v in pages of %d, backward (-want +got)\n%s", len(rows), order, size, diff)
		}
	}
}

// sortedIDs are the ids in the order, with the key at its end.
func sortedIDs(t *testing.T, list query.Set[row], order []string) []int64 {
	t.Helper()

	items, _, err := list.OrderBy(order...).List().Stable().Fetch(t.Context(), 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	var found []int64
	for _, item := range items.([]row) { //nolint:errcheck // a list of rows has rows
		found = append(found, item.ID)
	}

	return found
}

// lastPage is the address of the last page.
func lastPage(t *testing.T, p page.Paginator, l any) string {
	t.Helper()

	a := get(t, p, l, "/")
	a.ok(t)
	links := a.header.Get("Link")
	end := strings.LastIndex(links, `>; rel="last"`)

	return links[strings.LastIndexByte(links[:end], '<')+1 : end]
}

// While a list is walked, others add to it and take from it. What was there all the time
// is seen once, and in order; nothing is seen twice.
func TestCursorWhileTheListChanges(t *testing.T) {
	t.Parallel()

	for seed := range uint64(50) {
		for _, d := range []direction{forward, backward} {
			t.Run(fmt.Sprintf("seed %d backward %v", seed, d), func(t *testing.T) {
				t.Parallel()
				walkChanging(t, rand.New(rand.NewPCG(seed, 7)), d)
			})
		}
	}
}

func walkChanging(t *testing.T, r *rand.Rand, d direction) {
	t.Helper()

	s := &shelf{}
	random := func(id int64) book { return book{ID: id, Price: float64(r.IntN(4)), Rating: pick(r, 1, 2)} }
	always := map[int64]book{}
	for id := range int64(40) {
		b := random(id)
		s.add(b)
		always[id] = b
	}
	p := page.Cursor(page.Sign(page.RandomSecret()), page.By("-price", "rating"), page.Size(1+r.IntN(5)),
		page.LinkHeader())

	address := "/"
	if d == backward {
		address = lastPage(t, p, s.set())
	}
	seen := map[int64]int{}
	next := int64(100)
	for address != "" {
		body := as[cursorPage](t, get(t, p, s.set(), address))
		for _, b := range body.Results {
			seen[b.ID]++
		}
		to := body.Next
		if d == backward {
			to = body.Previous
		}
		address = ""
		if to != nil {
			address = *to
		}

		for range r.IntN(4) {
			s.add(random(next))
			next++
		}
		for range r.IntN(3) {
			id := r.Int64N(next)
			s.remove(id)
			delete(always, id)
		}
		// Bound the walk: what is added after the place is read too.
		if next > 400 {
			t.Fatal("the walk does not end")
		}
	}

	for id := range always {
		if seen[id] != 1 {
			t.Errorf("%d was there all the time and was seen %d times", id, seen[id])
		}
	}
	for id, n := range seen {
		if n > 1 {
			t.Errorf("%d was seen %d times", id, n)
		}
	}
}
