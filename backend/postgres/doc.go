// Package postgres keeps everything in a PostgreSQL database, for any number of processes on any number of
// machines. It implements [spool.Store] and [spool.Live]. PostgreSQL 14 or later is needed, with the encoding
// UTF-8.
//
// An Update takes two round trips, and one more for each read that its function makes besides the thread and
// the run that owns it. The first trip begins the transaction, takes the thread's lock and reads both. Changes
// wait in memory and travel with the next read or with the commit. A change that PostgreSQL refuses aborts the
// transaction before the commit, which is behind it in the same trip.
//
// The lock of a thread is an advisory lock that ends with the transaction. It also keeps two creators of a
// thread apart. All times are those of the database's clock, read once the lock is held.
//
// With [Options.Pooler], nothing depends on the session of a connection, so that a PgBouncer in transaction mode
// may stand between.
package postgres
