// Package driver is for adapters that read lists of package query from a database, for paginators,
// and for code that works on lists of any type. Handlers and filters need package query only.
//
// An adapter implements [Source]: it gets a [Plan], which is a [Predicate] that was checked
// against a [Model], an order, and a window. Package sqltext makes SQL of a plan, and package
// querytest checks that a source means the same as a list in memory does:
//
//	func Set[T any](db *DB) query.Set[T] { return query.From(source[T]{db}) }
//
// A paginator gets a [List], a set without its type.
package driver
