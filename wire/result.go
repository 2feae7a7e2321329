package wire

import (
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
)

// RunResult is the answer to a start. A refusal is not an error.
type RunResult struct {
	Accepted bool           `example:"true" json:"accepted"` // Whether the run was accepted.
	ThreadID spool.ThreadID `example:"t1"   json:"threadId"` // The thread, also a new one.
	// RunID is the run that was accepted, or that the Idempotency-Key belongs to.
	//
	// The latter is for [ReasonKeyReused].
	RunID spool.RunID `example:"r1" json:"runId,omitempty"`
	// QUEUED for an accepted run. Left out: there is no run, or not yet.
	State State `example:"QUEUED" json:"state,omitempty"`
	// StartAt is when the run starts. Left out: it has started.
	//
	// See [StartRequest.StartAt].
	StartAt time.Time `json:"startAt,omitzero"`
	// Position is the run's position in the queue of the thread, from 1. Left out: it does not wait.
	Position int `json:"position,omitempty"`
	// Steers are the active run that the message is for. Left out: the start is no steer, or the thread was free.
	//
	// See [spool.BusySteer].
	Steers spool.RunID `json:"steers,omitempty"`
	// Reason is why the run was refused, for a program.
	//
	// One of the constants named Reason.
	Reason string `enum:"active_run,queue_full,run_id_used,key_reused,not_found,not_editable" json:"reason,omitempty"`
	Error  string `json:"error,omitempty"` // Why the run was refused, for a person.
	// Warning is what was ignored of the request, for a person. Left out: nothing.
	Warning string `json:"warning,omitempty"`
	// RetryAfter is how long to wait before the same start again, if the server was too busy. Zero:
	// it was not.
	RetryAfter time.Duration `json:"-"`
}

// StopResult is the answer to a stop. A refusal is not an error.
type StopResult struct {
	Accepted bool `example:"true" json:"accepted"` // Whether the run stops.
	// Reason is why it was refused, for a program.
	//
	// One of the constants named Reason.
	Reason string `enum:"not_active"      json:"reason,omitempty"`
	Error  string `json:"error,omitempty"` // Why it was refused, for a person.
}

// RespondResult is the answer to an answer. A refusal is not an error.
type RespondResult struct {
	Delivered bool `example:"true" json:"delivered"` // Whether this answer counts.
	// Reason is why the answer does not count, for a program.
	//
	// One of the constants named Reason.
	Reason string `enum:"already_answered,no_park,changed,same_approver,not_editable" json:"reason,omitempty"`
	Error  string `json:"error,omitempty"` // Why the answer does not count, for a person.
}

// RestoreResult is the result of restoring a branch. A refusal is not an error.
type RestoreResult struct {
	Accepted bool `example:"true" json:"accepted"` // Whether the branch is shown again.
	// BranchID is the branch of the request. After a restore it is no longer a branch.
	BranchID BranchID `example:"7" json:"branchId"`
	// DroppedBranchID is the branch that what was shown in its place has become. Left out: nothing was.
	//
	// A client can go back by it.
	DroppedBranchID BranchID `json:"droppedBranchId,omitempty"`
	// Reason is why the branch was not restored, for a program.
	//
	// One of the constants named Reason.
	Reason string `enum:"active_run,not_found,not_restorable" json:"reason,omitempty"`
	Error  string `json:"error,omitempty"` // Why the branch was not restored, for a person.
}

// ForkRequest asks for a new thread that begins with what another one was.
type ForkRequest struct {
	// Version is the version of the thread whose messages the new one begins with.
	Version int64 `example:"7" json:"version" minimum:"0" required:"true"`
	// NewThreadID is the id of the new thread, which must not exist. Left out: a new id.
	NewThreadID spool.ThreadID `example:"t2" json:"newThreadId,omitempty"`
}

// ForkResult is the result of a fork. A refusal is not an error.
type ForkResult struct {
	Accepted bool `example:"true" json:"accepted"` // Whether there is a new thread.
	// ThreadID is the new thread.
	//
	// Also if it was refused.
	ThreadID spool.ThreadID `example:"t2" json:"threadId"`
	// Messages is how many messages the new thread has.
	Messages int `example:"4" json:"messages"`
	// Reason is why there is no new thread, for a program.
	//
	// [ReasonThreadUsed].
	Reason string `enum:"thread_id_used,not_found" json:"reason,omitempty"`
	Error  string `json:"error,omitempty"` // Why there is no new thread, for a person.
}

// BranchMessages is a branch with its messages, in their order.
type BranchMessages struct {
	Branch   Branch          `json:"branch"`   // The branch.
	Messages []spool.Message `json:"messages"` // Its messages, in their order.
}

// DeleteResult is the answer to a deletion. A refusal is not an error.
type DeleteResult struct {
	Accepted bool `example:"true" json:"accepted"` // Whether the thread is gone.
	// Reason is why the thread was not deleted, for a program.
	//
	// One of the constants named Reason.
	Reason string `enum:"not_found,active_run" json:"reason,omitempty"`
	Error  string `json:"error,omitempty"` // Why the thread was not deleted, for a person.
}

// CompactResult is the answer to Engine.Compact. A refusal is not an error.
type CompactResult struct {
	// Compacted is whether a summary now replaces older messages for the model.
	Compacted bool `example:"true" json:"compacted"`
	// Reason is the reason of the refusal, for a program.
	//
	// One of the constants named Reason.
	Reason string `enum:"active_run,not_found,nothing_to_compact,changed" json:"reason,omitempty"`
	Error  string `json:"error,omitempty"` // The reason of the refusal, for a person.
	// SummarizedMessages are the number of messages that the summary replaces for the model.
	SummarizedMessages int `json:"summarizedMessages,omitempty"`
}

// RedriveResult is the answer to a redrive. A refusal is not an error.
type RedriveResult struct {
	Accepted bool           `example:"true"            json:"accepted"` // Whether the job's work was restarted.
	JobID    int64          `json:"jobId"`                              // The dead job.
	ThreadID spool.ThreadID `json:"threadId,omitempty"`                 // Its thread.
	// RunID is the run of the restarted work: a new run, or the run that is settled again.
	RunID spool.RunID `json:"runId,omitempty"`
	// Reason is why it was refused, for a program.
	//
	// One of the constants named Reason.
	Reason string `enum:"not_found,active_run,moved_on" json:"reason,omitempty"`
	Error  string `json:"error,omitempty"` // Why it was refused, for a person.
}

// SweepReport counts the results of a sweep.
type SweepReport struct {
	// Checked counts the threads that were found without a job or a worker.
	Checked int
	// Redispatched counts those that got a job.
	Redispatched int
	// Errors counts those that could not get one. The next sweep tries again.
	Errors int
}

// PruneReport is the result of a prune or of a dry run.
type PruneReport struct {
	// Threads are the deleted threads, the one that was updated first at the beginning.
	Threads []spool.ThreadKey
	// More is true if the limit was reached. Then there may be more threads.
	More bool
}

// EventPage is a page of the durable events of an application.
type EventPage struct {
	// Events are in the order of their seq.
	Events []Entry `json:"events"`
	// Next is the After of the next page. Zero: the record has no more entries. Even a page with few or no
	// events may have a next page.
	Next int64 `json:"next,omitempty"`
}

// Settlement describes a run that ends, for the settle hook.
type Settlement struct {
	Thread     spool.ThreadKey
	RunID      spool.RunID
	Agent      string
	State      State
	StopReason StopReason
	// Error is why a failed run failed.
	Error string
	// Expired is the mark of a run with questions that nobody answered in time: see [Run.Expired].
	Expired Expired
	Steps   int
	Usage   spool.TokenCount
	// Costs is the cost of the run. Empty: no price is known.
	Costs []Money
	// HostState is the host state of the start. Nil: none.
	HostState json.RawMessage
	// Output is the JSON value of a completed run: see [RunOutcome.Output]. Nil: none.
	Output json.RawMessage
}
