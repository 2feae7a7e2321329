// Package thread has the transitions of a thread: one file each. A transition is a function over
// a [Tx], the transaction over one thread. It reads, decides, and writes. It returns what has to
// follow the commit as values, as its transaction may run twice.
//
// The package touches the store's transaction and nothing else. It knows no engine, no agent, no
// model, no hook and no stream, starts no goroutine, and has no clock but the store's. What it
// has to know of them comes as values, in [Rules] or as arguments.
package thread
