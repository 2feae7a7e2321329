package server

import (
	"time"

	"github.com/spoolhq/spool"
)

// runEnded is the payload of a segment's end.
type runEnded struct {
	RunID        spool.RunID         `doc:"The run."                                                                     json:"runId"`
	StreamID     spool.StreamID      `doc:"The segment's stream."                                                        json:"streamId"`
	Segment      int                 `doc:"The segment, from 1."                                                         json:"segment"`
	Status       spool.SegmentStatus `doc:"How it ended."                                                                enum:"finished,parked,stopped,error,lost" json:"status"`
	Error        string              `doc:"Why, for a person."                                                           json:"error,omitempty"`
	RetryAfterMs int64               `doc:"When the next attempt follows, in milliseconds. Left out: at once, or never." json:"retryAfterMs,omitempty"`
	StopReason   spool.StopReason    `doc:"Why a run that is over did not come to its own end."                          json:"stopReason,omitempty"`
}

// inputExpiry is the payload of events about the time to answer.
type inputExpiry struct {
	ToolCallID spool.ToolCallID   `doc:"The call that waits."                                           json:"toolCallId"`
	ExpiresAt  time.Time          `doc:"Until when it can be answered."                                 json:"expiresAt"`
	OnExpiry   spool.ExpiryAction `doc:"What happens then. Left out: the run goes on without the call." enum:"fail,extend" json:"onExpiry,omitempty"`
}

// inputExpired is the payload of the event that nobody answered.
type inputExpired struct {
	ToolCallID spool.ToolCallID   `doc:"The call that waited."                                     json:"toolCallId"`
	OnExpiry   spool.ExpiryAction `doc:"What follows. Left out: the run goes on without the call." enum:"fail"       json:"onExpiry,omitempty"`
}

// stateChange is the payload of the notice about the state of a thread.
type stateChange struct {
	State      spool.State      `doc:"Where the thread's run is."                             enum:"IDLE,QUEUED,RUNNING,WAITING_FOR_INPUT,COMPLETED,CANCELLED,FAILED" json:"state"`
	RunID      spool.RunID      `doc:"The run."                                               json:"runId,omitempty"`
	EnqueuedAt time.Time        `doc:"When it was accepted."                                  json:"enqueuedAt,omitzero"`
	StartedAt  time.Time        `doc:"When a worker picked it up first."                      json:"startedAt,omitzero"`
	EndedAt    time.Time        `doc:"When it ended."                                         json:"endedAt,omitzero"`
	StopReason spool.StopReason `doc:"Why it ended."                                          json:"stopReason,omitempty"`
	Error      string           `doc:"Why it failed, for a person."                           json:"error,omitempty"`
	TokensUsed int64            `doc:"How many tokens it used."                               json:"tokensUsed,omitempty"`
	Usage      *tokenCount      `doc:"The same by kind."                                      json:"usage,omitempty"                                                  nullable:"false"`
	Costs      []money          `doc:"What it cost. Left out: nothing was priced."            json:"costs,omitempty"`
	Queue      []queuedRun      `doc:"The runs that wait for the thread, the next one first." json:"queue,omitempty"`
}

// block are the fields of an item that opens or closes a text or reasoning.
type block struct {
	MessageID string     `doc:"A name for the block in its stream. It is no saved message's." json:"messageId"`
	Role      spool.Role `doc:"Who speaks, where a text begins."                              json:"role,omitempty"`
}

// subagentEnd are the fields of the item that a nested run has ended.
type subagentEnd struct {
	SubagentID spool.AgentID        `doc:"The nested run."           json:"subagentId"`
	Status     spool.SubagentStatus `doc:"How it ended."             enum:"completed,failed,cancelled" json:"status"`
	Error      string               `doc:"Why, where it has failed." json:"error,omitempty"`
}

// streamFinished are the fields of the last item of a segment that came to its end.
type streamFinished struct {
	Status       spool.SegmentStatus `doc:"How it ended."                                            enum:"finished,parked,stopped" json:"status"`
	Usage        *tokenCount         `doc:"The tokens of the whole run."                             json:"usage,omitempty"         nullable:"false"`
	Costs        []money             `doc:"What the whole run cost. Left out: no price is known."    json:"costs,omitempty"`
	FinishReason spool.StopReason    `doc:"The run's stop reason. Left out: it came to its own end." json:"finishReason,omitempty"`
}

// streamFailed are the fields of the last item of a segment that did not.
type streamFailed struct {
	Status       spool.SegmentStatus `doc:"How it ended."                                                                enum:"error,lost"             json:"status"`
	Error        string              `doc:"Why, for a person."                                                           json:"error"`
	RetryAfterMs int64               `doc:"When the next attempt follows, in milliseconds. Left out: at once, or never." json:"retryAfterMs,omitempty"`
}
