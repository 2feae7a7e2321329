// Package enginetest has the suites of the engine's behaviour: [Test] runs all of them over a
// backend. Package engine runs them over the one in memory, and each other backend over its own.
//
// A file has the cases of one verb, and the helpers that only those need. Cases drive the engine
// as a program does, through its exported operations and a scripted model, in a bubble of
// testing/synctest. Every case leaves a history, which the checker of package spooltest looks
// through for what must never happen.
//
// A random campaign does what its seed says: SPOOL_SEED chooses one seed, SPOOL_CAMPAIGN says how
// many there are, and SPOOL_TRACE names a folder for the trace of each.
package enginetest
