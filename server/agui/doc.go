// Package agui implements AG-UI 1.0, the protocol between agents and the pages that show them. It writes the
// changes of package projection as events, and reads a client's input as a user turn or as answers to parks.
//
// In the protocol, a stream is a sequence of runs, and all events are inside a run; a client refuses a stream
// that begins in the middle. The projection keeps these rules. This package has the ids, the events and the
// messages of the protocol.
package agui
