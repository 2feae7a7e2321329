// Package querytest checks that a source of lists keeps the contract of package query: the
// meaning of every lookup in examples, and the same rows as memory has for random conditions,
// orders and pages.
package querytest

import (
	"context"
	"testing"

	"github.com/spoolhq/spool/rest/query"
)

// Test checks a source. open is called some times, makes new tables with the rows of data in
// them, and returns the list of all books. Fields and relations are tagged for bun and gorm.
//
// The random part takes some seconds. SPOOL_SEED gives its seed, which a failure names, and
// SPOOL_CAMPAIGN how many of them are tried.
//
//nolint:tparallel // the test that calls the suite says whether it runs beside others
func Test(t *testing.T, open func(t *testing.T, data *Data) query.Set[Book]) {
	t.Helper()

	t.Run("Examples", func(t *testing.T) {
		t.Parallel()

		testExamples(t, open(t, Shelf()))
	})
	t.Run("Reads", func(t *testing.T) {
		t.Parallel()

		testReads(t, open(t, Shelf()))
	})
	t.Run("Random", func(t *testing.T) {
		t.Parallel()

		testRandom(t, open)
	})
}

// IDs reads the ids of a list in its order.
func IDs(ctx context.Context, set query.Set[Book]) ([]int64, error) {
	books, err := set.All(ctx)
	if err != nil {
		return nil, err
	}
	return idsOf(books), nil
}

func idsOf(books []Book) []int64 {
	ids := make([]int64, len(books))
	for i, b := range books {
		ids[i] = b.ID
	}
	return ids
}
