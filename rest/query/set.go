package query

import (
	"context"

	"github.com/spoolhq/spool/rest/query/driver"
)

// Set is a lazy, immutable list of T. Nothing is read before Count, Fetch, All or First.
// Methods that filter or order return another set. A mistake in an expression, such as an
// unknown field, is the error of the first read.
//
// The zero Set is empty. A Set is safe for concurrent use if its source is.
type Set[T any] struct{ list *driver.List }

// Slice returns a set of the items in their order. It keeps items and may return parts of it,
// so items must not be changed while the set is in use. Slice itself never changes them.
func Slice[T any](items []T) Set[T] {
	return Set[T]{driver.Slice(items)}
}

// From returns the set of all rows of src. It is for adapters.
func From[T any](src driver.Source[T]) Set[T] { return Set[T]{driver.From(src)} }

// List returns s without its type, for code that works on lists of any type.
func (s Set[T]) List() *driver.List {
	if s.list == nil {
		return driver.Slice[T](nil)
	}
	return s.list
}

// Where returns the rows of s for which all exprs are true.
func (s Set[T]) Where(exprs ...Expr) Set[T] { return Set[T]{s.List().Where(exprs...)} }

// OrderBy returns s in another order: that of paths, where a minus before a path means
// descending, as in OrderBy("-published", "author__name"). Rows with equal values keep their
// order in memory; a database returns them in any order. Without paths the set has no order.
func (s Set[T]) OrderBy(paths ...string) Set[T] {
	return Set[T]{s.List().OrderBy(driver.ParseSorts(paths)...)}
}

// Collate returns s with another collation for text; see the option [Collate].
func (s Set[T]) Collate(name string) Set[T] { return Set[T]{s.List().Collate(name)} }

// Count returns the number of rows.
func (s Set[T]) Count(ctx context.Context) (int64, error) { return s.List().Count(ctx) }

// Fetch returns up to limit rows after skipping offset rows. A negative limit means all rows.
// Without an error, the result is never nil.
func (s Set[T]) Fetch(ctx context.Context, offset, limit int64) ([]T, error) {
	items, _, err := s.List().Fetch(ctx, offset, limit)
	if err != nil {
		return nil, err
	}
	result, _ := items.([]T)
	return result, nil
}

// All returns every row.
func (s Set[T]) All(ctx context.Context) ([]T, error) { return s.Fetch(ctx, 0, -1) }

// First returns the first row, and false if there is none.
func (s Set[T]) First(ctx context.Context) (first T, ok bool, err error) {
	items, err := s.Fetch(ctx, 0, 1)
	if err != nil || len(items) == 0 {
		return first, false, err
	}
	return items[0], true, nil
}
