// Package sqlite keeps everything in one SQLite file. It is the embedded default, for one machine. It
// implements [store.Store].
//
// All writes go through one goroutine. The goroutine puts all waiting writes into one transaction, so
// that they share one fsync. Reads have connections of their own and never wait for the goroutine.
// Acknowledged data survives the death of the process or the machine.
//
// A process that opens the file exclusively notices if its log (WAL) was lost, damaged or exchanged
// since the last process. SQLite would treat such a log as empty. [Check] looks for more kinds of
// damage, and [Backup] copies a database while a server writes to it.
//
// Several processes on one machine may share a file, unless one of them opened it exclusively. The file
// must not be on a network file system.
package sqlite
