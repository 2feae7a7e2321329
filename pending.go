package spool

import (
	"encoding/json"
	"time"
)

// The bounds of the time between two looks at a pending call, and how long a call may be pending if its tool does
// not say.
const (
	MinPending            = time.Second
	MaxPending            = time.Hour
	DefaultPendingTimeout = 24 * time.Hour
)

// PendingError is the error with which a tool says that its call is not done yet: see [Pending].
type PendingError struct {
	// After is the time until the engine calls the tool again. It is bounded by [MinPending] and [MaxPending].
	After time.Duration
	// State is any JSON of at most 2 MiB that the tool needs to go on, such as the id of a task. The engine keeps
	// it with the call, and no client sees it. Defaults to null.
	State json.RawMessage
	// Note says for a person how far the work is, in at most 500 bytes. Clients see it. Defaults to none.
	Note string
}

// Pending returns an error for a tool that has begun long work elsewhere. When a tool returns it, the engine saves the
// state and frees the worker. The run waits without a process. After the time, any process calls the tool again, with
// [ToolCall.Pending] set to the state, until the tool returns something else.
//
// Such a call must only look at the work, because the engine repeats it with the same state after a crash.
// The first call, which begins the work, is never repeated without a person unless the tool is idempotent.
func Pending(after time.Duration, state json.RawMessage) *PendingError {
	return &PendingError{After: after, State: state}
}

// Error says that the value is a request and not a failure.
func (p *PendingError) Error() string { return "the call is pending" }

// Bounded returns After within its bounds.
func (p *PendingError) Bounded() time.Duration { return min(max(p.After, MinPending), MaxPending) }
