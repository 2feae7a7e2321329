package spool

import (
	"encoding/json"
	"time"
)

// RunResult is the answer to a start. A refusal is not an error.
type RunResult struct {
	Accepted bool     `doc:"Whether the run was accepted." example:"true" json:"accepted"`
	ThreadID ThreadID `doc:"The thread, also a new one."   example:"t1"   json:"threadId"`
	RunID    RunID    `doc:"The run that was accepted."    example:"r1"   json:"runId,omitempty"`
	// State is QUEUED for an accepted run.
	State State `doc:"QUEUED for an accepted run." example:"QUEUED" json:"state,omitempty"`
	// Position is the run's place among those that wait for the thread, from 1, which is
	// the next. Zero: the run has the thread.
	Position int `doc:"The place among the runs that wait for the thread, from 1. Left out: it waits for none." json:"position,omitempty"`
	// Reason is one of the constants named Reason, empty for an accepted run.
	Reason string `doc:"Why the run was refused, for a program." enum:"active_run,queue_full,run_id_used,not_found,not_editable" json:"reason,omitempty"`
	Error  string `doc:"Why the run was refused, for a person."  json:"error,omitempty"`
	// RetryAfter is how long to wait before the same start again, if the server was too busy. Zero:
	// it was not.
	RetryAfter time.Duration `json:"-"`
}

// StopResult is the answer to a stop. A refusal is not an error.
type StopResult struct {
	Accepted bool `doc:"Whether the run stops." example:"true" json:"accepted"`
	// Reason is one of the constants named Reason, empty for an accepted stop.
	Reason string `doc:"Why it does not, for a program." enum:"not_active"      json:"reason,omitempty"`
	Error  string `doc:"Why it does not, for a person."  json:"error,omitempty"`
}

// RespondResult is the answer to an answer. A refusal is not an error.
type RespondResult struct {
	Delivered bool `doc:"Whether this is the answer that counts." example:"true" json:"delivered"`
	// Reason is one of the constants named Reason, empty for a delivered answer.
	Reason string `doc:"Why it does not count, for a program." enum:"already_answered,no_park,changed,same_approver,not_editable" json:"reason,omitempty"`
	Error  string `doc:"Why it does not count, for a person."  json:"error,omitempty"`
}

// RestoreResult is the answer to the restoring of a branch. A refusal is not an error.
type RestoreResult struct {
	Accepted bool `doc:"Whether the branch is shown again." example:"true" json:"accepted"`
	// BranchID is the branch that was to be restored. One that was is no branch any more.
	BranchID BranchID `doc:"The branch that was asked for. One that is shown is no branch any more." example:"7" json:"branchId"`
	// DroppedBranchID is the branch that has what was shown in its place, and with which one
	// gets back. Zero: nothing was.
	DroppedBranchID BranchID `doc:"The branch that what was shown in its place has become. Left out: nothing was." json:"droppedBranchId,omitempty"`
	// Reason is one of the constants named Reason, empty for a branch that was restored.
	Reason string `doc:"Why it is not shown, for a program." enum:"active_run,not_found,not_restorable" json:"reason,omitempty"`
	Error  string `doc:"Why it is not shown, for a person."  json:"error,omitempty"`
}

// BranchMessages is a branch with its messages, in their order.
type BranchMessages struct {
	Branch   Branch    `doc:"The branch."                   json:"branch"`
	Messages []Message `doc:"Its messages, in their order." json:"messages"`
}

// DeleteResult is the answer to a deletion. A refusal is not an error.
type DeleteResult struct {
	Accepted bool `doc:"Whether the thread is gone." example:"true" json:"accepted"`
	// Reason is one of the constants named Reason, empty for an accepted deletion.
	Reason string `doc:"Why it is not, for a program." enum:"not_found,active_run" json:"reason,omitempty"`
	Error  string `doc:"Why it is not, for a person."  json:"error,omitempty"`
}

// CompactResult is the answer to Engine.Compact. A refusal is not an error.
type CompactResult struct {
	Compacted bool `doc:"Whether a summary stands for older messages now." example:"true" json:"compacted"`
	// Reason is one of the constants named Reason, empty where the history was compacted.
	Reason string `doc:"Why not, for a program." enum:"active_run,not_found,nothing_to_compact,changed" json:"reason,omitempty"`
	Error  string `doc:"Why not, for a person."  json:"error,omitempty"`
	// SummarizedMessages counts the messages that the model sees no more as they were said.
	SummarizedMessages int `doc:"How many messages the model sees no more as they were said." json:"summarizedMessages,omitempty"`
}

// RedriveResult is the answer to a redrive. A refusal is not an error.
type RedriveResult struct {
	Accepted bool     `doc:"Whether it moves again." example:"true"            json:"accepted"`
	JobID    int64    `doc:"The dead job."           json:"jobId"`
	ThreadID ThreadID `doc:"Its thread."             json:"threadId,omitempty"`
	// RunID is the run that moves again: the job's own for a settlement, else a new one.
	RunID RunID `doc:"The run that moves: a new one, or the one that is settled again." json:"runId,omitempty"`
	// Reason is one of the constants named Reason, empty for an accepted redrive.
	Reason string `doc:"Why it does not, for a program." enum:"not_found,active_run,moved_on" json:"reason,omitempty"`
	Error  string `doc:"Why it does not, for a person."  json:"error,omitempty"`
}

// SweepReport counts what a sweep has done.
type SweepReport struct {
	// Checked threads were found with nothing to move them.
	Checked int
	// Redispatched ones were given a job.
	Redispatched int
	// Errors could not be moved, and are met again by the next sweep.
	Errors int
}

// PruneReport says what a prune has done, or would do.
type PruneReport struct {
	// Threads are those that went, the one that was updated first at the beginning.
	Threads []ThreadKey
	// More is true where the limit was reached, so that there may be others.
	More bool
}

// EventPage is a page of the durable events of an application.
type EventPage struct {
	// Events are in the order of their seq.
	Events []Entry `json:"events"`
	// Next is the After of the next page. Zero: the record has no more entries. A page may have
	// fewer events than asked for, or none, and a next page all the same.
	Next int64 `json:"next,omitempty"`
}

// Settlement is what a settle hook is told of a run that ends.
type Settlement struct {
	Thread     ThreadKey
	RunID      RunID
	Agent      string
	State      State
	StopReason StopReason
	// Error is why a failed run failed.
	Error string
	Steps int
	Usage TokenCount
	// Costs is what the run cost. Empty: nothing was priced.
	Costs []Money
	// HostState is what the host gave to the start. Nil: nothing.
	HostState json.RawMessage
}
