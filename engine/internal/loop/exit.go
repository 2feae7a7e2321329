package loop

import (
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/active"
	"github.com/spoolhq/spool/engine/internal/calls"
)

// Exit is how the work on a run ends in a segment.
type Exit string

const (
	ExitDone        Exit = "done"         // the run has ended or parked
	ExitLost        Exit = "lost"         // this worker may not write any more
	ExitLapsed      Exit = "lapsed"       // the lease could not be renewed
	ExitStoreFailed Exit = "store failed" // the run waits until its lease lapses
	ExitStopped     Exit = "stopped"
	ExitOutOfTime   Exit = "out of time"
	ExitHandBack    Exit = "hand back" // the worker shuts down
	ExitRetry       Exit = "retry"     // a nested run below has another attempt
	ExitFailed      Exit = "failed"    // the attempt of a step has failed
)

// ExitOf returns how a segment ends whose work has ended with err. Cause is why the segment's context has ended, or
// nil. Shutdown is true if the worker ends.
func ExitOf(err, cause error, shutdown bool) Exit {
	switch {
	case err == nil:
		return ExitDone
	case spool.CodeOf(err) == spool.Fenced, errors.Is(cause, active.ErrLost):
		return ExitLost
	case errors.Is(cause, active.ErrLapsed):
		return ExitLapsed
	case active.IsStoreError(err) && spool.CodeOf(err) != spool.Canceled:
		return ExitStoreFailed
	case errors.Is(cause, active.ErrStopped):
		return ExitStopped
	case errors.Is(cause, active.ErrOutOfTime):
		return ExitOutOfTime
	case shutdown:
		return ExitHandBack
	case active.IsStoreError(err):
		return ExitStoreFailed
	default:
		return ExitFailed
	}
}

// nestedExitOf does the same as ExitOf for a nested run. It may not write once the lease is gone, and leaves a store
// that has failed to the dispatched run.
func nestedExitOf(err, cause error) Exit {
	switch {
	case err == nil:
		return ExitDone
	case active.IsStoreError(err) && cause == nil, spool.CodeOf(err) == spool.Fenced:
		return ExitStoreFailed
	case errors.Is(cause, active.ErrStopped):
		return ExitStopped
	case errors.Is(cause, active.ErrOutOfTime):
		return ExitOutOfTime
	case errors.Is(cause, active.ErrLost), errors.Is(cause, active.ErrLapsed), errors.Is(cause, calls.ErrStepAbandoned):
		return ExitLost
	case cause != nil:
		return ExitHandBack
	case errors.As(err, new(*calls.AttemptError)):
		return ExitRetry
	default:
		return ExitFailed
	}
}
