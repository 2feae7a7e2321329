package wire

import (
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
)

// PendingCall is the part of a [store.Park] that belongs to a call whose tool is not done.
type PendingCall struct {
	// State is the State of the last [spool.PendingError].
	State json.RawMessage `json:"state"`
	// After is the wait before the first look, which begins when the run parks.
	After time.Duration `json:"after,omitempty"`
	// NextAt is when the engine looks next. Zero: the run has not parked yet.
	NextAt time.Time `json:"nextAt,omitzero"`
	// Until is when the call fails if it is still pending.
	Until time.Time `json:"until,omitzero"`
	// Ready is true if the next segment of the run has to call the tool, because the call is no longer pending or
	// its time is over.
	Ready bool `json:"ready,omitempty"`
	// Note is the last Note of the tool, and Notes counts the changes that clients were told.
	Note  string `json:"note,omitempty"`
	Notes int    `json:"notes,omitempty"`
}

// CallPending is the payload of [EntryCallPending].
type CallPending struct {
	ToolCallID spool.ToolCallID `json:"toolCallId"` // The call.
	ToolName   string           `json:"toolName"`   // Its tool.
	// AgentID is the nested run that made the call. Left out: the dispatched run.
	AgentID *spool.AgentID `json:"agentId,omitempty"`
	// Note is how far the work is, for a person.
	//
	// Empty: the tool does not say.
	Note string `json:"note,omitempty"`
	// Until is when the call fails if it is still pending.
	Until time.Time `json:"until"`
}
