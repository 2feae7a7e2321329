package wire

import (
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
)

// EntryType names a kind of record entry or of notice. Readers must ignore kinds that they do not know.
type EntryType string

// The kinds of record entry. All are durable and have a seq from 1.
const (
	// EntryRunStarted opens a segment: [RunStarted].
	EntryRunStarted EntryType = "RUN_STARTED"
	// EntryRunEnded closes a segment: [RunEnded].
	EntryRunEnded EntryType = "RUN_ENDED"
	// EntryInputRequired announces an open park: [InputRequired].
	EntryInputRequired EntryType = "INPUT_REQUIRED"
	// EntryInputExpired announces that nobody answered a park in time: [InputExpired].
	EntryInputExpired EntryType = "INPUT_EXPIRED"
	// EntryInputExpiring warns of a park that is about to expire: [InputExpiring].
	EntryInputExpiring EntryType = "INPUT_EXPIRING"
	// EntryInputExtended announces more time for a park: [InputExtended].
	EntryInputExtended EntryType = "INPUT_EXTENDED"
	// EntryCallPending announces a call whose work goes on elsewhere, or news about it: [CallPending].
	EntryCallPending EntryType = "CALL_PENDING"
	// EntryHITLResponse announces an accepted answer: [HITLResponse].
	EntryHITLResponse EntryType = "HITL_RESPONSE"
	// EntryMessagesDropped announces that messages have left the view: [MessagesDropped].
	EntryMessagesDropped EntryType = "MESSAGES_DROPPED"
	// EntryMessagesRestored announces that a branch is in the view again: [MessagesRestored].
	EntryMessagesRestored EntryType = "MESSAGES_RESTORED"
	// EntrySteered announces a message that was put into an active run: [Steered].
	EntrySteered EntryType = "STEERED"
	// EntryContextCompacted announces that a summary replaces older messages in prompts to
	// the model: [ContextCompacted].
	EntryContextCompacted EntryType = "CONTEXT_COMPACTED"
	// EntryRunRefused announces a run that a worker refused when it claimed it: [RunRefused].
	EntryRunRefused EntryType = "RUN_REFUSED"
	// EntryTokenBudgetExhausted announces that a run has used up its tokens:
	// [TokenBudgetExhausted].
	EntryTokenBudgetExhausted EntryType = "TOKEN_BUDGET_EXHAUSTED" //nolint:gosec // no secret: tokens are counted
	// EntryCostBudgetExhausted announces that a run has used up its money: [CostBudgetExhausted].
	EntryCostBudgetExhausted EntryType = "COST_BUDGET_EXHAUSTED"
	// EntryToolCallBudgetExhausted announces that a run has used up its tool calls:
	// [ToolCallBudgetExhausted].
	EntryToolCallBudgetExhausted EntryType = "TOOL_CALL_BUDGET_EXHAUSTED"
	// EntryTimeBudgetExhausted announces that a run has used up its time:
	// [TimeBudgetExhausted].
	EntryTimeBudgetExhausted EntryType = "TIME_BUDGET_EXHAUSTED"
	// EntryTimeLimitReached announces that a run has executed for as long as any run may:
	// [TimeLimitReached].
	EntryTimeLimitReached EntryType = "TIME_LIMIT_REACHED"
	// EntryStorageLimitReached announces that a run gets no further step because its tenant
	// stores as many bytes as it may: [StorageLimitReached].
	EntryStorageLimitReached EntryType = "STORAGE_LIMIT_REACHED"
	// EntryOutputRejected announces an answer that does not fit the run's schema: [OutputRejected].
	EntryOutputRejected EntryType = "OUTPUT_REJECTED"
	// EntryModelFallback announces that a run goes on with another model: [ModelFallback].
	EntryModelFallback EntryType = "MODEL_FALLBACK"
	// EntryFileDropped announces that the model does not get a file of the run: [FileDropped].
	EntryFileDropped EntryType = "FILE_DROPPED"
	// EntryHandedOver announces that another agent has taken the thread over: [HandedOver].
	EntryHandedOver EntryType = "HANDED_OVER"
)

// The kinds of notice. A notice has seq 0, is not stored, and does not move a cursor.
const (
	// NoticeStateChange has the thread's state: [StateChange].
	NoticeStateChange EntryType = "STATE_CHANGE"
	// NoticeMessageAppended announces a user turn: a [spool.Message].
	NoticeMessageAppended EntryType = "MESSAGE_APPENDED"
	// NoticeThreadDeleted announces that the thread was deleted: [ThreadDeleted].
	NoticeThreadDeleted EntryType = "THREAD_DELETED"
)

// Entry is an entry of a thread's record, or a notice in the same envelope.
type Entry struct {
	ThreadID spool.ThreadID `json:"threadId"` // Its thread.
	// Seq is its number in the thread's record, from 1 without gaps. Zero: a notice, which the record does not have.
	Seq int64 `json:"seq"`
	// Type is the application's name for it. It differs from all types of Event.
	Type      EntryType       `example:"INVOICE_PAID" json:"type"`
	Payload   json.RawMessage `json:"payload"`   // Any JSON.
	CreatedAt time.Time       `json:"createdAt"` // When it happened.
	// RunID is the run that it belongs to, if any.
	RunID spool.RunID `json:"runId,omitempty"`
	// Published is true for an event of an application, and for no other.
	Published bool `json:"published,omitempty"`
	// PublishedBy is the subject who published it.
	//
	// Empty: not known, or not an application's event.
	PublishedBy string `json:"publishedBy,omitempty"`
	// PublishedByTool is the tool whose call published it.
	//
	// Empty: no tool published it.
	PublishedByTool string `json:"publishedByTool,omitempty"`

	// Stream and After are the entry's position among the items of a run stream: directly after
	// the item at the offset After, or at the stream's start if After is zero. Both are zero for
	// an entry that was written outside a segment.
	Stream StreamID `json:"-"`
	After  Offset   `json:"-"`
}

// NewEntry returns an entry of run, with the JSON encoding of payload. It panics if [EntryKinds] has another
// type of payload for t.
func NewEntry(t EntryType, run spool.RunID, payload any) *Entry {
	mustBe(entryTypes[t], string(t), payload)
	return &Entry{Type: t, RunID: run, Payload: mustJSON(payload)}
}

// SegmentStatus says how a segment ended.
type SegmentStatus string

// The ways a segment ends.
const (
	SegmentFinished SegmentStatus = "finished"
	SegmentParked   SegmentStatus = "parked"
	SegmentStopped  SegmentStatus = "stopped"
	// SegmentError ends a failed segment. The run is retried, or has failed.
	SegmentError SegmentStatus = "error"
	// SegmentLost ends a segment whose worker died, lost its lease, shut down or made room for
	// another tenant.
	SegmentLost SegmentStatus = "lost"
)

// RunStarted is the payload of [EntryRunStarted]. It moves a reader to the segment's stream.
type RunStarted struct {
	RunID    spool.RunID `json:"runId"`    // The run.
	StreamID StreamID    `json:"streamId"` // The segment's stream.
	Segment  int         `json:"segment"`  // The segment, from 1.
	// Revision is the revision of the agent that the segment uses. Left out: the segment is of an older version.
	//
	// See [Revision].
	Revision RevisionID `json:"revision,omitempty"`
	// EnqueuedAt is when the run was accepted.
	//
	// Zero: the segment is of an older version.
	EnqueuedAt time.Time `json:"enqueuedAt,omitzero"`
}

// RunEnded is the payload of [EntryRunEnded]. The entry comes after the last item of the
// stream.
type RunEnded struct {
	RunID    spool.RunID   `json:"runId"`                                            // The run.
	StreamID StreamID      `json:"streamId"`                                         // The segment's stream.
	Segment  int           `json:"segment"`                                          // The segment, from 1.
	Status   SegmentStatus `enum:"finished,parked,stopped,error,lost" json:"status"` // How it ended.
	Error    string        `json:"error,omitempty"`                                  // Why, for a person.
	// RetryAfterMS is the time until the next attempt, in milliseconds. Left out: it follows at once, or never.
	RetryAfterMS int64 `json:"retryAfterMs,omitempty"`
	// StopReason is what cut a finished run short. Left out: nothing, or the run is not finished.
	StopReason StopReason `json:"stopReason,omitempty"`
	// Output is the JSON value that the run was asked for, of up to 64 KiB. Left out: it has none, or a larger one,
	// which the outcome of the run has.
	//
	// At most [MaxOutputEvent] bytes.
	Output json.RawMessage `json:"output,omitempty"`
	// Expired is the questions of the run that nobody answered in time. Left out: none, or the run goes on.
	//
	// See [Run.Expired].
	Expired Expired `json:"expired,omitzero"`
}

// InputRequired is the payload of [EntryInputRequired] and of the stream item of the
// same name.
type InputRequired struct {
	ToolCallID spool.ToolCallID `example:"call_1"     json:"toolCallId"` // The call that waits.
	ToolName   string           `example:"send_email" json:"toolName"`   // Its tool.
	// AgentID is the nested run that asks. Null: the run's own agent.
	AgentID *spool.AgentID `json:"agentId" required:"true"`
	// Arguments is any JSON: the arguments of the call, or the content that its tool shows.
	Arguments json.RawMessage `json:"arguments"`
	// InputSchema is the JSON Schema of the arguments that the answer to an approval may have, or of the payload of
	// another answer. Null: there is none.
	InputSchema json.RawMessage `json:"inputSchema"`
	// Frames are the calls of the runs above that wait for this one, the innermost first.
	Frames []ParkFrame `json:"frames"`
	// Nested is the nested run that asks.
	Nested *NestedCaller `json:"nested,omitempty" nullable:"false"`
	// Reason is why it waits: approval, outcome_unknown, budget_reached, or the tool's own word.
	Reason string `example:"approval" json:"reason"`
	// Only in events: outcome_unknown or budget_reached, where the reason is approval so that every client shows the
	// question.
	//
	// See [ParkApproval] and [InputRequired.InRecord].
	About string `json:"about,omitempty"`
	// Revision is the revision of the run's agent that asks.
	//
	// Empty: the park is of an older version.
	Revision RevisionID `json:"revision,omitempty"`
	// Identifies the question. Send it back with the answer.
	//
	// See [store.Park.DigestOf].
	Digest string `json:"digest,omitempty"`
	// Occurrence is the number of the question among those of the call, from 2. The answer then must have the
	// digest. Left out: the first.
	Occurrence int       `json:"occurrence,omitempty"`
	ExpiresAt  time.Time `json:"expiresAt,omitzero"` // The end of the time to answer.
	// OnExpiry is what happens at that time. Left out: the run goes on without the call.
	//
	// Empty: [spool.ExpireDeny].
	OnExpiry spool.ExpiryAction `enum:"fail,extend" json:"onExpiry,omitempty"`
	// DistinctApprover is whether the person who started the run may not answer.
	//
	// See [store.Park].
	DistinctApprover bool `json:"distinctApprover,omitempty"`
}

// InRecord returns the question as entries and items have it. The engine's own questions, [ParkOutcomeUnknown] and
// [ParkBudget], are answered like an approval. They have its reason there, so that a client that knows no other one
// shows them, and their own one as About.
func (q InputRequired) InRecord() InputRequired {
	if q.Reason == ParkOutcomeUnknown || q.Reason == ParkBudget {
		q.Reason, q.About = ParkApproval, q.Reason
	}
	return q
}

// FromRecord is the reverse of [InputRequired.InRecord].
func (q InputRequired) FromRecord() InputRequired {
	if q.About != "" {
		q.Reason, q.About = q.About, ""
	}
	return q
}

// NestedCaller is a nested run that asks.
type NestedCaller struct {
	AgentID spool.AgentID `json:"agentId"` // Its id.
	Name    string        `json:"name"`    // The agent.
	Model   string        `json:"model"`   // Its model.
	Depth   int           `json:"depth"`   // How deep it is nested, from 1.
}

// ParkFrame is one of the calls that wait for a park.
type ParkFrame struct {
	// AgentID is the nested run that made the call. Null: the run's own agent.
	AgentID    *spool.AgentID   `json:"agentId"    required:"true"`
	ToolCallID spool.ToolCallID `json:"toolCallId"` // The call.
}

// InputExpired is the payload of [EntryInputExpired].
type InputExpired struct {
	ToolCallID spool.ToolCallID `json:"toolCallId"` // The call that waited.
	// OnExpiry is what follows. Left out: the run goes on without the call.
	//
	// [spool.ExpireFail], or empty for [spool.ExpireDeny].
	OnExpiry spool.ExpiryAction `enum:"fail" json:"onExpiry,omitempty"`
}

// InputExpiring is the payload of [EntryInputExpiring].
type InputExpiring struct {
	ToolCallID spool.ToolCallID `json:"toolCallId"` // The call that waits.
	ExpiresAt  time.Time        `json:"expiresAt"`  // The end of the time to answer.
	// OnExpiry is what happens at that time. Left out: the run goes on without the call.
	//
	// Empty: [spool.ExpireDeny].
	OnExpiry spool.ExpiryAction `enum:"fail,extend" json:"onExpiry,omitempty"`
}

// InputExtended is the payload of [EntryInputExtended].
type InputExtended struct {
	ToolCallID spool.ToolCallID `json:"toolCallId"` // The call that waits.
	// ExpiresAt is the new end of the time to answer.
	ExpiresAt time.Time `json:"expiresAt"`
	// OnExpiry is what happens at that time. Left out: the run goes on without the call.
	//
	// Empty: [spool.ExpireDeny].
	OnExpiry spool.ExpiryAction `enum:"fail,extend" json:"onExpiry,omitempty"`
}

// HITLResponse is the payload of [EntryHITLResponse].
type HITLResponse struct {
	ToolCallID spool.ToolCallID `json:"toolCallId"` // The call that waited.
	Approved   bool             `json:"approved"`   // Whether the call may run.
	// AnsweredBy is the subject who answered. Left out: the host does not know it.
	AnsweredBy string `json:"answeredBy,omitempty"`
	// Via is "link" for an answer by a link. Left out: the subject has answered with credentials of its own.
	Via   string `json:"via,omitempty"`
	ViaBy string `json:"viaBy,omitempty"` // The subject that made the link.
	// Reason is the reason, in the words of the person who answered.
	Reason string `json:"reason,omitempty"`
	// Arguments are the arguments that the call runs with instead of the requested ones. Left out:
	// the requested ones.
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// Digest identifies what was answered.
	//
	// See [spool.Answer].
	Digest string `json:"digest,omitempty"`
}

// MessagesDropped is the payload of [EntryMessagesDropped]. The messages are a [Branch] from then
// on, and the entry's seq is the branch's id.
type MessagesDropped struct {
	FromMessageID spool.MessageID `json:"fromMessageId"` // The first message that left the view.
}

// MessagesRestored is the payload of [EntryMessagesRestored]. The messages of the branch are now
// the last messages of the view.
type MessagesRestored struct {
	BranchID      BranchID        `json:"branchId"`      // The branch whose messages they are.
	FromMessageID spool.MessageID `json:"fromMessageId"` // The first message that came back.
	// Count is the number of restored messages.
	Count int `json:"count"`
}

// Steered is the payload of [EntrySteered]. The user turn comes directly before the entry.
type Steered struct {
	RunID spool.RunID `json:"runId"` // The run that reads the message.
	// SteerRunID is the run of the start that sent the message. It is over.
	//
	// The start was one with [spool.BusySteer]. The run has no messages.
	SteerRunID spool.RunID     `json:"steerRunId"`
	MessageID  spool.MessageID `json:"messageId"` // The user turn.
	// ClientMessageID is the client's own name for the turn.
	ClientMessageID string `json:"clientMessageId,omitempty"`
	// EnqueuedAt is when the steer was accepted.
	EnqueuedAt time.Time `json:"enqueuedAt,omitzero"`
	// Steps is how many steps of the run were finished.
	//
	// The next step is the first one that reads the message.
	Steps int `json:"steps"`
}

// RunRefused is the payload of [EntryRunRefused].
type RunRefused struct {
	RunID  spool.RunID `json:"runId,omitempty"` // The run that was refused.
	Reason string      `json:"reason"`          // Why, for a program.
	Error  string      `json:"error"`           // Why, for a person.
}

// StateChange is the payload of [NoticeStateChange].
type StateChange struct {
	// State is the state of the thread.
	State State `enum:"IDLE,QUEUED,RUNNING,WAITING_FOR_INPUT,COMPLETED,CANCELLED,FAILED" json:"state"`
	// RunID is the run.
	RunID spool.RunID `json:"runId,omitempty"`
	// EnqueuedAt is when it was accepted.
	EnqueuedAt time.Time `json:"enqueuedAt,omitzero"`
	// StartedAt is when a worker first claimed it.
	StartedAt time.Time `json:"startedAt,omitzero"`
	// EndedAt is when it ended.
	EndedAt time.Time `json:"endedAt,omitzero"`
	// StopReason is why it ended.
	StopReason StopReason `json:"stopReason,omitempty"`
	// Error is why it failed, for a person.
	Error string `json:"error,omitempty"`
	// TokensUsed is how many tokens it used.
	TokensUsed int64 `json:"tokensUsed,omitempty"`
	// Usage are the tokens by kind.
	Usage *spool.TokenCount `json:"usage,omitempty" nullable:"false"`
	// Costs are the cost. Left out: no price is known.
	Costs []Money `json:"costs,omitempty"`
	// Queue are the runs that wait for the thread, the next one first.
	Queue []QueuedRun `json:"queue,omitempty"`
	// Expired is the questions of the run that nobody answered in time. Left out: none.
	//
	// See [Run.Expired].
	Expired Expired `json:"expired,omitzero"`
}

// ThreadDeleted is the payload of [NoticeThreadDeleted].
type ThreadDeleted struct {
	ThreadID spool.ThreadID `json:"threadId"` // The thread.
}

// mustJSON encodes a payload of this package, all of which can be encoded. Callers check values from
// outside first.
func mustJSON(v any) json.RawMessage {
	if v == nil {
		return json.RawMessage("null")
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic("spool: encode payload: " + err.Error())
	}
	return b
}
