package wire

import (
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
)

// StartRequest asks for a run. The StartOptions come from a client as they are. HostState, By, Scopes, MayNotStop
// and Maker are the host's, and never come from a client.
type StartRequest struct {
	StartOptions

	// Prompt is the text of the user turn. Required.
	Prompt string
	// RunID is the caller's choice of id. Defaults to a fresh one.
	RunID spool.RunID
	// Title is the title of a thread that the start makes. Defaults to the beginning of Prompt.
	Title string
	// Labels are the labels of a thread that the start creates: see [CheckLabels]. Nil: none.
	Labels map[string]string
	// EditMessageID is the user turn to replace. It and all messages after it leave the view. Empty: none.
	EditMessageID spool.MessageID
	// ClientMessageID is the client's own id for the user turn. Empty: none.
	ClientMessageID string
	// Attachments are images and files of the user turn.
	Attachments []Attachment
	// HostState is a JSON object of up to 64 KiB for the tools of the run and for the settle hook: facts that
	// the host knows about the caller, such as an account. It comes from the host's own session and never
	// from a client, and no client ever sees it. Empty: none.
	HostState json.RawMessage
	// By is the subject that starts the run. If the start creates the thread, the subject owns it. Empty: not
	// known.
	By string
	// Scopes are what the subject may do, in the words of the host. Agents, models and
	// tools can be limited to them: see [spool.Access]. Empty: none.
	Scopes []string
	// IdempotencyKey makes every later start of the tenant with the same key repeat the answer of the
	// accepted one. A start that asks for something else is refused with [ReasonKeyReused]. Empty: none.
	IdempotencyKey string
	// Budget bounds the run together with its nested runs. A zero field is taken from the agent, or else from
	// the configuration.
	Budget spool.Budget
	// Client is the client's input: tools that it executes itself, and context. The agent's ClientTools and
	// ClientContext limit it.
	Client ClientInput
	// WhenBusy is what to do if the thread has an active run. Defaults to the agent's.
	WhenBusy spool.WhenBusy
	// MayNotStop says that the subject may not stop runs. A [spool.WhenBusy] that would stop a run then counts as
	// [spool.BusyReject], even if it comes from the agent or the configuration, and [spool.BusyLatest] cancels no waiting
	// runs of other subjects.
	MayNotStop bool
	// StartAt is when the run starts, at most [MaxStartDelay] ahead. Until then there is no run, but a [DelayedStart] that
	// has its id. The result then has a StartAt and no State. A time that is not ahead is now. Zero: now.
	StartAt time.Time
	// Maker is who asks for a start with a StartAt. When it comes due, the start gets the rights that the maker has then,
	// but no more than Scopes and MayNotStop say, and is refused if the right has ended: see MayStart of the option
	// Schedules. A StartAt at which the right will have ended is refused with an [spool.Invalid] error. If nobody can
	// look the right up, the start keeps its rights until Maker.Until. Nil: nothing is looked up.
	Maker *Maker
}

// Response answers a park.
type Response struct {
	ToolCallID spool.ToolCallID
	Approved   bool
	// Payload is any JSON that [spool.CheckArguments] allows, for the call that waits, in up to
	// 262,144 bytes. Nil: none.
	Payload json.RawMessage
	// Args are a JSON object with which an approved call runs instead of its own arguments. Its tool must
	// accept them. Only a call that waits for an approval may be edited, in up to 262,144 bytes that
	// [spool.CheckArguments] allows. Nil: its own arguments.
	Args json.RawMessage
	// Reason is the reason, for the model and for the record, in up to 4,096 bytes.
	Reason string
	// Digest is the digest of the INPUT_REQUIRED that the person saw. An answer to another question is
	// refused with [ReasonChanged]. From the second question of a call on it is required. Empty: it is not
	// compared.
	Digest string
	// By is the subject that answers. Empty: not known. A park with a distinct approver then refuses
	// the answer.
	By string
	// Via is how the answer came, if By has not sent it with credentials of its own, such as "link", for the record and
	// the audit log. Empty: By has sent it.
	Via string
	// ViaBy is the subject that has let By answer in the way of Via, for the audit log. A park with a distinct
	// approver refuses an answer for which the subject that started the run has made the way. It needs a Via.
	ViaBy string
}

// PublishOptions say how an event is published.
type PublishOptions struct {
	// Durable adds the event to the record, so that later clients get it too. Defaults to false: only the
	// clients that follow now get it.
	Durable bool
	// RunID is the run that the event is about, one of the thread that has not ended.
	// Defaults to the run that has the thread, or to none.
	RunID spool.RunID
	// By is the subject that publishes. Clients see it with the event, cut to 200 bytes of JSON.
	// Empty: not known.
	By string
}

// ThreadChange is a change of a thread by Engine.UpdateThread. A nil field does not change.
type ThreadChange struct {
	// Title is the new title, of 1 to 200 characters.
	Title *string
	// Labels are set by their keys, and removed where the value is nil.
	Labels map[string]*string
	// Owner is the new owner. Empty: no owner.
	Owner *string
}

// BranchOptions narrow a branch's messages.
type BranchOptions struct {
	// Before leaves out this message and those after it. An id that the branch does not
	// have leaves out nothing.
	Before spool.MessageID
	// Limit keeps only the last ones. Zero: all.
	Limit int
}

// EventQuery selects durable events of an application from a thread's record.
type EventQuery struct {
	// After leaves out events up to this seq.
	After int64
	// Limit bounds how many events a page has, up to 1,000. Defaults to 100.
	Limit int
}

// PruneOptions select the threads that a prune removes.
type PruneOptions struct {
	// Before selects threads that were last updated before this time. Required.
	Before time.Time
	// Tenant leaves out the threads of others. Empty: those of all tenants.
	Tenant spool.Tenant
	// Limit bounds how many threads are removed. Defaults to 1,000.
	Limit int
	// DryRun reports what would be removed, and removes nothing.
	DryRun bool
}

// Actor is the subject that a call of the engine is made for. The audit log names it, and the
// threads of other subjects can be hidden from it.
type Actor struct {
	// Subject names the person or program. Empty: not known.
	Subject string
	// Tenant is the tenant of Subject. That of an operator may differ from the tenant that the call
	// is about. Empty: the same.
	Tenant spool.Tenant
	// Operator says that the actor acts as an operator of the server. The audit log then names
	// Subject and Tenant, even if Tenant is the one that the call is about or the request names
	// another subject, as [Response.By] does.
	Operator bool
	// OwnOnly hides all threads but those whose [Thread.Owner] is Subject: they answer
	// like threads that do not exist. A start with the id of such a thread is refused with
	// [ReasonNotFound], and idempotency keys are the subject's own.
	OwnOnly bool
}
