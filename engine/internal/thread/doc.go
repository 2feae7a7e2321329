// Package thread has the transitions of a thread, one file each. A transition is a function over a
// [Tx], the transaction over one thread. It reads, decides and writes. It returns what has to
// follow the commit as values, because its transaction may run twice.
//
// The package touches only the store's transaction. It knows no engine, agent, model, hook or
// stream, starts no goroutine, and has no clock but the store's. Everything else that it needs
// comes as values: [Rules] and arguments.
package thread
