package spool

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
