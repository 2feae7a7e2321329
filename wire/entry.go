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
	ThreadID spool.ThreadID `doc:"Its thread." json:"threadId"`
	// Seq numbers the entries of a thread from 1, without gaps. Zero: a notice.
	Seq       int64           `doc:"Its number in the thread's record, from 1 without gaps. Zero: a notice, which the record does not have." json:"seq"`
	Type      EntryType       `doc:"The application's name for it. It differs from all types of Event."                                      example:"INVOICE_PAID" json:"type"`
	Payload   json.RawMessage `doc:"Any JSON."                                                                                               json:"payload"`
	CreatedAt time.Time       `doc:"When it happened."                                                                                       json:"createdAt"`
	// RunID is the run that the entry belongs to, if any.
	RunID spool.RunID `doc:"The run that it belongs to, if any." json:"runId,omitempty"`
	// Published is true for an event that an application has published, and for no other entry.
	Published bool `doc:"True for an event of an application, and for no other." json:"published,omitempty"`
	// PublishedBy is the subject who published an application's event. Empty: not known, or not
	// an application's event.
	PublishedBy string `doc:"The subject who published it." json:"publishedBy,omitempty"`
	// PublishedByTool names the tool whose call published an application's event. Empty: no tool
	// published it.
	PublishedByTool string `doc:"The tool whose call published it." json:"publishedByTool,omitempty"`

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
	RunID    spool.RunID `json:"runId"`
	StreamID StreamID    `json:"streamId"`
	Segment  int         `json:"segment"`
	// Revision is the revision of the agent that the segment uses: see [Revision]. Empty: the segment is of an
	// older version.
	Revision RevisionID `json:"revision,omitempty"`
	// EnqueuedAt is when the run was accepted. Zero: the segment is of an older version.
	EnqueuedAt time.Time `doc:"When the run was accepted." json:"enqueuedAt,omitzero"`
}

// RunEnded is the payload of [EntryRunEnded]. The entry comes after the last item of the
// stream.
type RunEnded struct {
	RunID    spool.RunID   `doc:"The run."              json:"runId"`
	StreamID StreamID      `doc:"The segment's stream." json:"streamId"`
	Segment  int           `doc:"The segment, from 1."  json:"segment"`
	Status   SegmentStatus `doc:"How it ended."         enum:"finished,parked,stopped,error,lost" json:"status"`
	Error    string        `doc:"Why, for a person."    json:"error,omitempty"`
	// RetryAfterMS is the time until the next attempt, in milliseconds. Zero: the attempt follows
	// at once, or never.
	RetryAfterMS int64 `doc:"The time until the next attempt, in milliseconds. Left out: it follows at once, or never." json:"retryAfterMs,omitempty"`
	// StopReason says what cut a finished run short. Empty: nothing did, or the run is not
	// finished.
	StopReason StopReason `doc:"What cut a finished run short. Left out: nothing, or the run is not finished." json:"stopReason,omitempty"`
	// Output is the JSON value of the run, if the run has one of at most [MaxOutputEvent] bytes.
	Output json.RawMessage `doc:"The JSON value that the run was asked for, of up to 64 KiB. Left out: it has none, or a larger one, which the outcome of the run has." json:"output,omitempty"`
	// Expired is the run's mark: see [Run.Expired]. Zero: it has none, or goes on.
	Expired Expired `doc:"The questions of the run that nobody answered in time. Left out: none, or the run goes on." json:"expired,omitzero"`
}

// InputRequired is the payload of [EntryInputRequired] and of the stream item of the
// same name.
type InputRequired struct {
	ToolCallID spool.ToolCallID `doc:"The call that waits."                                                     example:"call_1"     json:"toolCallId"`
	ToolName   string           `doc:"Its tool."                                                                example:"send_email" json:"toolName"`
	AgentID    *spool.AgentID   `doc:"The nested run that asks. Null: the run's own agent."                     json:"agentId"       required:"true"`
	Arguments  json.RawMessage  `doc:"Any JSON: the arguments of the call, or the content that its tool shows." json:"arguments"`
	// InputSchema is the JSON Schema of the arguments with which the answer to an approval may
	// replace the call's own. For another reason it is the schema of the answer's payload. Nil: there is none.
	InputSchema json.RawMessage `doc:"The JSON Schema of the arguments that the answer to an approval may have, or of the payload of another answer. Null: there is none." json:"inputSchema"`
	Frames      []ParkFrame     `doc:"The calls of the runs above that wait for this one, the innermost first."                                                            json:"frames"`
	// Nested is the nested run that asks. Nil: the main agent asks.
	Nested *NestedCaller `doc:"The nested run that asks."                                                        json:"nested,omitempty" nullable:"false"`
	Reason string        `doc:"Why it waits: approval, outcome_unknown, budget_reached, or the tool's own word." example:"approval"      json:"reason"`
	// About is the reason of the question in an entry or an item whose Reason is [ParkApproval] so that every client
	// shows it: see [InputRequired.InRecord]. Empty elsewhere.
	About string `doc:"Only in events: outcome_unknown or budget_reached, where the reason is approval so that every client shows the question." json:"about,omitempty"`
	// Revision is the revision of the dispatched run's agent that asks. Empty: the park is of an older version.
	Revision RevisionID `doc:"The revision of the run's agent that asks." json:"revision,omitempty"`
	// Digest identifies the question: see [store.Park.DigestOf].
	Digest string `doc:"Identifies the question. Send it back with the answer." json:"digest,omitempty"`
	// Occurrence counts the questions of this call, from 2. An answer to such a question must
	// have its Digest. Zero: this is the call's first question.
	Occurrence int       `doc:"The number of the question among those of the call, from 2. The answer then must have the digest. Left out: the first." json:"occurrence,omitempty"`
	ExpiresAt  time.Time `doc:"The end of the time to answer."                                                                                         json:"expiresAt,omitzero"`
	// OnExpiry is what happens at that time. Empty: [spool.ExpireDeny].
	OnExpiry spool.ExpiryAction `doc:"What happens at that time. Left out: the run goes on without the call." enum:"fail,extend" json:"onExpiry,omitempty"`
	// DistinctApprover says that the person who started the run may not answer: see [store.Park].
	DistinctApprover bool `doc:"Whether the person who started the run may not answer." json:"distinctApprover,omitempty"`
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
	AgentID spool.AgentID `doc:"Its id."                        json:"agentId"`
	Name    string        `doc:"The agent."                     json:"name"`
	Model   string        `doc:"Its model."                     json:"model"`
	Depth   int           `doc:"How deep it is nested, from 1." json:"depth"`
}

// ParkFrame is one of the calls that wait for a park.
type ParkFrame struct {
	AgentID    *spool.AgentID   `doc:"The nested run that made the call. Null: the run's own agent." json:"agentId"    required:"true"`
	ToolCallID spool.ToolCallID `doc:"The call."                                                     json:"toolCallId"`
}

// InputExpired is the payload of [EntryInputExpired].
type InputExpired struct {
	ToolCallID spool.ToolCallID `doc:"The call that waited." json:"toolCallId"`
	// OnExpiry is [spool.ExpireFail], or empty for [spool.ExpireDeny].
	OnExpiry spool.ExpiryAction `doc:"What follows. Left out: the run goes on without the call." enum:"fail" json:"onExpiry,omitempty"`
}

// InputExpiring is the payload of [EntryInputExpiring].
type InputExpiring struct {
	ToolCallID spool.ToolCallID `doc:"The call that waits."           json:"toolCallId"`
	ExpiresAt  time.Time        `doc:"The end of the time to answer." json:"expiresAt"`
	// OnExpiry is what happens at that time. Empty: [spool.ExpireDeny].
	OnExpiry spool.ExpiryAction `doc:"What happens at that time. Left out: the run goes on without the call." enum:"fail,extend" json:"onExpiry,omitempty"`
}

// InputExtended is the payload of [EntryInputExtended].
type InputExtended struct {
	ToolCallID spool.ToolCallID `doc:"The call that waits." json:"toolCallId"`
	// ExpiresAt is the new end of the time to answer.
	ExpiresAt time.Time `doc:"The new end of the time to answer." json:"expiresAt"`
	// OnExpiry is what happens at that time. Empty: [spool.ExpireDeny].
	OnExpiry spool.ExpiryAction `doc:"What happens at that time. Left out: the run goes on without the call." enum:"fail,extend" json:"onExpiry,omitempty"`
}

// HITLResponse is the payload of [EntryHITLResponse].
type HITLResponse struct {
	ToolCallID spool.ToolCallID `json:"toolCallId"`
	Approved   bool             `json:"approved"`
	// AnsweredBy is the subject who answered. Empty: the host does not know it.
	AnsweredBy string `json:"answeredBy,omitempty"`
	// Via and ViaBy are those of [Response]: "link" and the subject that made the link. Empty: the subject has answered
	// with credentials of its own.
	Via   string `json:"via,omitempty"`
	ViaBy string `json:"viaBy,omitempty"`
	// Reason is the reason, in the words of the person who answered.
	Reason string `json:"reason,omitempty"`
	// Arguments are the arguments that the call runs with instead of the requested ones. Nil: the
	// requested ones.
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// Digest identifies what was answered: see [spool.Answer].
	Digest string `json:"digest,omitempty"`
}

// MessagesDropped is the payload of [EntryMessagesDropped]. The messages are a [Branch] from then
// on, and the entry's seq is the branch's id.
type MessagesDropped struct {
	FromMessageID spool.MessageID `json:"fromMessageId"`
}

// MessagesRestored is the payload of [EntryMessagesRestored]. The messages of the branch are now
// the last messages of the view.
type MessagesRestored struct {
	BranchID      BranchID        `json:"branchId"`
	FromMessageID spool.MessageID `json:"fromMessageId"`
	// Count is the number of restored messages.
	Count int `json:"count"`
}

// Steered is the payload of [EntrySteered]. The user turn comes directly before the entry.
type Steered struct {
	RunID spool.RunID `doc:"The run that reads the message." json:"runId"`
	// SteerRunID is the run that the start with [spool.BusySteer] has made. It is over, and has no messages.
	SteerRunID spool.RunID     `doc:"The run of the start that sent the message. It is over." json:"steerRunId"`
	MessageID  spool.MessageID `doc:"The user turn."                                          json:"messageId"`
	// ClientMessageID is the sending client's own id for the user turn.
	ClientMessageID string `doc:"The client's own name for the turn." json:"clientMessageId,omitempty"`
	// EnqueuedAt is when the steer was accepted.
	EnqueuedAt time.Time `doc:"When the steer was accepted." json:"enqueuedAt,omitzero"`
	// Steps is how many steps of the run were finished. The next step is the first one that reads the message.
	Steps int `doc:"How many steps of the run were finished." json:"steps"`
}

// RunRefused is the payload of [EntryRunRefused].
type RunRefused struct {
	RunID  spool.RunID `json:"runId,omitempty"`
	Reason string      `json:"reason"`
	Error  string      `json:"error"`
}

// StateChange is the payload of [NoticeStateChange].
type StateChange struct {
	State      State             `doc:"The state of the thread."        enum:"IDLE,QUEUED,RUNNING,WAITING_FOR_INPUT,COMPLETED,CANCELLED,FAILED" json:"state"`
	RunID      spool.RunID       `doc:"The run."                        json:"runId,omitempty"`
	EnqueuedAt time.Time         `doc:"When it was accepted."           json:"enqueuedAt,omitzero"`
	StartedAt  time.Time         `doc:"When a worker first claimed it." json:"startedAt,omitzero"`
	EndedAt    time.Time         `doc:"When it ended."                  json:"endedAt,omitzero"`
	StopReason StopReason        `doc:"Why it ended."                   json:"stopReason,omitempty"`
	Error      string            `doc:"Why it failed, for a person."    json:"error,omitempty"`
	TokensUsed int64             `doc:"How many tokens it used."        json:"tokensUsed,omitempty"`
	Usage      *spool.TokenCount `doc:"The tokens by kind."             json:"usage,omitempty"                                                  nullable:"false"`
	// Costs is the cost of the run, once it has ended. Empty: no price is known.
	Costs []Money `doc:"The cost. Left out: no price is known." json:"costs,omitempty"`
	// Queue has the runs that wait for the thread, the next one first.
	Queue []QueuedRun `doc:"The runs that wait for the thread, the next one first." json:"queue,omitempty"`
	// Expired is the run's mark: see [Run.Expired].
	Expired Expired `doc:"The questions of the run that nobody answered in time. Left out: none." json:"expired,omitzero"`
}

// ThreadDeleted is the payload of [NoticeThreadDeleted].
type ThreadDeleted struct {
	ThreadID spool.ThreadID `json:"threadId"`
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
