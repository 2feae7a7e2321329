package wire

import (
	"time"

	"github.com/spoolhq/spool"
)

// WebhookType names a kind of webhook event. Receivers must ignore kinds that they do not know.
type WebhookType string

// The kinds of webhook event.
const (
	WebhookRunStarted       WebhookType = "run.started"
	WebhookRunWaiting       WebhookType = "run.waiting"
	WebhookRunExpiring      WebhookType = "run.expiring"
	WebhookRunExpired       WebhookType = "run.expired"
	WebhookRunCompleted     WebhookType = "run.completed"
	WebhookRunFailed        WebhookType = "run.failed"
	WebhookRunCancelled     WebhookType = "run.cancelled"
	WebhookRunBudgetReached WebhookType = "run.budget_reached"
	WebhookRunHandedOver    WebhookType = "run.handed_over"
	WebhookThreadDeleted    WebhookType = "thread.deleted"
	WebhookSchedulePaused   WebhookType = "schedule.paused"
)

// WebhookKinds returns the kinds of webhook event in the order in which a run may come to them, each with the type of
// its data.
func WebhookKinds() []Kind[WebhookType] {
	return []Kind[WebhookType]{
		kind[WebhookData](WebhookRunStarted, "A worker claimed the run for the first time."),
		kind[WebhookData](WebhookRunWaiting, "A call waits for an answer. There is an event for each question."),
		kind[WebhookData](WebhookRunExpiring, "The time to answer is nearly over."),
		kind[WebhookData](WebhookRunExpired, "Nobody answered in time."),
		kind[WebhookData](WebhookRunBudgetReached, "The run has used up one of its budgets."),
		kind[WebhookData](WebhookRunHandedOver, "Another agent has taken the thread over."),
		kind[WebhookData](WebhookRunCompleted, "The run finished its work, or ended at a limit."),
		kind[WebhookData](WebhookRunFailed, "The run ended with an error."),
		kind[WebhookData](WebhookRunCancelled, "Somebody stopped the run."),
		kind[WebhookData](WebhookThreadDeleted, "The thread is gone."),
		kind[WebhookData](WebhookSchedulePaused, "A schedule has paused by itself."),
	}
}

// WebhookEvent is what an endpoint is told, in the form of Standard Webhooks. [EncodeWebhook] writes it.
type WebhookEvent struct {
	// ID identifies the event, and is the same in all attempts to deliver it. The header webhook-id has it too.
	ID        string      `example:"msg_1"       json:"id"`
	Type      WebhookType `example:"run.waiting" json:"type"` // The kind of event.
	Timestamp time.Time   `json:"timestamp"`                  // When it happened.
	// Test is whether it is a sample that somebody has asked for: nothing has happened. Left out: it is none.
	Test bool        `json:"test,omitempty"`
	Data WebhookData `json:"data"` // What it is about.
}

// WebhookData is the data of a [WebhookEvent]. ThreadCreatedAt, Version and Index order the events of a thread id.
type WebhookData struct {
	// ThreadID is the thread. Left out: the event is about no thread.
	ThreadID spool.ThreadID `example:"t1" json:"threadId,omitempty"`
	// ThreadCreatedAt is when the thread was made. A thread that is made again under its id has a later one.
	ThreadCreatedAt time.Time `json:"threadCreatedAt,omitzero"`
	// Version is the version of the thread with the change that the event tells.
	Version int64 `json:"version,omitempty"`
	Index   int   `json:"index"` // The place of the event among those of the same version, from 0.
	// RunID is the run. Left out: the event is about no run.
	RunID  spool.RunID       `example:"r1"            json:"runId,omitempty"`
	Agent  string            `json:"agent,omitempty"`  // The agent of the run, or of the schedule.
	Labels map[string]string `json:"labels,omitempty"` // The labels of the thread.
	// State is the state of the run after the change.
	State State `enum:"QUEUED,RUNNING,WAITING_FOR_INPUT,COMPLETED,CANCELLED,FAILED" json:"state,omitempty"`
	// StopReason is why the run ended. Left out: it goes on.
	StopReason StopReason `json:"stopReason,omitempty"`
	// Error is why the run failed, for a person. Up to 1,000 characters.
	Error string `json:"error,omitempty"`
	// Expired is the questions of the run that nobody answered in time. Left out: none.
	//
	// See [Run.Expired].
	Expired Expired `json:"expired,omitzero"`
	// Question is the question that waits, or that nobody answered in time.
	Question *WebhookQuestion `json:"question,omitempty" nullable:"false"`
	// Budget is the budget that is used up, as the stop reason names it.
	Budget StopReason `enum:"token_budget,cost_budget,tool_call_budget,time_budget" json:"budget,omitempty"`
	// HandedOver names the agent that had the thread, and the one that has it now.
	HandedOver *WebhookHandedOver `json:"handedOver,omitempty" nullable:"false"`
	// Schedule is the schedule that has paused.
	Schedule *WebhookSchedule `json:"schedule,omitempty" nullable:"false"`
	// Text is the last answer of the run, only if the endpoint asks for it. It is cut where the event would be too
	// large.
	Text string `json:"text,omitempty"`
	// TextBytes is the size of a text that is cut. Left out: text has all of it.
	TextBytes int `json:"textBytes,omitempty"`
	// Link is the address of a page that answers the question. Left out: the endpoint names no approver.
	//
	// In an event that is stored, it is [WebhookLinkMark]. It is the last field: see [EncodeWebhook].
	Link string `json:"link,omitempty"`
}

// WebhookQuestion is a question in a [WebhookEvent]. The arguments of the call are not in it: the thread has them.
type WebhookQuestion struct {
	ToolCallID spool.ToolCallID `example:"call_1"     json:"toolCallId"`         // The call that waits.
	ToolName   string           `example:"send_email" json:"toolName,omitempty"` // Its tool.
	// Reason is why it waits: approval, outcome_unknown, budget_reached, or the tool's own word.
	//
	// It is not what [InputRequired.InRecord] makes of it.
	Reason    string    `example:"approval"        json:"reason"`
	ExpiresAt time.Time `json:"expiresAt,omitzero"` // The end of the time to answer.
	// OnExpiry is what happens at that time. Left out: the run goes on without the call.
	//
	// Empty: [spool.ExpireDeny].
	OnExpiry spool.ExpiryAction `enum:"fail,extend" json:"onExpiry,omitempty"`
	// Digest identifies the question. Send it back with the answer.
	Digest string `json:"digest,omitempty"`
}

// WebhookHandedOver names the agents of a [WebhookRunHandedOver].
type WebhookHandedOver struct {
	From string `json:"from"` // The agent that had the thread.
	To   string `json:"to"`   // The agent that has it from now on.
}

// WebhookSchedule is the schedule of a [WebhookSchedulePaused].
type WebhookSchedule struct {
	Name   string `json:"name"`   // Its name.
	Reason string `json:"reason"` // Why it has paused, for a person. Up to 1,000 characters.
}
