package httptool

import (
	"encoding/json"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/tool/internal/endpoint"
)

// Body is the form of a request's body.
type Body string

// The forms of bodies.
const (
	// BodyArguments has the arguments of the call, unchanged, except those in the path.
	BodyArguments Body = "arguments"
	// BodyEnvelope is an object with the fields "arguments", "call" and "answer".
	BodyEnvelope Body = "envelope"
)

// The headers that say whose call it is. A value has only printable ASCII: every other byte, and a percent
// sign, becomes "%" and two hex digits. Empty headers are left out.
const (
	HeaderTenant  = endpoint.HeaderTenant
	HeaderSubject = endpoint.HeaderSubject
	HeaderThread  = endpoint.HeaderThread
	HeaderRun     = endpoint.HeaderRun
	HeaderAgent   = endpoint.HeaderAgent
	HeaderStep    = endpoint.HeaderStep
	// HeaderFence has the number of the worker that calls, which grows with each takeover: see [spool.ToolCall.Fence].
	HeaderFence = endpoint.HeaderFence
	// HeaderAnsweredBy has the subject that answered the call, if it waited for an answer.
	HeaderAnsweredBy = endpoint.HeaderAnsweredBy
	// HeaderPayload has the payload of the answer to the call, as JSON on one line in ASCII. It is left out
	// if there is no payload.
	HeaderPayload = endpoint.HeaderPayload
)

// envelope is the body with all facts about a call.
type envelope struct {
	Arguments json.RawMessage `json:"arguments"`
	Call      envelopeCall    `json:"call"`
	// Answer is the answer to the call. Nil: nobody was asked.
	Answer *envelopeAnswer `json:"answer,omitempty"`
}

type envelopeCall struct {
	Tenant         spool.Tenant     `json:"tenant"`
	Subject        string           `json:"subject,omitempty"`
	Agent          string           `json:"agent,omitempty"`
	ThreadID       spool.ThreadID   `json:"threadId"`
	RunID          spool.RunID      `json:"runId"`
	Step           int              `json:"step"`
	ToolCallID     spool.ToolCallID `json:"toolCallId"`
	ToolName       string           `json:"toolName"`
	IdempotencyKey string           `json:"idempotencyKey"`
	Fence          int64            `json:"fence,omitempty"`
}

type envelopeAnswer struct {
	Approved bool            `json:"approved"`
	Payload  json.RawMessage `json:"payload,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	By       string          `json:"by,omitempty"`
}

// enveloped returns the body with all facts about a call.
func enveloped(c spool.ToolCall) ([]byte, error) {
	args := c.Args
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	sent := envelope{Arguments: args, Call: envelopeCall{
		Tenant: c.Thread.Tenant, Subject: c.Subject, Agent: c.Agent, ThreadID: c.Thread.ID, RunID: c.RunID, Step: c.Step,
		ToolCallID: c.ID, ToolName: c.Name, IdempotencyKey: c.IdempotencyKey(), Fence: c.Fence,
	}}
	if a := c.Answer; a != nil {
		sent.Answer = &envelopeAnswer{Approved: a.Approved, Payload: a.Payload, Reason: a.Reason, By: a.By}
	}
	body, err := json.Marshal(sent)
	return body, spool.Wrap(spool.Invalid, "the arguments of the call are no JSON", err)
}
