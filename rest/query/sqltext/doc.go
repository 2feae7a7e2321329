// Package sqltext writes the joins, the condition and the order of a [driver.Plan] as SQL for
// PostgreSQL or SQLite, with the meaning that package query defines. It is for adapters, which
// know the names of tables and columns and run the statement.
//
// To-one relations become LEFT JOINs, which the conditions and the order share. To-many
// relations become EXISTS, so that rows are never multiplied. Names come from the adapter.
// Values are always parameters, written as question marks.
//
// PostgreSQL's indexes put null last and order text by its column's collation. An index for an
// order of this package is over (rating NULLS FIRST, id) if there can be nulls, and over (name
// COLLATE "C", id) for text, unless the plan has another collation. [WarnUnindexed] looks for
// these indexes.
//
// The text in the database must be UTF-8. In SQLite, times must be text in UTC that begins
// like 2006-01-02 15:04:05, as bun and gorm write times that are in UTC. The PRAGMA for LIKE
// and the collations of columns do not matter.
package sqltext
