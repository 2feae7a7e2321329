package spool

import (
	"encoding/json"
	"time"
)

// ParkState is where a park is. It leaves ParkOpen once, by a compare-and-set.
type ParkState string

// The states of a park.
const (
	ParkOpen     ParkState = "open"
	ParkAnswered ParkState = "answered"
	ParkExpired  ParkState = "expired"
	// ParkClosed is a park whose run was stopped or failed under it.
	ParkClosed ParkState = "closed"
)

// The reasons for which the engine parks a run by itself. A tool that parks gives its
// own.
const (
	// ParkApproval waits for a person to allow a call that has not run.
	ParkApproval = "approval"
	// ParkOutcomeUnknown waits for a person to say what became of a call that was
	// pending when its worker died.
	ParkOutcomeUnknown = "outcome_unknown"
)

// Park is a durable wait of one tool call for an answer. It is named by its run and
// tool call.
type Park struct {
	RunID      RunID
	ToolCallID ToolCallID
	ToolName   string
	// Step is the step that the call belongs to.
	Step int
	// Args are what the call runs with once it is approved.
	Args json.RawMessage
	// Shown is what a person is shown in place of Args. Nil: Args.
	Shown json.RawMessage
	// Reason is [ParkApproval], [ParkOutcomeUnknown] or the tool's own word.
	Reason string
	State  ParkState
	// Answer is what was answered. Nil unless State is [ParkAnswered].
	Answer *Answer
	// Before is the answer with which the call was running when its worker died, for a
	// park that asks for the outcome of that. Nil: it had none.
	Before *Answer
	// Landed is true once the call's result is in the thread's messages.
	Landed    bool
	CreatedAt time.Time
	ExpiresAt time.Time
}

// Answer is a person's answer to a park.
type Answer struct {
	Approved bool `json:"approved"`
	// Payload is any JSON that the answer carries, nil for none.
	Payload json.RawMessage `json:"payload,omitempty"`
	// By is the subject who answered, where the host knows it.
	By string    `json:"by,omitempty"`
	At time.Time `json:"at"`
}
