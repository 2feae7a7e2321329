package querytest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/query/driver"
)

const (
	// questions is the number of compared lists, unless they take longer than patience.
	questions = 600
	patience  = 5 * time.Second
)

// testRandom asks a source and memory the same questions. SPOOL_CAMPAIGN is the number of
// seeds. SPOOL_SEED tests only that seed.
func testRandom(t *testing.T, open func(t *testing.T, data *Data) query.Set[Book]) {
	t.Helper()

	first, seeds := uint64(time.Now().UnixNano()), uint64(1)
	if n, err := strconv.ParseUint(os.Getenv("SPOOL_CAMPAIGN"), 10, 16); err == nil {
		seeds = n
	}
	if n, err := strconv.ParseUint(os.Getenv("SPOOL_SEED"), 10, 64); err == nil {
		first, seeds = n, 1
	}
	for seed := first; seed < first+seeds; seed++ {
		testSeed(t, open, seed)
	}
}

func testSeed(t *testing.T, open func(t *testing.T, data *Data) query.Set[Book], seed uint64) {
	t.Helper()

	g := generator{rand.New(rand.NewPCG(seed, 0))} //nolint:gosec // tests need no secrets
	data := g.data()
	books, memory := open(t, data), query.Slice(data.Books)
	begun, found := time.Now(), 0
	for i := range questions {
		if time.Since(begun) > patience {
			t.Logf("stopped after %d questions", i)
			break
		}
		e, sorts := g.expr(3), g.sorts()
		n, err := compare(t.Context(), g, memory.Where(e), books.Where(e), sorts)
		if err != nil {
			t.Fatalf("SPOOL_SEED=%d, question %d: %v\nordered by %v, where\n%s", seed, i, err, sorts, describe(memory, e))
		}
		found += n
	}
	// Questions that match no row would prove nothing.
	if found == 0 {
		t.Errorf("SPOOL_SEED=%d: no question found a row", seed)
	}
}

// compare compares the whole list, its count, a part of it, and its pages.
func compare(ctx context.Context, g generator, memory, books query.Set[Book], sorts []string) (int, error) {
	want, err := stableIDs(ctx, memory, sorts, 0, -1)
	if err != nil {
		return 0, fmt.Errorf("memory: %w", err)
	}
	n, err := books.Count(ctx)
	if err != nil || n != int64(len(want)) {
		return 0, fmt.Errorf("counted %d (%w), want %d", n, err, len(want))
	}
	got, err := stableIDs(ctx, books, sorts, 0, -1)
	if err != nil || !slices.Equal(got, want) {
		return 0, fmt.Errorf("rows (%w):\n%s", err, cmp.Diff(want, got))
	}
	offset, limit := g.Int64N(8), g.Int64N(8)
	part, err := stableIDs(ctx, books, sorts, offset, limit)
	wanted := want[min(int(offset), len(want)):min(int(offset+limit), len(want))]
	if err != nil || !slices.Equal(part, wanted) {
		return 0, fmt.Errorf("%d rows after %d are %v (%w), want %v", limit, offset, part, err, wanted)
	}
	if slices.ContainsFunc(sorts, func(s string) bool { return strings.Contains(s, "author") }) {
		return len(want), nil // relations are not loaded, so their positions are unknown
	}
	return len(want), comparePages(ctx, books, sorts, want)
}

func stableIDs(ctx context.Context, set query.Set[Book], sorts []string, offset, limit int64) ([]int64, error) {
	books, err := set.OrderBy(append(sorts, "id")...).Fetch(ctx, offset, limit)
	return idsOf(books), err
}

// comparePages reads a list page by page, forwards and backwards.
func comparePages(ctx context.Context, books query.Set[Book], sorts []string, want []int64) error {
	size := max(1, len(want)/3)
	list := books.OrderBy(append(sorts, "id")...).List()
	for _, reversed := range []bool{false, true} {
		if reversed {
			list = list.Reversed()
			want = slices.Clone(want)
			slices.Reverse(want)
		}
		got, err := pages(ctx, list, int64(size), len(want)+1)
		if err != nil || !slices.Equal(got, want) {
			return fmt.Errorf("pages of %d (reversed: %v, %w):\n%s", size, reversed, err, cmp.Diff(want, got))
		}
	}
	return nil
}

func pages(ctx context.Context, list *driver.List, size int64, most int) ([]int64, error) {
	ids := []int64{}
	page := list
	for len(ids) <= most {
		items, n, err := page.Fetch(ctx, 0, size)
		if err != nil || n == 0 {
			return ids, err
		}
		books, _ := items.([]Book)
		ids = append(ids, idsOf(books)...)
		position, err := list.Position(items, n-1)
		if err != nil {
			return ids, err
		}
		if page, err = list.After(position); err != nil {
			return ids, err
		}
	}
	return ids, nil
}

// describe returns a condition in a form for the person who debugs a failure.
func describe(set query.Set[Book], e query.Expr) string {
	p, err := set.List().Model().Resolve(e)
	if err != nil {
		return err.Error()
	}
	return text(p, "  ")
}

func text(p driver.Predicate, indent string) string {
	switch p := p.(type) {
	case *driver.Negation:
		return indent + "not\n" + text(p.Item, indent+"  ")
	case *driver.Group:
		lines := []string{indent + []string{"and", "or", "xor"}[p.Op] + "\n"}
		for _, item := range p.Items {
			lines = append(lines, text(item, indent+"  "))
		}
		return strings.Join(lines, "")
	case *driver.Test:
		return fmt.Sprintf("%s%s %s %s %q\n", indent, p.Column.Path(), p.Part, p.Lookup, fmt.Sprint(p.Values))
	default:
		return fmt.Sprintf("%s%v\n", indent, p)
	}
}
