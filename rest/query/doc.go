// Package query describes lists before they are read: a handler returns a [Set], options
// filter, order and search it, and a paginator reads one page of it.
//
// A set is read from memory ([Slice]) or from a database (packages bunquery and gormquery, or
// your own adapter with package driver). An expression means the same in all of them:
//
//   - A path consists of logical names: the snake_case form of Go field names, joined by two
//     underscores or a dot, as in author__name. Only the adapter knows the column names of the
//     database; they never come from a client.
//   - Conditions are true, false or unknown, as in SQL. A comparison with null is unknown, the
//     negation of unknown is unknown, and the list has only rows whose condition is true. A path
//     through a missing relation is null.
//   - A condition on a path through a to-many relation is true if it is true for at least one of
//     the related rows. Otherwise it is false, never unknown. Rows are never multiplied.
//   - Text is compared and ordered by its bytes, which for UTF-8 is the order of code points.
//     [Collate] changes that for PostgreSQL.
//   - Lookups that ignore case (those with a leading i) use Unicode's simple folding, with one
//     exception: an ASCII letter equals only ASCII letters, so the Kelvin sign is not a k. Text is
//     not normalized: é as one code point differs from e with an accent.
//   - Characters that are wildcards in a database are ordinary characters.
//   - Null is the smallest value of an order.
//   - Times are compared to the microsecond, and their parts are those in UTC. Weekdays are
//     counted from Sunday, which is 1.
//   - The lookup in with an empty list is false for every row, also for null.
//
// This has limits: text must not have NUL, times are in the years 1 to 9999, numbers are not
// NaN, a float32 is compared as the database stores it, and regular expressions are Go's in
// memory and the database's otherwise.
package query
