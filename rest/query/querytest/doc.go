// Package querytest checks that a source keeps the contract of package query: examples define
// the meaning of every lookup, and random conditions, orders and pages must give the same rows
// as in memory.
package querytest

import (
	"context"
	"testing"

	"github.com/spoolhq/spool/rest/query"
)

// Test checks a source. It calls open several times; open makes new tables with the rows of
// data and returns the list of all books. The models have tags for bun and gorm.
//
// The random part takes some seconds. SPOOL_SEED sets its seed, which is in the failure
// message. SPOOL_CAMPAIGN sets the number of seeds to try.
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

// IDs returns the ids of a list's rows in their order.
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
