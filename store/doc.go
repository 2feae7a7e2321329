// Package store has the port between an engine and a database: [Store], [View] and [Tx], [Live] for what wakes
// watchers, and the rows that they keep. Package spooltest has the suites that every backend must pass.
//
// # Consistency
//
// One [Store] transaction has everything that must be true together: the state change, its record entries,
// its messages, its parks and the next job. Items of a run stream are published only after the transaction
// that they announce. A run stream is disposable: a reader that loses it gets a snapshot instead.
package store
