// Package inprocess has the run streams and the bus of one process. backend/memory uses them, and so
// does an engine whose backend has none. They are not durable, which the ports [spool.Streams] and
// [spool.Bus] allow.
package inprocess
