// Package inprocess has the run streams and the wake-ups of one process: those of
// backend/memory, and of an engine whose backend brings none. Nothing here is durable, which the ports
// [spool.Streams] and [spool.Bus] allow.
package inprocess
