// Package memory keeps run streams and wake-ups within one process: what an engine
// uses when its backend brings none. Nothing here is durable, which the ports
// [spool.Streams] and [spool.Bus] allow.
package memory
