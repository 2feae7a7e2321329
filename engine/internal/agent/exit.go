package agent

import (
	"errors"

	"github.com/spoolhq/spool"
)

// exit is how the work on a run ends in a segment.
type exit string

const (
	exitDone        exit = "done"         // the run has ended or parked
	exitLost        exit = "lost"         // this worker may not write any more
	exitLapsed      exit = "lapsed"       // the lease could not be renewed
	exitStoreFailed exit = "store failed" // the run waits until its lease lapses
	exitStopped     exit = "stopped"
	exitOutOfTime   exit = "out of time"
	exitHandBack    exit = "hand back" // the worker shuts down
	exitRetry       exit = "retry"     // a nested run below has another attempt
	exitFailed      exit = "failed"    // the attempt of a step has failed
)

// exitOf returns how a segment ends whose work has ended with err. Cause is why the segment's context has ended, or nil.
// Shutdown is true if the worker ends.
func exitOf(err, cause error, shutdown bool) exit {
	switch {
	case err == nil:
		return exitDone
	case spool.CodeOf(err) == spool.Fenced, errors.Is(cause, errLost):
		return exitLost
	case errors.Is(cause, errLapsed):
		return exitLapsed
	case isStoreError(err) && spool.CodeOf(err) != spool.Canceled:
		return exitStoreFailed
	case errors.Is(cause, errStopped):
		return exitStopped
	case errors.Is(cause, errOutOfTime):
		return exitOutOfTime
	case shutdown:
		return exitHandBack
	case isStoreError(err):
		return exitStoreFailed
	default:
		return exitFailed
	}
}

// nestedExitOf does the same as exitOf for a nested run. It may not write once the lease is gone, and leaves a store that
// has failed to the dispatched run.
func nestedExitOf(err, cause error) exit {
	switch {
	case err == nil:
		return exitDone
	case isStoreError(err) && cause == nil, spool.CodeOf(err) == spool.Fenced:
		return exitStoreFailed
	case errors.Is(cause, errStopped):
		return exitStopped
	case errors.Is(cause, errOutOfTime):
		return exitOutOfTime
	case errors.Is(cause, errLost), errors.Is(cause, errLapsed), errors.Is(cause, errStepAbandoned):
		return exitLost
	case cause != nil:
		return exitHandBack
	case errors.As(err, new(*attemptError)):
		return exitRetry
	default:
		return exitFailed
	}
}
