package query

import (
	"context"

	"github.com/spoolhq/spool/rest/query/driver"
)

// Set is a lazy, immutable list of T: nothing is read before Count, Fetch, All or First, and
// every method that narrows or orders returns another set. A mistake in an expression, such
// as an unknown field, is the error of the first read.
//
// The zero Set is empty. A Set is safe for concurrent use when its source is.
type Set[T any] struct{ list *driver.List }

// Slice returns the list of items in their order. It keeps items, never changes them, and
// may return parts of them: they must not be changed while the set is in use.
func Slice[T any](items []T) Set[T] {
	return Set[T]{driver.Slice(items)}
}

// From returns the list of everything that src has. It is for adapters.
func From[T any](src driver.Source[T]) Set[T] { return Set[T]{driver.From(src)} }

// List returns s without its type, for what reads lists of any type.
func (s Set[T]) List() *driver.List {
	if s.list == nil {
		return driver.Slice[T](nil)
	}
	return s.list
}

// Where returns the rows of s for which all exprs hold.
func (s Set[T]) Where(exprs ...Expr) Set[T] { return Set[T]{s.List().Where(exprs...)} }

// OrderBy returns s in another order: of paths, each with a minus before it for descending, as in
// OrderBy("-published", "author__name"). Rows that are equal in all of them stay as they were in
// memory, and come in any order from a database. Without paths the set has no order of its own.
func (s Set[T]) OrderBy(paths ...string) Set[T] {
	return Set[T]{s.List().OrderBy(driver.ParseSorts(paths)...)}
}

// Count returns how many rows there are.
func (s Set[T]) Count(ctx context.Context) (int64, error) { return s.List().Count(ctx) }

// Fetch returns up to limit rows after the first offset ones. A negative limit means all.
// The result is never nil without an error.
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

// First returns the first row, and false when there is none.
func (s Set[T]) First(ctx context.Context) (first T, ok bool, err error) {
	items, err := s.Fetch(ctx, 0, 1)
	if err != nil || len(items) == 0 {
		return first, false, err
	}
	return items[0], true, nil
}
