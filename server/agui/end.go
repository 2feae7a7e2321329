package agui

import (
	"context"
	"errors"

	"github.com/spoolhq/spool"
)

// CodeServerGone is the code of the error that ends a stream because the server shuts down. The run
// continues.
const CodeServerGone = "server_shutdown"

// Codes of errors that end a stream while its run continues: see [Cut].
const (
	CodeCredentialsGone = "credentials_over"
	CodeThreadGone      = "not_found"
	CodeStreamBroken    = "internal"
)

// Cut returns the last event of a stream that err ends before its run has ended. Without that event, a client
// would take the stream for complete. It may be the first event too.
func Cut(err error) Event {
	switch {
	case spool.CodeOf(err) == spool.NotFound: // the thread was deleted, or now belongs to another caller
		return RunError{Message: "Thread not found", Code: CodeThreadGone}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return RunError{
			Message: "The credentials of this request are over. The run goes on: connect again with new ones to see the rest.",
			Code:    CodeCredentialsGone,
		}
	default:
		return RunError{
			Message: "The stream has failed. The run goes on: connect again to see the rest.", Code: CodeStreamBroken,
		}
	}
}

// Nothing returns the events for a thread without messages.
func Nothing(thread spool.ThreadID, run string) []Event {
	return []Event{
		RunStarted{ThreadID: thread, RunID: run, ProtocolVersion: Version},
		Messages{},
		RunFinished{ThreadID: thread, RunID: run, Outcome: Outcome{Type: OutcomeSuccess}},
	}
}
