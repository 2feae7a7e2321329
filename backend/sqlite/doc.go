// Package sqlite keeps everything in one SQLite file: it is the embedded default, for one
// machine. It implements [spool.Store] and [spool.Queue].
//
// All writes go through one goroutine, which puts what is waiting into one transaction
// and so pays for one fsync where each writer alone would pay for its own. Reads have
// connections of their own and never wait for it. Nothing that was acknowledged is lost
// when the process or the machine dies.
//
// A process that opens the file exclusively notices when its log (WAL) was lost, damaged or
// exchanged since the last process: SQLite would take such a log for an empty one. [Check]
// looks for more, and [Backup] copies a database that is written to.
//
// Several processes on one machine may share a file, unless one opened it exclusively.
// The file must not be on a network file system.
package sqlite
