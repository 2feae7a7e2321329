package wire

import (
	"time"

	"github.com/spoolhq/spool"
)

// DelayedStart is an accepted start that waits for its time. It is no run and not in the queue of its thread: it
// becomes a run when it comes due. One that is refused then is kept for a day with its reason.
type DelayedStart struct {
	RunID    spool.RunID    `example:"r1"   json:"runId"`    // The run that it will be. No other start can take the id.
	ThreadID spool.ThreadID `example:"t1"   json:"threadId"` // The thread, which it creates if it does not exist then.
	StartAt  time.Time      `json:"startAt"`                 // When it comes due.
	// Agent is the agent that would run now. One that the start does not name is chosen when it comes due.
	Agent string `example:"assistant" json:"agent"`
	// Title is the title of the start, or the beginning of its prompt.
	Title string `json:"title,omitempty"`
	// WhenBusy is what it does if the thread has an active run then. Left out: as the agent says.
	WhenBusy spool.WhenBusy `json:"whenBusy,omitempty"`
	// StartedBy is the subject that has started it. Left out: not known.
	StartedBy string    `json:"startedBy,omitempty"`
	CreatedAt time.Time `json:"createdAt"` // When it was accepted.
	// RefusedAt is when it came due and was refused, or was imported. Left out: it waits for its time.
	RefusedAt time.Time `json:"refusedAt,omitzero"`
	// Reason is why it was refused, for a program.
	//
	// One of the constants named Reason, or a [spool.Code].
	Reason string `example:"active_run"   json:"reason,omitempty"`
	Error  string `json:"error,omitempty"` // Why it was refused, for a person.
}

// DelayedQuery selects delayed starts of a tenant, in the order of the ids of their runs.
type DelayedQuery struct {
	Tenant spool.Tenant
	// ThreadID leaves out the starts of other threads. Empty: all.
	ThreadID spool.ThreadID
	// After continues a list: only greater ids. Empty: from the first.
	After spool.RunID
	// Limit bounds how many are returned. Zero: all.
	Limit int
}

// MaxStartDelay bounds how far ahead [StartRequest.StartAt] may be.
const MaxStartDelay = 366 * 24 * time.Hour
