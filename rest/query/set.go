package query

import (
	"context"
	"reflect"
)

// Set is a lazy, immutable list of T: nothing is read before Count, Fetch, All or First, and
// every method that narrows or orders returns another set. A mistake in an expression, such
// as an unknown field, is returned by whatever reads the set first.
//
// The zero Set is empty. A Set is safe for concurrent use when its source is.
type Set[T any] struct{ list *list }

// Source reads a list from where it is kept. It must be safe for concurrent use.
type Source[T any] interface {
	// Fetch returns the rows of the plan, in its order. The result is not changed by the
	// caller, and nil is the same as empty.
	Fetch(ctx context.Context, plan Plan) ([]T, error)
	// Count returns how many rows the plan has without its offset and limit.
	Count(ctx context.Context, plan Plan) (int64, error)
}

// PlanEstimator is a [Source] that can guess a count for less than counting costs.
type PlanEstimator interface {
	// Estimate returns about how many rows the plan has without its offset and limit.
	Estimate(ctx context.Context, plan Plan) (int64, error)
}

// Plan is what a [Source] is asked for.
type Plan struct {
	// Where is what rows must fulfil. Nil is every row.
	Where Predicate
	// Order is what rows are sorted by, the first one first. Empty is any order.
	Order []Key
	// Offset is how many rows are skipped.
	Offset int64
	// Limit is how many rows are wanted at most. Negative is all of them.
	Limit int64
}

// Key is one column of an order. Null is the smallest value.
type Key struct {
	// Column leads through relations to one only.
	Column *Column
	// Desc puts the greatest value first.
	Desc bool
}

// Slice returns the list of items in their order. It keeps items, never changes them, and
// may return parts of them: they must not be changed while the set is in use.
func Slice[T any](items []T) Set[T] {
	return Set[T]{newList(reflect.TypeFor[T](), memory{rows[T](items)})}
}

// From returns the list of everything that src has.
func From[T any](src Source[T]) Set[T] {
	return Set[T]{newList(reflect.TypeFor[T](), typedSource[T]{src})}
}

func (s Set[T]) inner() *list {
	if s.list == nil {
		return newList(reflect.TypeFor[T](), memory{rows[T](nil)})
	}
	return s.list
}

// Where returns the rows of s for which all exprs hold.
func (s Set[T]) Where(exprs ...Expr) Set[T] { return Set[T]{s.inner().narrow(exprs)} }

// OrderBy returns s in another order. What is equal in all of it stays as it was in memory,
// and comes in any order from a database. Without sorts the set has no order of its own.
func (s Set[T]) OrderBy(sorts ...Sort) Set[T] { return Set[T]{s.inner().sorted(sorts)} }

// Count returns how many rows there are.
func (s Set[T]) Count(ctx context.Context) (int64, error) { return s.inner().CountItems(ctx) }

// Fetch returns up to limit rows after the first offset ones. A negative limit means all.
// The result is never nil without an error.
func (s Set[T]) Fetch(ctx context.Context, offset, limit int64) ([]T, error) {
	items, _, err := s.inner().FetchItems(ctx, offset, limit)
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

// The methods of [List].

// Elem implements [List].
func (s Set[T]) Elem() reflect.Type { return reflect.TypeFor[T]() }

// Model implements [List].
func (s Set[T]) Model() *Model { return ModelOf(s.Elem()) }

// WithWhere implements [List].
func (s Set[T]) WithWhere(exprs ...Expr) List { return s.inner().WithWhere(exprs...) }

// WithOrder implements [List].
func (s Set[T]) WithOrder(sorts ...Sort) List { return s.inner().WithOrder(sorts...) }

// Order implements [List].
func (s Set[T]) Order() []Sort { return s.inner().Order() }

// Stable implements [List].
func (s Set[T]) Stable() List { return s.inner().Stable() }

// Reversed implements [List].
func (s Set[T]) Reversed() List { return s.inner().Reversed() }

// After implements [List].
func (s Set[T]) After(position []*string) (List, error) { return s.inner().After(position) }

// Position implements [List].
func (s Set[T]) Position(items any, i int) ([]*string, error) { return s.inner().Position(items, i) }

// CountItems implements [List].
func (s Set[T]) CountItems(ctx context.Context) (int64, error) { return s.inner().CountItems(ctx) }

// FetchItems implements [List].
func (s Set[T]) FetchItems(ctx context.Context, offset, limit int64) (items any, n int, err error) {
	return s.inner().FetchItems(ctx, offset, limit)
}

// Estimate implements [Estimator].
func (s Set[T]) Estimate(ctx context.Context) (int64, error) { return s.inner().Estimate(ctx) }
