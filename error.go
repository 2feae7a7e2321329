package spool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Code is the kind of an error. Codes are stable and part of the wire.
type Code string

// The codes. A caller that does not know a code treats it as [Internal].
const (
	// Invalid: the request is wrong, and a retry does not help.
	Invalid Code = "invalid"
	// NotFound: the thing does not exist, or belongs to another tenant.
	NotFound Code = "not_found"
	// Conflict: the state of the thing does not allow the call.
	Conflict Code = "conflict"
	// Fenced: the writer lost its lease, and another worker owns the thread.
	Fenced Code = "fenced"
	// Gone: the thing existed and is no longer there.
	Gone Code = "gone"
	// Canceled: the caller gave up.
	Canceled Code = "canceled"
	// Unavailable: the call failed and may succeed later. A write that fails with it may have
	// happened or not.
	Unavailable Code = "unavailable"
	// Unauthorized: the caller is not known.
	Unauthorized Code = "unauthorized"
	// Forbidden: the caller is known and may not do this.
	Forbidden Code = "forbidden"
	// Limit: a limit was reached.
	Limit Code = "limit"
	// StorageFull: the tenant stores as many bytes as it may. The call works again after threads were
	// deleted.
	StorageFull Code = "storage_full"
	// Internal: a defect, or an error without a code.
	Internal Code = "internal"
)

// Error is an error with a code. Message is for a person, and clients may get it. Err is for the
// log, and clients never get it.
type Error struct {
	Code    Code
	Message string
	Err     error
}

// Errorf returns an error with a code and a message for the client. It does not support %w: set
// [Error.Err], or use [Wrap].
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Wrap returns an [Error] with a message for the client that wraps err. If err has a code, the
// result has that code instead of the given one. Wrap returns nil for a nil err.
func Wrap(code Code, message string, err error) error {
	if err == nil {
		return nil
	}
	if known, ok := errors.AsType[*Error](err); ok {
		code = known.Code
	}
	return &Error{Code: code, Message: message, Err: err}
}

// Error returns the message and the text of Err. It is for the log.
func (e *Error) Error() string {
	if e.Err == nil {
		return e.Message
	}
	return e.Message + ": " + e.Err.Error()
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the code of err: that of the outermost [Error], [Canceled] for an error of a
// context, and [Internal] for every other error. It returns "" for nil.
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

// MessageOf returns the text of err that a client may read. For an error without a code and for
// [Internal], it is "Internal error".
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

// Retryable reports whether the same call may succeed later.
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
	// Reason tells the client why the run waits, in one word such as "job". Defaults to "input".
	Reason string
	// Payload is published as the arguments of the input request. Defaults to the
	// tool call's own arguments.
	Payload any
	// TTL is the time to answer. Defaults to the engine's ParkTTL.
	TTL time.Duration
	// Schema is a JSON Schema that the payload of an approving answer must match, of at most 2 MiB. Clients see it.
	// Defaults to any payload.
	Schema json.RawMessage
	// Resume is any JSON of at most 2 MiB that the tool needs to go on, which is kept with the park and which no
	// client sees.
	// With a Resume the engine calls the tool again after a denial and after the expiry too, and the tool may
	// park again, up to 20 times in a call. Defaults to none.
	Resume json.RawMessage
	// Pending is any JSON of at most 2 MiB that says which work of the call has begun and waits for the answer. The
	// engine calls the tool again with it as [ToolCall.Pending], and also [Tool.Cancel] if the run ends first. No
	// client sees it. Defaults to none.
	Pending json.RawMessage
}

// ParkFor returns an error for a tool that has to wait for a person or an external system. When
// a tool returns it, the run parks after the step is saved, and holds no process while it waits.
// After an approving answer, the engine calls the tool again with [ToolCall.Answer] set. If this
// call parks too, that is a tool error, unless the request has a [ParkRequest.Resume].
func ParkFor(reason string, payload any, ttl time.Duration) *ParkRequest {
	return &ParkRequest{Reason: reason, Payload: payload, TTL: ttl}
}

// Error says that the value is a request and not a failure.
func (p *ParkRequest) Error() string { return "park the run: " + p.Reason }

// OutcomeUnknownError is the error of a tool call that may have taken effect, for example because a connection
// broke before the answer. The engine does not repeat such a call: it asks a person, with the reason
// [wire.ParkOutcomeUnknown]. If the tool is idempotent, the error is the call's result instead.
type OutcomeUnknownError struct{ Err error }

func (e *OutcomeUnknownError) Error() string { return "outcome unknown: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *OutcomeUnknownError) Unwrap() error { return e.Err }

// RetryError is the error with which a model or a hook asks for a later attempt.
type RetryError struct{ After time.Duration }

// RetryAfter returns an error for a model that cannot answer now. When a model returns it, the
// engine retries the run as a new segment after d. It does not count as a permanent failure.
func RetryAfter(d time.Duration) *RetryError { return &RetryError{After: d} }

// Error names the wait.
func (r *RetryError) Error() string { return "retry after " + r.After.String() }
