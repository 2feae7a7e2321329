// Package agui implements AG-UI 1.0, the protocol between agents and the pages that show them. It translates
// the frames of a thread into events, and a client's input into a user turn or into answers to parks.
//
// A [Translator] is a state machine over frames, without HTTP and without a clock. In the protocol, a stream
// is a sequence of runs, and all events are inside a run; a client refuses a stream that begins in the
// middle. So a stream starts with a prelude that brings any client to the present: the run's start, all
// messages including the unfinished ones, and the starts of the blocks and calls that are open.
//
// The answer to a start, or to a user's answer, is different. It begins where the run continued, even if the
// run has said something since then, so that pages which show a run by its deltas get all of them.
//
// For a viewer, a run ends at its end or at a park. A segment that failed and is retried is not an end.
package agui
