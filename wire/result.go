package wire

import (
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
)

// RunResult is the answer to a start. A refusal is not an error.
type RunResult struct {
	Accepted bool           `doc:"Whether the run was accepted." example:"true" json:"accepted"`
	ThreadID spool.ThreadID `doc:"The thread, also a new one."   example:"t1"   json:"threadId"`
	// RunID is the run that was accepted, or for [ReasonKeyReused] the run of the idempotency key.
	RunID spool.RunID `doc:"The run that was accepted, or that the Idempotency-Key belongs to." example:"r1" json:"runId,omitempty"`
	// State is QUEUED for an accepted run.
	State State `doc:"QUEUED for an accepted run." example:"QUEUED" json:"state,omitempty"`
	// Position is the run's position in the queue of the thread, from 1, which is the next run. Zero: the run
	// has the thread.
	Position int `doc:"The run's position in the queue of the thread, from 1. Left out: it does not wait." json:"position,omitempty"`
	// Steers is the active run that an accepted steer is for: see [spool.BusySteer]. Empty: the start is no steer, or
	// the thread was free.
	Steers spool.RunID `doc:"The active run that the message is for. Left out: the start is no steer, or the thread was free." json:"steers,omitempty"`
	// Reason is one of the constants named Reason, empty for an accepted run.
	Reason string `doc:"Why the run was refused, for a program." enum:"active_run,queue_full,run_id_used,key_reused,not_found,not_editable" json:"reason,omitempty"`
	Error  string `doc:"Why the run was refused, for a person."  json:"error,omitempty"`
	// Warning says which part of an accepted request was ignored. Empty: none.
	Warning string `doc:"What was ignored of the request, for a person. Left out: nothing." json:"warning,omitempty"`
	// RetryAfter is how long to wait before the same start again, if the server was too busy. Zero:
	// it was not.
	RetryAfter time.Duration `json:"-"`
}

// StopResult is the answer to a stop. A refusal is not an error.
type StopResult struct {
	Accepted bool `doc:"Whether the run stops." example:"true" json:"accepted"`
	// Reason is one of the constants named Reason, empty for an accepted stop.
	Reason string `doc:"Why it was refused, for a program." enum:"not_active"      json:"reason,omitempty"`
	Error  string `doc:"Why it was refused, for a person."  json:"error,omitempty"`
}

// RespondResult is the answer to an answer. A refusal is not an error.
type RespondResult struct {
	Delivered bool `doc:"Whether this answer counts." example:"true" json:"delivered"`
	// Reason is one of the constants named Reason, empty for a delivered answer.
	Reason string `doc:"Why the answer does not count, for a program." enum:"already_answered,no_park,changed,same_approver,not_editable" json:"reason,omitempty"`
	Error  string `doc:"Why the answer does not count, for a person."  json:"error,omitempty"`
}

// RestoreResult is the result of restoring a branch. A refusal is not an error.
type RestoreResult struct {
	Accepted bool `doc:"Whether the branch is shown again." example:"true" json:"accepted"`
	// BranchID is the branch of the request. After a restore it is no longer a branch.
	BranchID BranchID `doc:"The branch of the request. After a restore it is no longer a branch." example:"7" json:"branchId"`
	// DroppedBranchID is the branch with the messages that were replaced, by which a client can go back.
	// Zero: none were.
	DroppedBranchID BranchID `doc:"The branch that what was shown in its place has become. Left out: nothing was." json:"droppedBranchId,omitempty"`
	// Reason is one of the constants named Reason, empty for a branch that was restored.
	Reason string `doc:"Why the branch was not restored, for a program." enum:"active_run,not_found,not_restorable" json:"reason,omitempty"`
	Error  string `doc:"Why the branch was not restored, for a person."  json:"error,omitempty"`
}

// ForkRequest asks for a new thread that begins with what another one was.
type ForkRequest struct {
	// Version is the version of the other thread whose messages the new one begins with.
	Version int64 `doc:"The version of the thread whose messages the new one begins with." example:"7" json:"version" minimum:"0" required:"true"`
	// NewThreadID is the id of the new thread, which must not exist. Empty: a new id.
	NewThreadID spool.ThreadID `doc:"The id of the new thread, which must not exist. Left out: a new id." example:"t2" json:"newThreadId,omitempty"`
}

// ForkResult is the result of a fork. A refusal is not an error.
type ForkResult struct {
	Accepted bool `doc:"Whether there is a new thread." example:"true" json:"accepted"`
	// ThreadID is the new thread, also if it was refused.
	ThreadID spool.ThreadID `doc:"The new thread." example:"t2" json:"threadId"`
	// Messages is how many messages the new thread has.
	Messages int `doc:"How many messages the new thread has." example:"4" json:"messages"`
	// Reason is [ReasonThreadUsed], empty for a fork that was made.
	Reason string `doc:"Why there is no new thread, for a program." enum:"thread_id_used,not_found" json:"reason,omitempty"`
	Error  string `doc:"Why there is no new thread, for a person."  json:"error,omitempty"`
}

// BranchMessages is a branch with its messages, in their order.
type BranchMessages struct {
	Branch   Branch          `doc:"The branch."                   json:"branch"`
	Messages []spool.Message `doc:"Its messages, in their order." json:"messages"`
}

// DeleteResult is the answer to a deletion. A refusal is not an error.
type DeleteResult struct {
	Accepted bool `doc:"Whether the thread is gone." example:"true" json:"accepted"`
	// Reason is one of the constants named Reason, empty for an accepted deletion.
	Reason string `doc:"Why the thread was not deleted, for a program." enum:"not_found,active_run" json:"reason,omitempty"`
	Error  string `doc:"Why the thread was not deleted, for a person."  json:"error,omitempty"`
}

// CompactResult is the answer to Engine.Compact. A refusal is not an error.
type CompactResult struct {
	Compacted bool `doc:"Whether a summary now replaces older messages for the model." example:"true" json:"compacted"`
	// Reason is one of the constants named Reason, empty if the history was compacted.
	Reason string `doc:"The reason of the refusal, for a program." enum:"active_run,not_found,nothing_to_compact,changed" json:"reason,omitempty"`
	Error  string `doc:"The reason of the refusal, for a person."  json:"error,omitempty"`
	// SummarizedMessages counts the messages that the summary replaces for the model.
	SummarizedMessages int `doc:"The number of messages that the summary replaces for the model." json:"summarizedMessages,omitempty"`
}

// RedriveResult is the answer to a redrive. A refusal is not an error.
type RedriveResult struct {
	Accepted bool           `doc:"Whether the job's work was restarted." example:"true"            json:"accepted"`
	JobID    int64          `doc:"The dead job."                         json:"jobId"`
	ThreadID spool.ThreadID `doc:"Its thread."                           json:"threadId,omitempty"`
	// RunID is the run of the restarted work: the job's own run for a settlement, else a new one.
	RunID spool.RunID `doc:"The run of the restarted work: a new run, or the run that is settled again." json:"runId,omitempty"`
	// Reason is one of the constants named Reason, empty for an accepted redrive.
	Reason string `doc:"Why it was refused, for a program." enum:"not_found,active_run,moved_on" json:"reason,omitempty"`
	Error  string `doc:"Why it was refused, for a person."  json:"error,omitempty"`
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
