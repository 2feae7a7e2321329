// Package driver is for adapters that read lists of package query from a database, for
// paginators, and for code that works on lists of any type. Handlers and filters need only
// package query.
//
// An adapter implements [Source]: it gets a [Plan] with a [Predicate] that was checked against
// a [Model], an order, and a window. Package sqltext turns a plan into SQL. Package querytest
// checks that a source gives the same results as a list in memory:
//
//	func Set[T any](db *DB) query.Set[T] { return query.From(source[T]{db}) }
//
// A paginator gets a [List], which is a set without its type.
package driver
