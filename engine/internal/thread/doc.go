// Package thread contains the transitions of a thread, one file each. A transition is a function over a
// [Tx], the transaction over one thread. It reads, decides and writes. The transaction may run twice,
// so a transition returns as values what has to follow the commit.
//
// The package touches only the store's transaction. It knows no engine, agent, model, hook or stream,
// starts no goroutine, and reads no clock but the store's. Everything else that it needs comes as
// values: [Rules] and arguments.
package thread
