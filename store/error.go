package store

import (
	"github.com/spoolhq/spool"
)

// Errors that callers compare with [errors.Is].
var (
	// ErrStreamGone is returned by a direct read of a run stream that is past its grace time, never
	// existed, or was removed.
	ErrStreamGone = &spool.Error{Code: spool.Gone, Message: "run stream is gone"}
	// ErrFenced is returned by a write whose fence is not the thread's current one.
	ErrFenced = &spool.Error{Code: spool.Fenced, Message: "another worker owns the thread"}
	// ErrRunIDUsed is returned for a new run if the tenant has a run with that id.
	ErrRunIDUsed = &spool.Error{Code: spool.Conflict, Message: "Run id already used"}
	// ErrActiveRun is returned for an active run if the thread has another one.
	ErrActiveRun = &spool.Error{Code: spool.Conflict, Message: "Thread has an active run"}
	// ErrStartKeyUsed is returned for a run if the tenant has another one with the same idempotency key.
	ErrStartKeyUsed = &spool.Error{Code: spool.Conflict, Message: "Idempotency key already used"}
	// ErrMessageIDUsed is returned for a new message if the thread has had one with that id.
	ErrMessageIDUsed = &spool.Error{Code: spool.Conflict, Message: "Message id already used"}
	// ErrBranchUsed is returned for a new branch if the thread has one with that id.
	ErrBranchUsed = &spool.Error{Code: spool.Conflict, Message: "Branch id already used"}
	// ErrBranchBase is returned for a branch that the end of the thread's view is not the base of.
	ErrBranchBase = &spool.Error{Code: spool.Conflict, Message: "The view does not end where the branch begins"}
	// ErrRowChanged is returned for a row that does not have the expected version.
	ErrRowChanged = &spool.Error{Code: spool.Conflict, Message: "Somebody else has changed the row"}
	// ErrStreamClosed is returned by a write to a run stream that was closed.
	ErrStreamClosed = &spool.Error{Code: spool.Conflict, Message: "run stream is closed"}
	// ErrOffsetUsed is returned by a write to a run stream that does not come after its last item.
	ErrOffsetUsed = &spool.Error{Code: spool.Conflict, Message: "run stream is further already"}
)
