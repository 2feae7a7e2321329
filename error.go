package spool

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Code says what kind of error something is. Codes are stable and part of the wire.
type Code string

// The codes. A caller that does not know a code treats it as [Internal].
const (
	// Invalid: the request is wrong and will stay wrong.
	Invalid Code = "invalid"
	// NotFound: the thing does not exist, or belongs to another tenant.
	NotFound Code = "not_found"
	// Conflict: the thing is in a state that does not allow it.
	Conflict Code = "conflict"
	// Fenced: the writer lost its lease; somebody else owns the thread.
	Fenced Code = "fenced"
	// Gone: it was there and is not any more.
	Gone Code = "gone"
	// Canceled: the caller gave up.
	Canceled Code = "canceled"
	// Unavailable: it did not work this time and may work the next. Whether a write
	// that fails with it happened is not known.
	Unavailable Code = "unavailable"
	// Unauthorized: nobody knows who is asking.
	Unauthorized Code = "unauthorized"
	// Forbidden: it is known who is asking, and the answer is no.
	Forbidden Code = "forbidden"
	// Limit: a bound was reached.
	Limit Code = "limit"
	// StorageFull: the tenant stores as much as it may. It works again once threads were deleted.
	StorageFull Code = "storage_full"
	// Internal: a defect, or an error that nobody has given a code.
	Internal Code = "internal"
)

// Errors that callers compare with [errors.Is].
var (
	// ErrUnknownAgent is returned for a job that names an agent this process does
	// not have. The job is not spent: a queue that retries keeps it.
	ErrUnknownAgent = &Error{Code: NotFound, Message: "unknown agent"}
	// ErrStreamGone is returned by a direct read of a run stream that is past its
	// grace window, was never there, or was removed.
	ErrStreamGone = &Error{Code: Gone, Message: "run stream is gone"}
	// ErrFenced is returned by a write whose fence is not the thread's current one.
	ErrFenced = &Error{Code: Fenced, Message: "another worker owns the thread"}
	// ErrRunIDUsed is returned by [Tx.InsertRun] when the tenant has a run of that id.
	ErrRunIDUsed = &Error{Code: Conflict, Message: "Run id already used"}
	// ErrActiveRun is returned by [Tx.InsertRun] when the thread has an active run.
	ErrActiveRun = &Error{Code: Conflict, Message: "Thread has an active run"}
)

// Error is an error with a code. Message is for a person and may be sent to a
// client; Err is for the log and never is.
type Error struct {
	Code    Code
	Message string
	Err     error
}

// Errorf returns an error with a code and a message for the client. A %w verb is not
// supported: what is wrapped goes into [Error.Err].
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Wrap returns err under a code and a message for the client, or nil for a nil err.
// An err that has a code already keeps it.
func Wrap(code Code, message string, err error) error {
	if err == nil {
		return nil
	}
	if known, ok := errors.AsType[*Error](err); ok {
		code = known.Code
	}
	return &Error{Code: code, Message: message, Err: err}
}

// Error returns the message and, for the log, what is behind it.
func (e *Error) Error() string {
	if e.Err == nil {
		return e.Message
	}
	return e.Message + ": " + e.Err.Error()
}

// Unwrap returns the error behind this one.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the code of err: the outermost [Error]'s, [Canceled] for an error of
// a context, [Internal] for everything else. It returns "" for nil.
func CodeOf(err error) Code {
	var e *Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e):
		return e.Code
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return Canceled
	default:
		return Internal
	}
}

// MessageOf returns the text of err that a client may read. An error without a code
// has none but "Internal error".
func MessageOf(err error) string {
	var e *Error
	switch {
	case errors.As(err, &e) && e.Code != Internal:
		return e.Message
	case CodeOf(err) == Canceled:
		return "Canceled"
	default:
		return "Internal error"
	}
}

// Retryable reports whether the same call may succeed later with no change to it.
func Retryable(err error) bool {
	if m, ok := errors.AsType[*ModelError](err); ok {
		return !m.Permanent()
	}
	if _, ok := errors.AsType[*RetryError](err); ok {
		return true
	}
	switch CodeOf(err) {
	case Unavailable, Limit:
		return true
	default:
		return false
	}
}

// ParkRequest is the error with which a tool parks its run: see [ParkFor].
type ParkRequest struct {
	// Reason is a word for the client, such as "job". Defaults to "input".
	Reason string
	// Payload is published as the arguments of the input request. Defaults to the
	// tool call's own arguments.
	Payload any
	// TTL is how long the answer may take. Defaults to the engine's ParkTTL.
	TTL time.Duration
}

// ParkFor returns a value that a tool returns as its error to wait for a person or an
// outside system without holding a process. The run parks once the step is saved.
// An approving answer calls the tool again, with [ToolCall.Answer] set; a call that
// parks then is a tool error.
func ParkFor(reason string, payload any, ttl time.Duration) *ParkRequest {
	return &ParkRequest{Reason: reason, Payload: payload, TTL: ttl}
}

// Error says that the value is a request and not a failure.
func (p *ParkRequest) Error() string { return "park the run: " + p.Reason }

// RetryError is the error with which a model or a hook asks for a later attempt.
type RetryError struct{ After time.Duration }

// RetryAfter returns a value that a model returns as its error to have the run
// retried as a new segment after d, without counting as a permanent failure.
func RetryAfter(d time.Duration) *RetryError { return &RetryError{After: d} }

// Error gives the wait.
func (r *RetryError) Error() string { return "retry after " + r.After.String() }
