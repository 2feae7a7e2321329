// Package record reads, folds and writes the records of threads. A [Record] has everything from which the
// snapshot of a thread at each of its versions follows: its messages, those of branches included, the entries
// of its record, and what each commit has changed. A version is the number of such a commit.
//
// [Record.At] folds a record to a version, and needs neither a server nor a store. [Of] reads the record of a
// thread from a store, [Record.WriteTo] writes the file that "spool run export" makes, and [Read] reads it.
package record
