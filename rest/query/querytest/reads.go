package querytest

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest/query"
)

// testReads checks the results of reading a set in ways that the examples do not.
func testReads(t *testing.T, books query.Set[Book]) {
	t.Helper()

	t.Run("Orders", func(t *testing.T) {
		t.Parallel()

		testOrders(t, books)
	})
	t.Run("Window", func(t *testing.T) {
		t.Parallel()

		testWindow(t, books)
	})
	t.Run("WindowOfToMany", func(t *testing.T) {
		t.Parallel()

		// Book 1 has two reviews. Both books of its author have reviews.
		set := books.Where(query.Where("author__books__reviews__isnull", false), query.Where("reviews__id__gt", 0)).
			OrderBy("id")
		found, err := set.Fetch(t.Context(), 1, 1)
		if err != nil || len(found) != 1 || found[0].ID != 2 {
			t.Errorf("the second row is %v (%v), want book 2", found, err)
		}
	})
	t.Run("RowsAreWhole", func(t *testing.T) {
		t.Parallel()

		testWhole(t, books)
	})
	t.Run("First", func(t *testing.T) {
		t.Parallel()

		first, ok, err := books.OrderBy("-pages").First(t.Context())
		if err != nil || !ok || first.ID != 1 {
			t.Errorf("got %d, %v, %v, want 1", first.ID, ok, err)
		}
		if _, ok, err := books.Where(query.Or()).First(t.Context()); ok || err != nil {
			t.Errorf("an empty list has a first one: %v, %v", ok, err)
		}
	})
	t.Run("Mistakes", func(t *testing.T) {
		t.Parallel()

		for _, set := range []query.Set[Book]{
			books.Where(query.Where("titel", "x")), books.Where(query.Where("title", 1)),
			books.Where(query.Where("title", nil)), books.OrderBy("tags__name"),
		} {
			if _, err := set.All(t.Context()); err == nil {
				t.Error("a set with a mistake was read")
			}
			if _, err := set.Count(t.Context()); err == nil {
				t.Error("a set with a mistake was counted")
			}
		}
	})
	t.Run("Canceled", func(t *testing.T) {
		t.Parallel()

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := books.All(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want that it was canceled", err)
		}
	})
}

func testOrders(t *testing.T, books query.Set[Book]) {
	t.Helper()

	for _, order := range []struct {
		name  string
		sorts []string
		want  []int64
	}{
		{"TextByBytes", []string{"title"}, []int64{4, 1, 3, 2, 5, 6}},
		{"NullFirst", []string{"rating", "-id"}, []int64{3, 4, 6, 2, 5, 1}},
		{"NullLast", []string{"-rating", "id"}, []int64{1, 5, 2, 6, 4, 3}},
		{"Bool", []string{"hardcover", "id"}, []int64{2, 4, 5, 6, 3, 1}},
		{"Time", []string{"-added_at"}, []int64{6, 5, 4, 1, 3, 2}},
		{"Relation", []string{"author__name", "id"}, []int64{5, 6, 3, 4, 1, 2}},
		{"FarRelation", []string{"-author__country__code", "id"}, []int64{1, 2, 3, 4, 5, 6}},
		{"KeyOfRelation", []string{"-author", "id"}, []int64{4, 3, 1, 2, 5, 6}},
	} {
		t.Run(order.name, func(t *testing.T) {
			t.Parallel()

			got, err := IDs(t.Context(), books.OrderBy(order.sorts...))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(order.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func testWindow(t *testing.T, books query.Set[Book]) {
	t.Helper()

	books = books.OrderBy("id")
	for _, window := range []struct {
		offset, limit int64
		want          []int64
	}{
		{0, 2, []int64{1, 2}},
		{2, 2, []int64{3, 4}},
		{5, 2, []int64{6}},
		{6, 2, []int64{}},
		{1 << 40, 1 << 40, []int64{}},
		{0, 0, []int64{}},
		{4, -1, []int64{5, 6}},
		{-1, 1, []int64{1}},
		{4, 1<<63 - 1, []int64{5, 6}},
	} {
		found, err := books.Fetch(t.Context(), window.offset, window.limit)
		if err != nil {
			t.Fatal(err)
		}
		if got := idsOf(found); found == nil || !cmp.Equal(window.want, got) {
			t.Errorf("%d rows after %d are %v (nil: %v), want %v", window.limit, window.offset, got, found == nil, window.want)
		}
	}
}

// testWhole reads a row through joined tables that have columns with the same names.
func testWhole(t *testing.T, books query.Set[Book]) {
	t.Helper()

	found, err := books.Where(query.Where("author__country__code", "DE")).
		OrderBy("author__name").All(t.Context())
	if err != nil || len(found) != 1 {
		t.Fatalf("got %d books (%v), want 1", len(found), err)
	}
	got, want := found[0], Shelf().Books[2]
	got.AddedAt, *got.Published = got.AddedAt.UTC(), got.Published.UTC()
	want.Author, want.Reviews, want.Tags = nil, nil, nil
	got.Author, got.Reviews, got.Tags = nil, nil, nil
	if len(got.Cover) == 0 {
		got.Cover = nil
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
