// Package spool is the vocabulary of durable agent runs: threads, runs, record
// entries, run streams, parks, cursors and errors, and the ports behind which
// storage, queues and models live. Nothing in this package runs; the machine is
// in package engine, the HTTP surface in package server.
//
// A thread is a conversation. A run is one dispatched attempt to advance it, and a
// thread has at most one that is active. A worker picks a run up in segments: the
// first pickup, one after each park, one after each failure. In a segment the run
// advances by steps, one model round trip each. What must survive is written to
// the thread's record, whose entries carry a gap-free sequence number; what only
// must be seen live goes to the segment's run stream.
//
// # Consistency
//
// One [Store] transaction carries everything that must be true together: the state
// change, its record entries, its messages, its parks and the next job. A run
// stream is announced only after the transaction it tells of, and is disposable: a
// reader that loses it gets a snapshot in its place.
//
// # Tenancy
//
// Every operation takes a [ThreadKey], and the tenant is a part of every key that a
// backend stores. Run ids are unique in a tenant.
package spool
