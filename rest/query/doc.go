// Package query has lists that are described before they are read: a handler returns a [Set],
// options narrow, order and search it, and a paginator reads one page of it.
//
// A set is read from memory ([Slice]) or from a database (packages bunquery and gormquery; of
// your own with package driver), and an expression means the same in all of them:
//
//   - A path is made of logical names: the snake_case form of Go field names, joined by two
//     underscores or a dot, as in author__name. What the database calls a column is known to
//     the adapter only, and never comes from a client.
//   - Conditions have three values, as in SQL. Comparing with a null is unknown, the negation
//     of unknown is unknown, and only what is true is in the list. A path through a relation
//     that is not there is null.
//   - A condition on a path through a to-many relation holds when it holds for at least one of
//     the related rows. It is true or false, never unknown. Rows are never multiplied.
//   - Text is compared and ordered by its bytes, which for UTF-8 is the order of code points.
//   - Lookups that ignore case (those with a leading i) fold each letter by Unicode's simple
//     folding, with one limit: an ASCII letter is equal to an ASCII letter only, so that the
//     Kelvin sign is no k. Nothing is normalized: é as one code point is not e with an accent.
//   - Characters that are wildcards in a database are ordinary characters.
//   - Null is the smallest value of an order.
//   - Times are compared to the microsecond, and their parts are those in UTC. Weekdays are
//     counted from Sunday, which is 1.
//   - The empty list of the lookup in holds nothing, not even when it is compared with null.
//
// The limits of that promise: text holds no NUL, times are of the years 1 to 9999, numbers
// are not NaN, a float32 is compared as the database stores it, and regular expressions are
// Go's in memory and the database's otherwise.
package query
