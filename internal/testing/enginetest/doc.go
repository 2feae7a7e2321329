// Package enginetest has the suites of the engine's behaviour: [Test] runs all of them over a backend.
// Package engine runs them over the memory backend, and each other backend over its own.
//
// A file has the cases of one operation, and their helpers. Cases drive the engine as a program does,
// through its exported operations and a scripted model, in a bubble of testing/synctest. Every case
// leaves a history, which the checker of package spooltest checks.
//
// The seed of a random campaign decides everything that happens in it: SPOOL_SEED chooses one seed,
// SPOOL_CAMPAIGN is the number of seeds, and SPOOL_TRACE names a folder for the trace of each.
package enginetest
