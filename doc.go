// Package spool has the vocabulary of durable agent runs: threads, runs, record entries, run streams, parks,
// cursors and errors. It also declares the ports for storage, queues and models. Nothing in this package
// executes: package engine has the machinery, and package server the HTTP surface.
//
// A thread is a conversation. A run is one dispatched attempt to advance it, and a thread has at most one
// active run. Workers execute a run in segments: the first after the start, one after each park, and one
// after each failure. In a segment the run advances by steps, one model round trip each. Durable facts are
// entries of the thread's record, which have gap-free sequence numbers. Content that only live viewers need
// goes to the segment's run stream.
//
// # Consistency
//
// One [Store] transaction has everything that must be true together: the state change, its record entries,
// its messages, its parks and the next job. Items of a run stream are published only after the transaction
// that they announce. A run stream is disposable: a reader that loses it gets a snapshot instead.
//
// # Tenancy
//
// Every operation takes a [ThreadKey], and the tenant is a part of every key that a backend stores. Run ids
// are unique in a tenant.
package spool
