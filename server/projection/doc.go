// Package projection turns the frames of a thread into the changes that a client of another protocol has to
// see. It has the rules that every such protocol needs, and none of a protocol's own.
//
// A [Projection] is a state machine over frames, without HTTP and without a clock. For a viewer, a thread is a
// sequence of runs, and all changes are inside a run. A client may come at any moment, so its changes begin
// with a prelude: the run, all messages including the unfinished ones, and the starts of the blocks and calls
// that are open. See [Projection.Prelude].
//
// The answer to a start, or to a user's answer, is different. It begins where the run continued, even if the
// run has said something since then, so that clients which show a run by its deltas get all of them. See
// [Projection.Replay].
//
// For a viewer, a run ends at its end or at a park. A segment that failed and is retried is not an end: the
// client gets a [TakenBack] for what the segment said and did not save.
//
// The native frames are the input. The engine encodes them once for all clients, and a native client needs no
// projection.
package projection
