// Package lite is as much of SQLite's interface for C as backend/sqlite needs, over the
// translation to Go that modernc.org/sqlite brings. The driver above that translation is made for
// package database/sql: it reads the names of all columns for each query, allocates each value
// that is bound or read, and locks each connection against goroutines that do not exist here.
//
// A connection and its statements are for one goroutine at a time.
package lite
