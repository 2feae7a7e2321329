package spool

import "time"

// WhenBusy says what a start does on a thread that has an active run. On any other
// thread all of them are the same.
type WhenBusy string

// What a start may do on a busy thread.
const (
	// BusyReject refuses the start.
	BusyReject WhenBusy = "reject"
	// BusyEnqueue has the run wait behind all others.
	BusyEnqueue WhenBusy = "enqueue"
	// BusyLatest is as BusyEnqueue, and cancels the runs that wait behind the next turn. A subject
	// that may not stop runs cancels only its own.
	BusyLatest WhenBusy = "latest"
	// BusyInterrupt stops the run that has the thread and takes the next turn. The messages stay.
	BusyInterrupt WhenBusy = "interrupt"
	// BusyRollback stops the run that has the thread and takes the next turn. The user's
	// turn of the stopped run, and all behind it, is dropped as an edit drops it.
	BusyRollback WhenBusy = "rollback"
)

// Known reports whether w is one of the constants above.
func (w WhenBusy) Known() bool {
	return w == BusyReject || w == BusyEnqueue || w == BusyLatest || w.Stops()
}

// Stops reports whether w stops the run that has the thread.
func (w WhenBusy) Stops() bool { return w == BusyInterrupt || w == BusyRollback }

// Wait is the state of a run that was started on a busy thread.
type Wait struct {
	WhenBusy WhenBusy `json:"whenBusy"`
	// Position is the position in the queue that the answer to the start had, from 1.
	Position int `json:"position"`
	// Content and ClientMessageID are the user's turn, which becomes a message when the run gets
	// the thread. They are empty from then on.
	Content         Content `json:"content,omitempty"`
	ClientMessageID string  `json:"clientMessageId,omitempty"`
	// EditMessageID is the user turn that the start replaces. The run fails if the turn is gone by
	// then. Empty: none.
	EditMessageID MessageID `json:"editMessageId,omitempty"`
	// RollbackMessageID is the user turn of the stopped run, which is dropped if it is still
	// there. Empty: none.
	RollbackMessageID MessageID `json:"rollbackMessageId,omitempty"`
}

// QueuedRun is a run that waits for the thread, as clients see it.
type QueuedRun struct {
	RunID RunID `doc:"The run's id." json:"runId"`
	// Position counts from 1, which is the run that comes next.
	Position int      `doc:"Its place, from 1, which is the next." json:"position"`
	WhenBusy WhenBusy `doc:"What its start asked for."             enum:"enqueue,latest,interrupt,rollback" json:"whenBusy"`
	// ClientMessageID is the sending client's name for the user's turn.
	ClientMessageID string `doc:"The client's own name for its turn." json:"clientMessageId,omitempty"`
	// Content is the user's turn. Only a snapshot has it.
	Content    Content   `doc:"Its turn, as the content of a message." json:"content,omitempty"`
	EnqueuedAt time.Time `doc:"When it was accepted."                  json:"enqueuedAt"`
}
