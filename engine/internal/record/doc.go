// Package record reads one view of a thread: its latest segment, what the messages have of a
// run's stream, the calls that wait for an answer, and the part that belongs to one run.
//
// Each function takes a [spool.View], or values that were read from one, and changes nothing. The
// package imports the root package and toolresult. It knows no store, stream, bus or engine.
package record
