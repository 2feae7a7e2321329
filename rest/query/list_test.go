package query_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/query/driver"
	"github.com/spoolhq/spool/rest/query/querytest"
)

func TestListOf(t *testing.T) {
	t.Parallel()

	if _, ok := driver.ListOf(5); ok {
		t.Error("a number is a list")
	}
	if _, ok := driver.ListOf(nil); ok {
		t.Error("nil is a list")
	}
	set := shelf()
	if l, ok := driver.ListOf(set); !ok || l != set.List() {
		t.Error("a set is not itself as a list")
	}

	l, ok := driver.ListOf([]*author{{1, "B"}, nil, {2, "a"}, {3, "C"}})
	if !ok || l.Elem() != reflect.TypeFor[*author]() {
		t.Fatalf("got a list of %v", l.Elem())
	}
	l = l.Where(query.Where("id__ne", 3)).OrderBy(driver.ParseSort("name"))
	items, n, err := l.Fetch(t.Context(), 0, -1)
	if diff := cmp.Diff([]*author{{1, "B"}, {2, "a"}}, items); diff != "" || n != 2 || err != nil {
		t.Error(n, err, diff)
	}
	if items, n, err = l.Fetch(t.Context(), 9, 1); n != 0 || err != nil || items.([]*author) == nil { //nolint:errcheck // by contract
		t.Errorf("past the end there is %v, %d, %v", items, n, err)
	}

	if _, ok := driver.ListOf((*[]string)(nil)); ok {
		t.Error("a nil pointer is a list")
	}
	if _, ok := driver.ListOf(new(5)); ok {
		t.Error("a pointer to a number is a list")
	}
	l, _ = driver.ListOf(&[]author{{2, "b"}, {1, "a"}})
	items, n, err = l.OrderBy(driver.ParseSort("id")).Fetch(t.Context(), 0, 1)
	if diff := cmp.Diff([]author{{1, "a"}}, items); diff != "" || n != 1 || err != nil {
		t.Error(n, err, diff)
	}

	words, _ := driver.ListOf([]string{"a", "b", "c"})
	items, n, err = words.Fetch(t.Context(), 1, 1)
	if diff := cmp.Diff([]string{"b"}, items); diff != "" || n != 1 || err != nil {
		t.Error(n, err, diff)
	}
	if _, err := words.OrderBy(driver.ParseSort("x")).Count(t.Context()); err == nil {
		t.Error("texts are ordered by a field")
	}
}

func TestZeroSet(t *testing.T) {
	t.Parallel()

	var set query.Set[book]
	found, err := set.Where(query.Where("id", 1)).OrderBy("id").All(t.Context())
	if err != nil || found == nil || len(found) != 0 {
		t.Errorf("got %v, %v", found, err)
	}
	if n, err := set.List().Estimate(t.Context()); n != 0 || err != nil {
		t.Errorf("estimated %d, %v", n, err)
	}
}

func TestCutAndFlip(t *testing.T) {
	t.Parallel()

	items := []int{1, 2, 3}
	cut, _ := driver.Cut(items, 0, 2).([]int)
	if diff := cmp.Diff([]int{1, 2}, cut); diff != "" {
		t.Error(diff)
	}
	if _ = append(cut, 9); items[2] != 3 {
		t.Error("what is appended to a cut is written into the list")
	}
	if diff := cmp.Diff([]int{3, 2, 1}, driver.Flip(items)); diff != "" || items[0] != 1 {
		t.Error(diff, items)
	}
}

func TestSliceIsNotChanged(t *testing.T) {
	t.Parallel()

	items := []author{{2, "b"}, {1, "a"}}
	set := query.Slice(items).OrderBy("id")
	if _, err := set.All(t.Context()); err != nil || items[0].ID != 2 {
		t.Errorf("the items are %v (%v)", items, err)
	}
	part, err := query.Slice(items).Fetch(t.Context(), 0, 1)
	if _ = append(part, author{9, "x"}); err != nil || items[1].ID != 1 {
		t.Errorf("the items are %v (%v)", items, err)
	}
}

func TestStable(t *testing.T) {
	t.Parallel()

	memory, source := shelf().List(), driver.From(noRows{})
	for _, test := range []struct {
		name string
		list *driver.List
		want []driver.Sort
	}{
		{"SliceHasAnOrder", memory, nil},
		{
			"SliceThatWasOrdered", memory.OrderBy(driver.ParseSort("-price")),
			[]driver.Sort{driver.ParseSort("-price"), driver.ParseSort("-id")},
		},
		{"Unordered", source, []driver.Sort{driver.ParseSort("id")}},
		{
			"KeyIsThere", source.OrderBy(driver.ParseSort("-id"), driver.ParseSort("title")),
			[]driver.Sort{driver.ParseSort("-id"), driver.ParseSort("title")},
		},
		{
			"KeyOfAnother", source.OrderBy(driver.ParseSort("author__id")),
			[]driver.Sort{driver.ParseSort("author__id"), driver.ParseSort("id")},
		},
	} {
		if diff := cmp.Diff(test.want, test.list.Stable().Order()); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
	want := []driver.Sort{driver.ParseSort("price"), driver.ParseSort("-id")}
	if diff := cmp.Diff(
		want, memory.OrderBy(driver.ParseSort("-price"), driver.ParseSort("id")).Reversed().Order(),
	); diff != "" {
		t.Error(diff)
	}
}

type noRows struct{}

func (noRows) Fetch(context.Context, driver.Plan) ([]book, error) { return nil, nil }

func (noRows) Count(context.Context, driver.Plan) (int64, error) { return 0, nil }

func (noRows) Estimate(context.Context, driver.Plan) (int64, error) { return 7, nil }

func TestEstimate(t *testing.T) {
	t.Parallel()

	if n, err := query.From(noRows{}).List().Estimate(t.Context()); n != 7 || err != nil {
		t.Errorf("estimated %d (%v), want the 7 of the source", n, err)
	}
	if n, err := shelf().Where(query.Where("id__gt", 1)).List().Estimate(t.Context()); n != 3 || err != nil {
		t.Errorf("estimated %d (%v), want 3", n, err)
	}
	if items, err := query.From(noRows{}).All(t.Context()); items == nil || err != nil {
		t.Errorf("a source without rows has %v (%v)", items, err)
	}
}

// Positions come back from clients, whatever they make of them.
func FuzzAfter(f *testing.F) {
	f.Add("Nana", "4.5", "2024-02-29T00:00:00Z", "true", "9")
	f.Add("\x00", "NaN", "10000-01-01T00:00:00Z", "", "18446744073709551615")
	f.Add("\xff", "1e999", "0001-01-01T00:00:00+23:59", "T", "-9223372036854775809")
	set := query.Slice(querytest.Shelf().Books).OrderBy(
		"title", "-rating", "added_at", "-hardcover", "cover", "id",
	).List()
	f.Fuzz(func(t *testing.T, title, rating, added, hardcover, id string) {
		l, err := set.After([]*string{&title, &rating, &added, &hardcover, nil, &id})
		if err != nil {
			return
		}
		if n, err := l.Count(t.Context()); err != nil || n > 6 {
			t.Errorf("counted %d (%v)", n, err)
		}
	})
}

func TestAfterOfAnotherOrder(t *testing.T) {
	t.Parallel()

	set := shelf().OrderBy("id").List()
	for _, position := range [][]*string{nil, {new("1"), new("2")}, {new("x")}, {new("1.5")}} {
		if _, err := set.After(position); err == nil {
			t.Errorf("%d texts are a position", len(position))
		}
	}
	if _, err := shelf().List().After([]*string{}); err == nil {
		t.Error("a list without an order has positions")
	}
}

func TestPositionOfTime(t *testing.T) {
	t.Parallel()

	type row struct {
		ID int
		At time.Time
	}
	set := query.Slice([]row{
		{1, time.Date(2024, 1, 1, 1, 0, 0, 123456789, time.FixedZone("", 3600))},
	}).OrderBy("at").List()
	items, _, err := set.Fetch(t.Context(), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	position, err := set.Position(items, 0)
	if err != nil || *position[0] != "2024-01-01T00:00:00.123456Z" {
		t.Errorf("the position is %v (%v)", *position[0], err)
	}
	if l, err := set.After(position); err != nil {
		t.Error(err)
	} else if n, err := l.Count(t.Context()); n != 0 || err != nil {
		t.Errorf("%d rows come after the last one (%v)", n, err)
	}
}
