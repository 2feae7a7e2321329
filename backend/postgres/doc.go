// Package postgres keeps everything in a PostgreSQL database, for any number of processes on any number of
// machines. It implements [store.Store] and [store.Live]. PostgreSQL 14 or later is needed, with the encoding
// UTF-8.
//
// An Update takes two round trips, and one more for each read that its function makes besides the thread and
// the run that owns it. The first trip begins the transaction, takes the thread's lock and reads both. Changes
// wait in memory and travel with the next read or with the commit. A change that PostgreSQL refuses aborts the
// transaction before the commit, which is behind it in the same trip. A View takes a trip for each read, the
// first of which also begins its transaction, and one to end it.
//
// The lock of a thread is an advisory lock that ends with the transaction. It also keeps two creators of a
// thread apart. All times come from the database's clock, read once the lock is held.
//
// With [Options.Pooler], nothing depends on the session of a connection, so that a PgBouncer in transaction mode
// may stand between.
//
// A host that keeps its own rows in the same database passes its transaction to an engine by [Tx] or [SQLTx]. Its
// rows and the accepted run are then committed together, or not at all.
//
// The tables are in a schema of their own: see [Options.Schema]. Open creates them and brings them up to date. A
// binary of an earlier version keeps working with a later schema until a step removes what it needs, and is
// refused from then on. So the nodes of an installation can be replaced one after the other.
package postgres
