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
	// Reason is why it waits: approval, outcome_unknown, budget_reached, or the tool's own word.
	Reason string `json:"reason"`
	// AgentPath is the nested runs above the call, the outermost first. Left out: the run's own agent asks.
	AgentPath []string        `json:"agentPath,omitempty"`
	ToolName  string          `json:"toolName"`            // The tool.
	Arguments json.RawMessage `json:"arguments,omitempty"` // The arguments in the question.
	// InputSchema is the JSON Schema of the payload or the arguments of an answer.
	InputSchema json.RawMessage `json:"inputSchema,omitempty"`
	Digest      string          `json:"digest,omitempty"`   // Identifies the question.
	ExpiresAt   time.Time       `json:"expiresAt,omitzero"` // The end of the time to answer.
	// DistinctApprover is whether the person who started the run may not answer.
	DistinctApprover bool `json:"distinctApprover,omitempty"`
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
		Reason: p.Reason, AgentPath: path, ToolName: p.ToolName, Arguments: p.Arguments, InputSchema: schema,
		Digest: p.Digest, ExpiresAt: p.ExpiresAt, DistinctApprover: p.DistinctApprover,
	}
}
