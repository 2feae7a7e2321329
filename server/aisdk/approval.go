package aisdk

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/projection"
	"github.com/spoolhq/spool/wire"
)

// Question is the approvalDescriptor of a call that waits.
type Question struct {
	Reason string `doc:"Why it waits: approval, outcome_unknown, budget_reached, or the tool's own word." json:"reason"`
	// AgentPath names the nested runs above the call, the outermost first.
	AgentPath        []string        `doc:"The nested runs above the call, the outermost first. Left out: the run's own agent asks." json:"agentPath,omitempty"`
	ToolName         string          `doc:"The tool."                                                                                json:"toolName"`
	Arguments        json.RawMessage `doc:"The arguments in the question."                                                           json:"arguments,omitempty"`
	InputSchema      json.RawMessage `doc:"The JSON Schema of the payload or the arguments of an answer."                            json:"inputSchema,omitempty"`
	Digest           string          `doc:"Identifies the question."                                                                 json:"digest,omitempty"`
	ExpiresAt        time.Time       `doc:"The end of the time to answer."                                                           json:"expiresAt,omitzero"`
	DistinctApprover bool            `doc:"Whether the person who started the run may not answer."                                   json:"distinctApprover,omitempty"`
}

// approvalID returns the id of a question: the call and the question's digest. So an answer names the question
// that its person saw, and counts for no later one.
func approvalID(p wire.InputRequired) string { return string(p.ToolCallID) + "#" + p.Digest }

// parseApprovalID returns the call and the digest of [approvalID]. Ids of calls have no "#".
func parseApprovalID(id string) (call spool.ToolCallID, digest string, ok bool) {
	before, digest, ok := strings.Cut(id, "#")
	return spool.ToolCallID(before), digest, ok
}

// approvalQuestion returns the question in words.
func approvalQuestion(p wire.InputRequired) string {
	if p.Reason == wire.ParkBudget {
		return "The budget of the run is used up. May it go on?"
	}
	return projection.Question(p)
}

func question(p wire.InputRequired, path []string) *Question {
	schema := p.InputSchema
	if string(schema) == "null" {
		schema = nil
	}
	return &Question{
		Reason: p.Reason, AgentPath: path, ToolName: p.ToolName, Arguments: p.Arguments, InputSchema: schema, Digest: p.Digest,
		ExpiresAt: p.ExpiresAt, DistinctApprover: p.DistinctApprover,
	}
}
