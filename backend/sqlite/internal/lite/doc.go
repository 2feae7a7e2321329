// Package lite is the part of SQLite's C interface that backend/sqlite needs, over the Go translation
// of SQLite in modernc.org/sqlite. It replaces the driver of that module, which is made for package
// database/sql: the driver reads the names of all columns for each query, allocates each bound or read
// value, and locks connections against goroutines that do not exist here.
//
// A connection and its statements are for one goroutine at a time.
package lite
