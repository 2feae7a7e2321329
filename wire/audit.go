package wire

import (
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
)

// AuditAction names the action of an [AuditEntry].
type AuditAction string

// The actions of the audit log.
const (
	// AuditAnswer: somebody answered a park.
	AuditAnswer AuditAction = "answer"
	// AuditRaiseBudget: an answer raised the budget of a run.
	AuditRaiseBudget AuditAction = "raise_budget"
	// AuditStop: somebody stopped a run. A stop of a thread has an entry for each run that it stopped. So has
	// a start that stopped runs or replaced waiting ones.
	AuditStop AuditAction = "stop"
	// AuditDelete: somebody deleted a thread.
	AuditDelete AuditAction = "delete_thread"
	// AuditPrune: a prune, or the retention of threads, removed a thread.
	AuditPrune AuditAction = "prune_thread"
	// AuditRedrive: somebody redrove a dead job.
	AuditRedrive AuditAction = "redrive_job"
	// AuditPurge: somebody purged dead jobs.
	AuditPurge AuditAction = "purge_jobs"
	// AuditOwner: somebody gave a thread another owner.
	AuditOwner AuditAction = "change_owner"
	// AuditCreateWebhook, AuditChangeWebhook and AuditRemoveWebhook: somebody made, changed or removed the endpoint of a
	// webhook.
	AuditCreateWebhook AuditAction = "create_webhook"
	AuditChangeWebhook AuditAction = "change_webhook"
	AuditRemoveWebhook AuditAction = "remove_webhook"
	// AuditCreateSchedule, and those that follow: somebody made, changed, removed, paused or resumed a schedule, or let it
	// start a run at once. The detail of such an entry names the schedule.
	AuditCreateSchedule AuditAction = "create_schedule"
	AuditChangeSchedule AuditAction = "change_schedule"
	AuditRemoveSchedule AuditAction = "remove_schedule"
	AuditPauseSchedule  AuditAction = "pause_schedule"
	AuditResumeSchedule AuditAction = "resume_schedule"
	AuditRunSchedule    AuditAction = "run_schedule"
	// AuditMoveStart: somebody gave a delayed start another time.
	AuditMoveStart AuditAction = "move_start"
	// AuditCancelStart: somebody cancelled a delayed start.
	AuditCancelStart AuditAction = "cancel_start"
	// AuditLogin: credentials were refused. Such an entry belongs to no tenant.
	AuditLogin AuditAction = "failed_authentication"
)

// AuditActions lists the actions.
func AuditActions() []AuditAction {
	return []AuditAction{
		AuditAnswer, AuditRaiseBudget, AuditStop, AuditDelete, AuditPrune, AuditRedrive, AuditPurge, AuditOwner,
		AuditCreateWebhook, AuditChangeWebhook, AuditRemoveWebhook,
		AuditCreateSchedule, AuditChangeSchedule, AuditRemoveSchedule, AuditPauseSchedule, AuditResumeSchedule,
		AuditRunSchedule, AuditMoveStart, AuditCancelStart, AuditLogin,
	}
}

// AuditEntry is a row of the audit log: who did what, and when. It never has the text of a prompt, of a
// message or of a tool's arguments. Fields that the action does not use are empty.
type AuditEntry struct {
	// Tenant is the tenant that the action was about. Empty: the process, as for [AuditLogin].
	Tenant spool.Tenant `json:"-"`
	// Seq numbers the entries of a tenant from 1, without a gap. The store sets it.
	Seq int64 `json:"seq"`
	// At is when the entry was written. The store sets it.
	At     time.Time   `json:"at"`
	Action AuditAction `json:"action"`
	// By is the subject that acted. Empty: not known, or the program itself.
	By string `json:"by,omitempty"`
	// ByTenant is the tenant of the operator that acted, which may be Tenant. Empty: no operator
	// acted, and By is a subject of Tenant.
	ByTenant   spool.Tenant     `json:"byTenant,omitempty"`
	ThreadID   spool.ThreadID   `json:"threadId,omitempty"`
	RunID      spool.RunID      `json:"runId,omitempty"`
	ToolCallID spool.ToolCallID `json:"toolCallId,omitempty"`
	// JobID is the dead job that was redriven or purged.
	JobID int64 `json:"jobId,omitempty"`
	// Approved says whether an answer allowed the call. Nil: the action is no answer.
	Approved *bool `json:"approved,omitempty"`
	// Digest is the digest of the answered question.
	Digest string `json:"digest,omitempty"`
	// Reason is the reason that the subject gave, or the refusal of a redrive.
	Reason string `json:"reason,omitempty"`
	// Count is how many attempts the entry stands for. Zero: one.
	Count int64 `json:"count,omitempty"`
	// Address is the IP address that the credentials came from.
	Address string `json:"address,omitempty"`
	// Detail is a JSON object with more about the action, such as the new bounds of a
	// budget. Nil: none.
	Detail json.RawMessage `json:"detail,omitempty"`
}

// AuditQuery selects entries of a tenant's audit log. A zero field does not exclude any.
type AuditQuery struct {
	// Tenant is the tenant of the entries. Empty: the entries that belong to no tenant.
	Tenant spool.Tenant
	// Before leaves out this seq and all above it, which continues a list.
	Before int64
	// Action leaves out other actions.
	Action AuditAction
	// ThreadID leaves out other threads.
	ThreadID spool.ThreadID
	// By leaves out the actions of other subjects.
	By string
	// Since leaves out actions before this time, Until actions at this time or later.
	Since, Until time.Time
	// Limit bounds how many are returned. Zero: all.
	Limit int
}
