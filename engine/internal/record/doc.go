// Package record reads a view of a thread: the thread's latest segment, how much of a run's stream the
// messages contain, the calls that wait for an answer, and the part that belongs to one run.
//
// Each function takes a [store.View], or values that were read from one, and changes nothing. The
// package imports the root package and toolresult. It knows no store, stream or engine.
package record
