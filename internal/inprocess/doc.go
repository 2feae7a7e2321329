// Package inprocess has the run streams and the wake-ups of one process. backend/memory uses them, and so
// does an engine whose backend has none. They are not durable, which the port [store.Live] allows.
package inprocess
