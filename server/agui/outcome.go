package agui

import (
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// Result is the result of a run that did not fail. A stopped run has one only if its outcome does not say so.
type Result struct {
	// FinishReason is the run's stopReason, or client_tool if the run waits for the client to execute its tools.
	FinishReason wire.StopReason `json:"finishReason"`
	// Output is the JSON value that the run was asked for, of up to 64 KiB.
	//
	// See [wire.StreamFinished].
	Output json.RawMessage `json:"output,omitempty"`
}

// Outcome says how a run ended, if it did not fail.
type Outcome struct {
	// Type is how the run ended: with interrupt, it waits.
	Type OutcomeType `enum:"success,interrupt,cancelled" json:"type"`
	// Interrupts are the questions that the run waits for. Only with interrupt.
	//
	// Empty unless Type is [OutcomeInterrupt].
	Interrupts []Interrupt `json:"interrupts,omitempty"`
}

// OutcomeType names an outcome.
type OutcomeType string

// The outcomes.
const (
	OutcomeSuccess   OutcomeType = "success"
	OutcomeInterrupt OutcomeType = "interrupt"
	OutcomeCancelled OutcomeType = "cancelled"
)

// Interrupt is a park: a question that a run waits for. Its id is the id of the call that waits. From the
// call's second question on, the id also has "#" and the question's number.
type Interrupt struct {
	ID         spool.ToolCallID `json:"id"`         // The id that an answer in resume names.
	Reason     string           `json:"reason"`     // Why the run waits, such as approval.
	Message    string           `json:"message"`    // The question.
	ToolCallID spool.ToolCallID `json:"toolCallId"` // The call that waits.
	// ResponseSchema is the JSON Schema of an answer's payload.
	ResponseSchema json.RawMessage    `json:"responseSchema"`
	ExpiresAt      time.Time          `json:"expiresAt,omitzero"` // The end of the time to answer.
	Metadata       Metadata[Question] `json:"metadata"`           // More from this server.
	// DistinctApprover says that the person who started the run may not answer.
	DistinctApprover bool `json:"-"`
	// Digest is the digest that the answer must have. Empty for the call's first question, whose answer needs
	// none.
	Digest string `json:"-"`
}

// Question is the part of an [Interrupt] that the protocol does not know.
type Question struct {
	ToolName  string          `json:"toolName"`          // The tool.
	AgentID   *spool.AgentID  `json:"agentId,omitempty"` // The nested run that asks, if one does.
	Arguments json.RawMessage `json:"arguments"`         // The arguments in the question.
	// Identifies the question. An answer with it counts for this question only.
	Digest string `json:"digest,omitempty"`
	// Occurrence is the number of the question among those of the call, from 2. Left out: the first.
	//
	// The answer to such a question must have its digest.
	Occurrence int `json:"occurrence,omitempty"`
	// DistinctApprover is whether the person who started the run may not answer.
	DistinctApprover bool `json:"distinctApprover,omitempty"`
}

// Metadata is this server's data beyond the protocol.
type Metadata[T any] struct {
	Spool T `json:"spool"` // Data that AG-UI has no field for.
}

// OwnRun has this server's id of a run for which the client has its own id.
type OwnRun struct {
	RunID spool.RunID `json:"runId"` // The server's id of the run, if the client has its own id for it.
}

// RunMark has the marks of a run that is over.
type RunMark struct {
	Expired wire.Expired `json:"expired"` // The questions of the run that nobody answered in time.
}

// markOf returns the mark of a run, or nil if it has none.
func markOf(x wire.Expired) *Metadata[RunMark] {
	if x == (wire.Expired{}) {
		return nil
	}
	return &Metadata[RunMark]{RunMark{x}}
}

// Publisher is the publisher of an application's event.
type Publisher struct {
	Published       bool   `json:"published"`                 // True for an event of an application.
	PublishedBy     string `json:"publishedBy,omitempty"`     // The subject who published the event.
	PublishedByTool string `json:"publishedByTool,omitempty"` // The tool that published it.
}
