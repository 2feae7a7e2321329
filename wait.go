package spool

import "time"

// WhenBusy says what a start does on a thread that has an active run. On other threads it has no effect.
type WhenBusy string

// The values of WhenBusy.
const (
	// BusyReject refuses the start.
	BusyReject WhenBusy = "reject"
	// BusyEnqueue lets the run wait after all others.
	BusyEnqueue WhenBusy = "enqueue"
	// BusyLatest is BusyEnqueue, and also cancels the waiting runs of BusyEnqueue and BusyLatest. A subject
	// that may not stop runs cancels only its own.
	BusyLatest WhenBusy = "latest"
	// BusyInterrupt stops the run that has the thread and takes the next turn. The messages stay.
	BusyInterrupt WhenBusy = "interrupt"
	// BusyRollback stops the run that has the thread and takes the next turn. The user turn of the stopped
	// run and all messages after it leave the view, as in an edit.
	BusyRollback WhenBusy = "rollback"
	// BusySteer puts the message into the run that has the thread, as a user turn before its next step. If that
	// run ends or stops first, the message becomes a turn of its own. Other start options apply only then.
	BusySteer WhenBusy = "steer"
)

// Known reports whether w is one of the constants above.
func (w WhenBusy) Known() bool {
	return w == BusyReject || w == BusyEnqueue || w == BusyLatest || w == BusySteer || w.Stops()
}

// Stops reports whether w stops the run that has the thread.
func (w WhenBusy) Stops() bool { return w == BusyInterrupt || w == BusyRollback }

// Wait is the state of a run that was started on a busy thread.
type Wait struct {
	WhenBusy WhenBusy `json:"whenBusy"`
	// Position is the position in the queue at the start, from 1.
	Position int `json:"position"`
	// Content and ClientMessageID are the user turn, which becomes a message when the run gets the thread.
	// They are empty from then on.
	Content         Content `json:"content,omitempty"`
	ClientMessageID string  `json:"clientMessageId,omitempty"`
	// EditMessageID is the user turn that the start replaces. The run fails if the turn has left the view by
	// then. Empty: none.
	EditMessageID MessageID `json:"editMessageId,omitempty"`
	// RollbackMessageID is the user turn of the stopped run, which is dropped if it is still
	// there. Empty: none.
	RollbackMessageID MessageID `json:"rollbackMessageId,omitempty"`
	// Steers is the run that had the thread when a steer came. Empty: the start was no steer.
	Steers RunID `json:"steers,omitempty"`
	// Delivered says which run has read the message of a steer. Nil: none has, or the steer became a run.
	Delivered *Delivered `json:"delivered,omitempty"`
}

// Delivered says where the message of a steer is.
type Delivered struct {
	RunID     RunID     `doc:"The run that reads the message." json:"runId"`
	MessageID MessageID `doc:"The user turn."                  json:"messageId"`
}

// QueuedRun is a run that waits for the thread, as clients see it.
type QueuedRun struct {
	RunID RunID `doc:"The run's id." json:"runId"`
	// Position is the position in the queue, from 1, which is the next run.
	Position int      `doc:"The position in the queue, from 1, which is the next run." json:"position"`
	WhenBusy WhenBusy `doc:"The whenBusy of the start."                                enum:"enqueue,latest,interrupt,rollback,steer" json:"whenBusy"`
	// ClientMessageID is the sending client's own id for the user turn.
	ClientMessageID string `doc:"The client's own name for its turn." json:"clientMessageId,omitempty"`
	// Content is the user's turn. Only a snapshot has it.
	Content    Content   `doc:"Its turn, as the content of a message." json:"content,omitempty"`
	EnqueuedAt time.Time `doc:"When it was accepted."                  json:"enqueuedAt"`
}
