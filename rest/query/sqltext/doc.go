// Package sqltext writes the joins, the condition and the order of a [query.Plan] as text of
// PostgreSQL or SQLite, so that they mean what package query says. It is for adapters, which
// know the names of tables and columns and run the statement.
//
// Relations to one become LEFT JOINs that conditions and order share; relations to many become
// EXISTS, so that rows are never multiplied. Names come from the adapter and values are always
// parameters, marked by a question mark.
//
// PostgreSQL's indexes put null last and order text by its column's collation. One that serves an
// order of this package is over (rating NULLS FIRST, id) where there can be nulls, and over
// (name COLLATE "C", id) for text.
//
// What it expects of a database: text is UTF-8. In SQLite, times are text in UTC that starts
// like 2006-01-02 15:04:05, as bun and gorm write times that are in UTC. PRAGMAs that change
// LIKE and the collations of columns do not matter.
package sqltext
