package driver

import "context"

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
