package server

import (
	"time"

	"github.com/spoolhq/spool"
)

// The wire types of what a run has come to, for the document.

type runOutcome struct {
	ThreadID   spool.ThreadID   `doc:"The thread."                                                                                                      example:"t1"                                                       json:"threadId"`
	RunID      spool.RunID      `doc:"The run."                                                                                                         example:"r1"                                                       json:"runId"`
	State      spool.State      `doc:"Where the run is. It is over when it is COMPLETED, CANCELLED or FAILED."                                          enum:"QUEUED,RUNNING,WAITING_FOR_INPUT,COMPLETED,CANCELLED,FAILED" json:"state"`
	Position   int              `doc:"Its place among the runs that wait for the thread, from 1. Left out: it does not wait for it."                    json:"position,omitempty"`
	StopReason spool.StopReason `doc:"Why it ended. Left out: it has not."                                                                              example:"completed"                                                json:"stopReason,omitempty"`
	Error      string           `doc:"Why it failed, for a person."                                                                                     json:"error,omitempty"`
	Text       string           `doc:"The text of message: the answer, once the run is over."                                                           json:"text"`
	Message    *message         `doc:"The last saved answer of the model. Left out: there is none yet, or an edit or a rollback has replaced the turn." json:"message,omitempty"                                           nullable:"false"`
	Parks      []inputRequired  `doc:"What somebody has to answer before the run goes on. It has ended, or goes on by itself, where there are none."    json:"parks"`
	Usage      tokenCount       `doc:"What the run has used, with all runs under it."                                                                   json:"usage"`
	Costs      []money          `doc:"What it cost, with all runs under it. Left out: nothing was priced."                                              json:"costs,omitempty"`
	Steps      int              `doc:"How many steps are finished."                                                                                     json:"steps"`
	EnqueuedAt time.Time        `doc:"When it was accepted."                                                                                            json:"enqueuedAt,omitzero"`
	StartedAt  time.Time        `doc:"When a worker picked it up first. Left out: none has."                                                            json:"startedAt,omitzero"`
	EndedAt    time.Time        `doc:"When it ended. Left out: it has not."                                                                             json:"endedAt,omitzero"`
}

// startedRun is what an accepted run has come to.
type startedRun struct {
	Accepted bool `doc:"Always true." example:"true" json:"accepted"`

	runOutcome
}

// inputRequired is a question that waits for an answer.
type inputRequired struct {
	ToolCallID       spool.ToolCallID   `doc:"The call that waits."                                                                                   example:"call_1"                  json:"toolCallId"`
	ToolName         string             `doc:"Its tool."                                                                                              example:"send_email"              json:"toolName"`
	AgentID          *spool.AgentID     `doc:"The nested run that asks. Null: the run's own agent."                                                   json:"agentId"                    required:"true"`
	Arguments        any                `doc:"Any JSON: what the call will run with, or what its tool shows."                                         json:"arguments"`
	InputSchema      any                `doc:"The JSON Schema of the arguments with which an approval may be answered. Null: they cannot be."         json:"inputSchema"`
	Frames           []parkFrame        `doc:"The calls above that wait too, the innermost first."                                                    json:"frames"`
	Nested           *nestedCaller      `doc:"Who asks, where that is a nested run."                                                                  json:"nested,omitempty"           nullable:"false"`
	Reason           string             `doc:"Why it waits: approval, outcome_unknown, budget_reached, or the tool's own word."                       example:"approval"                json:"reason"`
	Digest           string             `doc:"Names what is asked. Send it back with the answer."                                                     json:"digest,omitempty"`
	Occurrence       int                `doc:"Which question of the call it is, from 2; the answer has to have the digest then. Left out: the first." json:"occurrence,omitempty"`
	ExpiresAt        time.Time          `doc:"Until when it can be answered."                                                                         json:"expiresAt,omitzero"`
	OnExpiry         spool.ExpiryAction `doc:"What happens then. Left out: the run goes on without the call."                                         enum:"fail,extend"                json:"onExpiry,omitempty"`
	DistinctApprover bool               `doc:"Whether who started the run may not answer."                                                            json:"distinctApprover,omitempty"`
}

type parkFrame struct {
	AgentID    *spool.AgentID   `doc:"The nested run that made the call. Null: the run's own agent." json:"agentId"    required:"true"`
	ToolCallID spool.ToolCallID `doc:"The call."                                                     json:"toolCallId"`
}

type nestedCaller struct {
	AgentID spool.AgentID `doc:"Its id."                        json:"agentId"`
	Name    string        `doc:"The agent."                     json:"name"`
	Model   string        `doc:"Its model."                     json:"model"`
	Depth   int           `doc:"How deep it is nested, from 1." json:"depth"`
}

type money struct {
	Currency string `doc:"The currency."                   example:"USD" json:"currency"`
	Micros   int64  `doc:"The amount in millionths of it." json:"micros"`
}
