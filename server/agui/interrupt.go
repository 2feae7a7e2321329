package agui

import (
	"cmp"
	"encoding/json"
	"strconv"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/projection"
	"github.com/spoolhq/spool/wire"
)

func interrupt(p wire.InputRequired) Interrupt {
	arguments := p.Arguments
	if len(arguments) == 0 {
		arguments = json.RawMessage("null")
	}
	i := Interrupt{
		ID: interruptID(p), Reason: p.Reason, Message: projection.Question(p), ToolCallID: p.ToolCallID,
		ResponseSchema: responseSchema(p), ExpiresAt: p.ExpiresAt,
		Metadata: Metadata[Question]{Question{
			ToolName: p.ToolName, AgentID: p.AgentID, Arguments: arguments, Digest: p.Digest, Occurrence: p.Occurrence,
			DistinctApprover: p.DistinctApprover,
		}},
		DistinctApprover: p.DistinctApprover,
	}
	if p.Occurrence > 1 {
		i.Digest = p.Digest
	}
	return i
}

// responseSchema returns the JSON Schema of the answers to a park.
func responseSchema(p wire.InputRequired) json.RawMessage {
	text := map[string]any{"type": "string"}
	properties := map[string]any{
		"approved": map[string]any{"type": "boolean"},
		"payload":  map[string]any{},
		"reason":   text,
		"digest":   text,
	}
	known := len(p.InputSchema) > 0 && string(p.InputSchema) != "null"
	switch {
	case p.Reason != wire.ParkApproval && known:
		properties["payload"] = p.InputSchema
	case p.Reason != wire.ParkApproval:
	case known:
		properties["editedArgs"] = p.InputSchema
	default:
		properties["editedArgs"] = map[string]any{"type": "object"}
	}
	return mustJSON(map[string]any{"type": "object", "required": []string{"approved"}, "properties": properties})
}

// interrupts returns the questions for a person. It leaves out calls of the client's tools: a client sees
// those as calls without a result, and it starts no run while there are interrupts.
func interrupts(of projection.Parks) []Interrupt {
	all := make([]Interrupt, 0, len(of))
	for _, park := range of {
		if !projection.ForClient(park) {
			all = append(all, interrupt(park))
		}
	}
	return all
}

// Open returns the interrupts for which the thread of a snapshot waits.
func Open(s *wire.Snapshot) []Interrupt { return interrupts(projection.OpenParks(s)) }

// interruptID returns the id of a question. It is the call's id for the call's first question, and has the
// question's number from the second one on, as in "call_1#2". Ids of tool calls have no "#", so an answer to
// an earlier question of the call never reaches a later one.
func interruptID(p wire.InputRequired) spool.ToolCallID {
	if p.Occurrence <= 1 {
		return p.ToolCallID
	}
	return p.ToolCallID + "#" + spool.ToolCallID(strconv.Itoa(p.Occurrence))
}

// bind adds to the answer the call and, if the engine demands it, the digest. The id of the interrupt says
// which question was answered, so a client need not repeat the digest.
func (i Interrupt) bind(a Answer) Answer {
	a.ToolCallID = cmp.Or(i.ToolCallID, i.ID)
	if i.Digest != "" {
		a.Digest = cmp.Or(a.Digest, i.Digest)
	}
	return a
}

// Answer is the answer to one park.
type Answer struct {
	ToolCallID spool.ToolCallID
	Approved   bool
	// Payload is any JSON. Nil: none.
	Payload json.RawMessage
	// Args are the arguments with which the call runs. Nil: its own.
	Args json.RawMessage
	// Reason is the reason of the answer, for the model. Empty: unknown.
	Reason string
	// Digest identifies the question. Empty: unknown.
	Digest string
}
