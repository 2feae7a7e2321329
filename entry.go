package spool

import (
	"encoding/json"
	"time"
)

// EntryType names a kind of record entry, or of a notice. Readers ignore the kinds
// they do not know.
type EntryType string

// The kinds of record entry. All are durable and carry a seq from 1.
const (
	// EntryRunStarted opens a segment: [RunStarted].
	EntryRunStarted EntryType = "RUN_STARTED"
	// EntryRunEnded closes a segment: [RunEnded].
	EntryRunEnded EntryType = "RUN_ENDED"
	// EntryInputRequired tells of an open park: [InputRequired].
	EntryInputRequired EntryType = "INPUT_REQUIRED"
	// EntryInputExpired tells of a park that nobody answered: [InputExpired].
	EntryInputExpired EntryType = "INPUT_EXPIRED"
	// EntryInputExpiring warns of a park that is about to expire: [InputExpiring].
	EntryInputExpiring EntryType = "INPUT_EXPIRING"
	// EntryInputExtended tells of a park that has got more time: [InputExtended].
	EntryInputExtended EntryType = "INPUT_EXTENDED"
	// EntryHITLResponse tells of an accepted answer: [HITLResponse].
	EntryHITLResponse EntryType = "HITL_RESPONSE"
	// EntryMessagesDropped tells of messages that have left the view: [MessagesDropped].
	EntryMessagesDropped EntryType = "MESSAGES_DROPPED"
	// EntryMessagesRestored tells of a branch that has come back: [MessagesRestored].
	EntryMessagesRestored EntryType = "MESSAGES_RESTORED"
	// EntryContextCompacted tells that a summary stands for older messages in what the model
	// is asked: [ContextCompacted].
	EntryContextCompacted EntryType = "CONTEXT_COMPACTED"
	// EntryRunRefused tells of a run that was refused at pickup: [RunRefused].
	EntryRunRefused EntryType = "RUN_REFUSED"
	// EntryTokenBudgetExhausted tells that a run may use no more tokens:
	// [TokenBudgetExhausted].
	EntryTokenBudgetExhausted EntryType = "TOKEN_BUDGET_EXHAUSTED" //nolint:gosec // no secret: tokens are counted
	// EntryCostBudgetExhausted tells that a run may cost no more: [CostBudgetExhausted].
	EntryCostBudgetExhausted EntryType = "COST_BUDGET_EXHAUSTED"
	// EntryToolCallBudgetExhausted tells that a run may call no more tools:
	// [ToolCallBudgetExhausted].
	EntryToolCallBudgetExhausted EntryType = "TOOL_CALL_BUDGET_EXHAUSTED"
	// EntryTimeBudgetExhausted tells that a run may take no more time:
	// [TimeBudgetExhausted].
	EntryTimeBudgetExhausted EntryType = "TIME_BUDGET_EXHAUSTED"
	// EntryTimeLimitReached tells that a run has been carried for as long as any run may:
	// [TimeLimitReached].
	EntryTimeLimitReached EntryType = "TIME_LIMIT_REACHED"
	// EntryStorageLimitReached tells that a run has no further step because its tenant stores as
	// much as it may: [StorageLimitReached].
	EntryStorageLimitReached EntryType = "STORAGE_LIMIT_REACHED"
)

// The kinds of notice. A notice has seq 0, is not stored and does not move a cursor.
const (
	// NoticeStateChange tells of the thread's state: [StateChange].
	NoticeStateChange EntryType = "STATE_CHANGE"
	// NoticeMessageAppended tells of a user turn: a [Message].
	NoticeMessageAppended EntryType = "MESSAGE_APPENDED"
	// NoticeThreadDeleted tells that the thread is gone: [ThreadDeleted].
	NoticeThreadDeleted EntryType = "THREAD_DELETED"
)

// Entry is an entry of a thread's record, or a notice in the same envelope.
type Entry struct {
	ThreadID ThreadID `doc:"Its thread." json:"threadId"`
	// Seq numbers the entries of a thread from 1 without a gap. Zero: a notice.
	Seq       int64           `doc:"Its number in the thread's record, from 1 without a gap. Zero: a notice, which is in no record." json:"seq"`
	Type      EntryType       `doc:"What the application calls it: none of the types of Event."                                      example:"INVOICE_PAID" json:"type"`
	Payload   json.RawMessage `doc:"Any JSON."                                                                                       json:"payload"`
	CreatedAt time.Time       `doc:"When it happened."                                                                               json:"createdAt"`
	// RunID is the run that the entry belongs to, if any.
	RunID RunID `doc:"The run that it belongs to, if any." json:"runId,omitempty"`
	// PublishedBy is the subject who has published an application's event. Empty: not known, or
	// nobody's.
	PublishedBy string `doc:"The subject who published it." json:"publishedBy,omitempty"`
	// PublishedByTool names the tool whose call has published an application's event. Empty: it
	// was none.
	PublishedByTool string `doc:"The tool whose call published it." json:"publishedByTool,omitempty"`

	// Stream and After place the entry among the items of a run stream: it stands
	// after the item at that offset, and after the stream's start when After is zero.
	// Both are zero for an entry that was written outside a segment.
	Stream StreamID `json:"-"`
	After  Offset   `json:"-"`
}

// NewEntry returns an entry of run whose payload is the JSON form of payload. It panics for a payload that
// is not of the type that [EntryKinds] has for t.
func NewEntry(t EntryType, run RunID, payload any) *Entry {
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
	// SegmentError ends a segment that is retried or failed.
	SegmentError SegmentStatus = "error"
	// SegmentLost ends a segment whose worker died, lost its lease, shut down or made room for
	// another tenant.
	SegmentLost SegmentStatus = "lost"
)

// RunStarted is the payload of [EntryRunStarted], and moves a reader to the stream.
type RunStarted struct {
	RunID    RunID    `json:"runId"`
	StreamID StreamID `json:"streamId"`
	Segment  int      `json:"segment"`
}

// RunEnded is the payload of [EntryRunEnded]. It stands behind the last item of the
// stream.
type RunEnded struct {
	RunID    RunID         `doc:"The run."              json:"runId"`
	StreamID StreamID      `doc:"The segment's stream." json:"streamId"`
	Segment  int           `doc:"The segment, from 1."  json:"segment"`
	Status   SegmentStatus `doc:"How it ended."         enum:"finished,parked,stopped,error,lost" json:"status"`
	Error    string        `doc:"Why, for a person."    json:"error,omitempty"`
	// RetryAfterMS is when the next attempt follows, in milliseconds. Zero: at once, or never.
	RetryAfterMS int64 `doc:"When the next attempt follows, in milliseconds. Left out: at once, or never." json:"retryAfterMs,omitempty"`
	// StopReason is why a run that is finished did not come to its own end. Empty: it did, or
	// it is not finished.
	StopReason StopReason `doc:"Why a run that is over did not come to its own end." json:"stopReason,omitempty"`
}

// InputRequired is the payload of [EntryInputRequired] and of the stream item of the
// same name.
type InputRequired struct {
	ToolCallID ToolCallID      `doc:"The call that waits."                                           example:"call_1"     json:"toolCallId"`
	ToolName   string          `doc:"Its tool."                                                      example:"send_email" json:"toolName"`
	AgentID    *AgentID        `doc:"The nested run that asks. Null: the run's own agent."           json:"agentId"       required:"true"`
	Arguments  json.RawMessage `doc:"Any JSON: what the call will run with, or what its tool shows." json:"arguments"`
	// InputSchema is the JSON Schema of the arguments by which an answer may replace those
	// of an approval. Nil: the tool has none, or it is no approval.
	InputSchema json.RawMessage `doc:"The JSON Schema of the arguments with which an approval may be answered. Null: they cannot be." json:"inputSchema"`
	Frames      []ParkFrame     `doc:"The calls above that wait too, the innermost first."                                            json:"frames"`
	// Nested says who asks, where that is a nested run. Nil: the main agent.
	Nested *NestedCaller `doc:"Who asks, where that is a nested run."                                            json:"nested,omitempty" nullable:"false"`
	Reason string        `doc:"Why it waits: approval, outcome_unknown, budget_reached, or the tool's own word." example:"approval"      json:"reason"`
	// Digest names what is asked: see [Park.DigestOf].
	Digest string `doc:"Names what is asked. Send it back with the answer." json:"digest,omitempty"`
	// Occurrence counts the questions of this call, from 2. An answer to such a question must
	// name its Digest. Zero: it is the call's first question.
	Occurrence int       `doc:"Which question of the call it is, from 2; the answer has to have the digest then. Left out: the first." json:"occurrence,omitempty"`
	ExpiresAt  time.Time `doc:"Until when it can be answered."                                                                         json:"expiresAt,omitzero"`
	// OnExpiry is what happens then. Empty: [ExpireDeny].
	OnExpiry ExpiryAction `doc:"What happens then. Left out: the run goes on without the call." enum:"fail,extend" json:"onExpiry,omitempty"`
	// DistinctApprover is true when who started the run may not answer: see [Park].
	DistinctApprover bool `doc:"Whether who started the run may not answer." json:"distinctApprover,omitempty"`
}

// NestedCaller is a nested run that asks.
type NestedCaller struct {
	AgentID AgentID `doc:"Its id."                        json:"agentId"`
	Name    string  `doc:"The agent."                     json:"name"`
	Model   string  `doc:"Its model."                     json:"model"`
	Depth   int     `doc:"How deep it is nested, from 1." json:"depth"`
}

// ParkFrame is one of the calls that wait for a park: the innermost one comes first.
type ParkFrame struct {
	AgentID    *AgentID   `doc:"The nested run that made the call. Null: the run's own agent." json:"agentId"    required:"true"`
	ToolCallID ToolCallID `doc:"The call."                                                     json:"toolCallId"`
}

// InputExpired is the payload of [EntryInputExpired].
type InputExpired struct {
	ToolCallID ToolCallID `doc:"The call that waited." json:"toolCallId"`
	// OnExpiry is what follows: [ExpireFail], or empty for [ExpireDeny].
	OnExpiry ExpiryAction `doc:"What follows. Left out: the run goes on without the call." enum:"fail" json:"onExpiry,omitempty"`
}

// InputExpiring is the payload of [EntryInputExpiring].
type InputExpiring struct {
	ToolCallID ToolCallID `doc:"The call that waits."           json:"toolCallId"`
	ExpiresAt  time.Time  `doc:"Until when it can be answered." json:"expiresAt"`
	// OnExpiry is what happens then. Empty: [ExpireDeny].
	OnExpiry ExpiryAction `doc:"What happens then. Left out: the run goes on without the call." enum:"fail,extend" json:"onExpiry,omitempty"`
}

// InputExtended is the payload of [EntryInputExtended].
type InputExtended struct {
	ToolCallID ToolCallID `doc:"The call that waits." json:"toolCallId"`
	// ExpiresAt is the new end of the park's time.
	ExpiresAt time.Time `doc:"Until when it can be answered." json:"expiresAt"`
	// OnExpiry is what happens then. Empty: [ExpireDeny].
	OnExpiry ExpiryAction `doc:"What happens then. Left out: the run goes on without the call." enum:"fail,extend" json:"onExpiry,omitempty"`
}

// HITLResponse is the payload of [EntryHITLResponse].
type HITLResponse struct {
	ToolCallID ToolCallID `json:"toolCallId"`
	Approved   bool       `json:"approved"`
	// AnsweredBy is the subject who answered, where the host knows it.
	AnsweredBy string `json:"answeredBy,omitempty"`
	// Reason is why, in the words of who answered.
	Reason string `json:"reason,omitempty"`
	// Arguments are what the call runs with in place of what was asked.
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// Digest names what was answered: see [Answer].
	Digest string `json:"digest,omitempty"`
}

// MessagesDropped is the payload of [EntryMessagesDropped]. The entry's seq names the
// [Branch] that the messages are from then on.
type MessagesDropped struct {
	FromMessageID MessageID `json:"fromMessageId"`
}

// MessagesRestored is the payload of [EntryMessagesRestored]: the messages of the branch
// are now the last ones of the view.
type MessagesRestored struct {
	BranchID      BranchID  `json:"branchId"`
	FromMessageID MessageID `json:"fromMessageId"`
	// Count is how many messages have come back.
	Count int `json:"count"`
}

// RunRefused is the payload of [EntryRunRefused].
type RunRefused struct {
	RunID  RunID  `json:"runId,omitempty"`
	Reason string `json:"reason"`
	Error  string `json:"error"`
}

// StateChange is the payload of [NoticeStateChange].
type StateChange struct {
	State      State       `doc:"Where the thread's run is."        enum:"IDLE,QUEUED,RUNNING,WAITING_FOR_INPUT,COMPLETED,CANCELLED,FAILED" json:"state"`
	RunID      RunID       `doc:"The run."                          json:"runId,omitempty"`
	EnqueuedAt time.Time   `doc:"When it was accepted."             json:"enqueuedAt,omitzero"`
	StartedAt  time.Time   `doc:"When a worker picked it up first." json:"startedAt,omitzero"`
	EndedAt    time.Time   `doc:"When it ended."                    json:"endedAt,omitzero"`
	StopReason StopReason  `doc:"Why it ended."                     json:"stopReason,omitempty"`
	Error      string      `doc:"Why it failed, for a person."      json:"error,omitempty"`
	TokensUsed int64       `doc:"How many tokens it used."          json:"tokensUsed,omitempty"`
	Usage      *TokenCount `doc:"The same by kind."                 json:"usage,omitempty"                                                  nullable:"false"`
	// Costs is what the run cost, once it has ended. Empty: nothing was priced.
	Costs []Money `doc:"What it cost. Left out: nothing was priced." json:"costs,omitempty"`
	// Queue are the runs that wait for the thread, the next one first.
	Queue []QueuedRun `doc:"The runs that wait for the thread, the next one first." json:"queue,omitempty"`
}

// ThreadDeleted is the payload of [NoticeThreadDeleted].
type ThreadDeleted struct {
	ThreadID ThreadID `json:"threadId"`
}

// mustJSON encodes one of this package's own payloads. They all encode; a value from
// outside is checked before it gets here.
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
