package driver

import "context"

// Source reads a list from its storage. It must be safe for concurrent use.
type Source[T any] interface {
	// Fetch returns the rows of the plan, in its order. The caller does not change the result;
	// nil means no rows.
	Fetch(ctx context.Context, plan Plan) ([]T, error)
	// Count returns the number of rows of the plan, ignoring its offset and limit.
	Count(ctx context.Context, plan Plan) (int64, error)
}

// PlanEstimator is a [Source] that can estimate a count at a lower cost than counting.
type PlanEstimator interface {
	// Estimate returns about how many rows the plan has, ignoring its offset and limit.
	Estimate(ctx context.Context, plan Plan) (int64, error)
}

// Plan describes the rows that a [Source] has to read.
type Plan struct {
	// Where is the condition for the rows. Nil means every row.
	Where Predicate
	// Order has the sort keys, the most important one first. Empty means any order.
	Order []Key
	// Offset is the number of rows to skip.
	Offset int64
	// Limit is the maximum number of rows. Negative means all.
	Limit int64
	// Collation is the name of the collation in which PostgreSQL orders and compares text. An
	// empty name means the collation of each column. Nil means "C": text is compared by its
	// bytes, as it always is in memory and in SQLite.
	Collation *string
}

// Key is one sort key of an order. Null is the smallest value.
type Key struct {
	// Column is reached only through to-one relations.
	Column *Column
	// Desc puts the greatest value first.
	Desc bool
}
