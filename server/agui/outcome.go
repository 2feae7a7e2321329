package agui

import (
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// Result is the result of a run that did not fail. A stopped run has one only if its outcome does not say so.
type Result struct {
	// FinishReason is the run's stop reason, or "client_tool" if the run waits for the client to execute its
	// tools.
	FinishReason wire.StopReason `doc:"The run's stopReason, or client_tool if the run waits for the client to execute its tools." json:"finishReason"`
	// Output is the JSON value of the run: see [wire.StreamFinished]. Nil: there is none.
	Output json.RawMessage `doc:"The JSON value that the run was asked for, of up to 64 KiB." json:"output,omitempty"`
}

// Outcome says how a run ended, if it did not fail.
type Outcome struct {
	Type OutcomeType `doc:"How the run ended: with interrupt, it waits." enum:"success,interrupt,cancelled" json:"type"`
	// Interrupts are the questions that the run waits for. The list is empty unless Type is
	// [OutcomeInterrupt].
	Interrupts []Interrupt `doc:"The questions that the run waits for. Only with interrupt." json:"interrupts,omitempty"`
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
	ID         spool.ToolCallID `doc:"The id that an answer in resume names." json:"id"`
	Reason     string           `doc:"Why the run waits, such as approval."   json:"reason"`
	Message    string           `doc:"The question."                          json:"message"`
	ToolCallID spool.ToolCallID `doc:"The call that waits."                   json:"toolCallId"`
	// ResponseSchema is the JSON Schema of an answer's payload.
	ResponseSchema json.RawMessage    `doc:"The JSON Schema of an answer's payload." json:"responseSchema"`
	ExpiresAt      time.Time          `doc:"The end of the time to answer."          json:"expiresAt,omitzero"`
	Metadata       Metadata[Question] `doc:"More from this server."                  json:"metadata"`
	// DistinctApprover says that the person who started the run may not answer.
	DistinctApprover bool `json:"-"`
	// Digest is the digest that the answer must have. Empty for the call's first question, whose answer needs
	// none.
	Digest string `json:"-"`
}

// Question is the part of an [Interrupt] that the protocol does not know.
type Question struct {
	ToolName  string          `doc:"The tool."                                                                 json:"toolName"`
	AgentID   *spool.AgentID  `doc:"The nested run that asks, if one does."                                    json:"agentId,omitempty"`
	Arguments json.RawMessage `doc:"The arguments in the question."                                            json:"arguments"`
	Digest    string          `doc:"Identifies the question. An answer with it counts for this question only." json:"digest,omitempty"`
	// Occurrence counts the questions of the call, from 2. The answer to such a question must have its
	// digest. Zero: this is the call's first question.
	Occurrence       int  `doc:"The number of the question among those of the call, from 2. Left out: the first." json:"occurrence,omitempty"`
	DistinctApprover bool `doc:"Whether the person who started the run may not answer."                           json:"distinctApprover,omitempty"`
}

// Metadata is this server's data beyond the protocol.
type Metadata[T any] struct {
	Spool T `doc:"Data that AG-UI has no field for." json:"spool"`
}

// OwnRun has this server's id of a run for which the client has its own id.
type OwnRun struct {
	RunID spool.RunID `doc:"The server's id of the run, if the client has its own id for it." json:"runId"`
}

// RunMark has the marks of a run that is over.
type RunMark struct {
	Expired wire.Expired `doc:"The questions of the run that nobody answered in time." json:"expired"`
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
	Published       bool   `doc:"True for an event of an application." json:"published"`
	PublishedBy     string `doc:"The subject who published the event." json:"publishedBy,omitempty"`
	PublishedByTool string `doc:"The tool that published it."          json:"publishedByTool,omitempty"`
}
