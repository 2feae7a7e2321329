package agui

import (
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
)

// Result tells how a run ended that neither failed nor was stopped.
type Result struct {
	// FinishReason is the run's stop reason, or "client_tool" for one that waits for the client to
	// run its tools.
	FinishReason spool.StopReason `doc:"The run's stopReason, or client_tool where the client is to run its tools." json:"finishReason"`
}

// Outcome says how a run ended that did not fail.
type Outcome struct {
	Type OutcomeType `doc:"How the run ended: with interrupt, it waits." enum:"success,interrupt,cancelled" json:"type"`
	// Interrupts are what the run waits for; there are some exactly with [OutcomeInterrupt].
	Interrupts []Interrupt `doc:"What the run waits for, with interrupt." json:"interrupts,omitempty"`
}

// OutcomeType names an outcome.
type OutcomeType string

// The outcomes.
const (
	OutcomeSuccess   OutcomeType = "success"
	OutcomeInterrupt OutcomeType = "interrupt"
	OutcomeCancelled OutcomeType = "cancelled"
)

// Interrupt is a park: something that a run waits for. Its id is the id of the call that
// waits, from the call's second question on with "#" and the question's number.
type Interrupt struct {
	ID         spool.ToolCallID `doc:"What an answer in resume names."      json:"id"`
	Reason     string           `doc:"Why the run waits, such as approval." json:"reason"`
	Message    string           `doc:"The question."                        json:"message"`
	ToolCallID spool.ToolCallID `doc:"The call that waits."                 json:"toolCallId"`
	// ResponseSchema describes what an answer's payload is to be, in JSON Schema.
	ResponseSchema json.RawMessage    `doc:"The JSON Schema of an answer's payload." json:"responseSchema"`
	ExpiresAt      time.Time          `doc:"Until when it waits."                    json:"expiresAt,omitzero"`
	Metadata       Metadata[Question] `doc:"More from this server."                  json:"metadata"`
	// DistinctApprover is true when who started the run may not answer.
	DistinctApprover bool `json:"-"`
	// Digest is what an answer to a second or later question of a call has to name. Empty: the
	// call's first question.
	Digest string `json:"-"`
}

// Question is what an [Interrupt] says beyond the protocol.
type Question struct {
	ToolName  string          `doc:"The tool."                                                          json:"toolName"`
	AgentID   *spool.AgentID  `doc:"The nested run that asks, if one does."                             json:"agentId,omitempty"`
	Arguments json.RawMessage `doc:"The arguments that are asked about."                                json:"arguments"`
	Digest    string          `doc:"Names what is asked. An answer that has it holds for nothing else." json:"digest,omitempty"`
	// Occurrence counts the questions of the call, from 2. The answer to such a question must
	// have its digest. Zero: it is the call's first.
	Occurrence       int  `doc:"Which question of the call it is, from 2. Left out: its first." json:"occurrence,omitempty"`
	DistinctApprover bool `doc:"Whoever started the run may not answer."                        json:"distinctApprover,omitempty"`
}

// Metadata is what this server says beyond the protocol.
type Metadata[T any] struct {
	Spool T `doc:"What AG-UI has no field for." json:"spool"`
}

// OwnRun names a run for which the client has another name.
type OwnRun struct {
	RunID spool.RunID `doc:"The run's own id, where the client has another name for it." json:"runId"`
}

// Publisher is who has published an event.
type Publisher struct {
	PublishedBy     string `doc:"The subject who has published the event." json:"publishedBy,omitempty"`
	PublishedByTool string `doc:"The tool that has."                       json:"publishedByTool,omitempty"`
}
