package admin

import (
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// AuditEntry is an entry of an audit log.
type AuditEntry struct {
	// Seq is the number of the entry, from 1 without gaps.
	Seq int64 `json:"seq"`
	// At is when it was done.
	At time.Time `json:"at"`
	// Action is the action.
	Action wire.AuditAction `enum:"answer,raise_budget,stop,delete_thread,prune_thread,redrive_job,purge_jobs,change_owner,create_webhook,change_webhook,remove_webhook,create_schedule,change_schedule,remove_schedule,pause_schedule,resume_schedule,run_schedule,move_start,cancel_start,failed_authentication" json:"action"`
	// By is the subject who did it. Left out: not known, the server itself, or an operator of another tenant.
	By string `json:"by,omitempty"`
	// ByTenant is the tenant of an operator who did it. Only for operators.
	ByTenant spool.Tenant `json:"byTenant,omitempty"`
	// Operator is whether an operator of the server did it.
	Operator bool `json:"operator,omitempty"`
	// ThreadID is the thread.
	ThreadID spool.ThreadID `json:"threadId,omitempty"`
	// RunID is the run.
	RunID spool.RunID `json:"runId,omitempty"`
	// ToolCallID is the call that was answered.
	ToolCallID spool.ToolCallID `json:"toolCallId,omitempty"`
	// JobID is the dead job.
	JobID int64 `json:"jobId,omitempty"`
	// Approved is whether the answer allowed the call. Only for answers.
	Approved *bool `json:"approved,omitempty"`
	// Digest is the digest of the question. Only for answers.
	Digest string `json:"digest,omitempty"`
	// Reason is the reason, in the words of the person. For a prune by the server itself: retention.
	Reason string `json:"reason,omitempty"`
	// Count is the number of attempts that the entry counts. Left out: one.
	Count int64 `json:"count,omitempty"`
	// Address is the address of the client. Only for refused credentials.
	Address string `json:"address,omitempty"`
	// More, as an object: the revision of the agent that asked, the new limits of a raised budget, or the minimum
	// age of purged jobs.
	Detail json.RawMessage `json:"detail,omitempty"`
}
