// Package agui speaks AG-UI 1.0, the protocol between agents and the pages that show
// them: it translates the frames of a thread into events, and what a client sends into a
// turn of the user or answers to parks.
//
// A [Translator] is a state machine over frames, without HTTP and without a clock. An
// AG-UI stream is a sequence of runs and nothing outside of them, and a client refuses one
// that begins in the middle. So a stream starts with a prelude that brings any client to
// the present, whatever it has: the run's start, all messages with what there is of those
// being written, and the starts of what is open. The answer to a start, or to an answer of
// the user, begins where the run went on from there, also when the run has said something by
// then: pages that show a run by its deltas get all of them. A run ends where it has ended for its
// viewer, which is at its end or at a park; a segment that failed and is tried again is
// not an end.
package agui
