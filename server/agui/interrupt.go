package agui

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/spoolhq/spool"
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

func interrupt(p spool.InputRequired) Interrupt {
	text := p.ToolName + " waits for an answer: " + p.Reason
	switch p.Reason {
	case spool.ParkApproval:
		text = "May " + p.ToolName + " run?"
	case spool.ParkOutcomeUnknown:
		text = "It is not known what became of " + p.ToolName + ". May it run again?"
	}
	arguments := p.Arguments
	if len(arguments) == 0 {
		arguments = json.RawMessage("null")
	}
	i := Interrupt{
		ID: interruptID(p), Reason: p.Reason, Message: text, ToolCallID: p.ToolCallID,
		ResponseSchema: responseSchema(p), ExpiresAt: p.ExpiresAt,
		Metadata: Metadata[Question]{Question{
			ToolName: p.ToolName, AgentID: p.AgentID, Arguments: arguments, Digest: p.Digest, Occurrence: p.Occurrence, DistinctApprover: p.DistinctApprover,
		}},
		DistinctApprover: p.DistinctApprover,
	}
	if p.Occurrence > 1 {
		i.Digest = p.Digest
	}
	return i
}

// responseSchema returns the schema of what answers a park.
func responseSchema(p spool.InputRequired) json.RawMessage {
	text := map[string]any{"type": "string"}
	properties := map[string]any{
		"approved": map[string]any{"type": "boolean"},
		"payload":  map[string]any{},
		"reason":   text,
		"digest":   text,
	}
	switch {
	case p.Reason != spool.ParkApproval:
	case len(p.InputSchema) > 0 && string(p.InputSchema) != "null":
		properties["editedArgs"] = p.InputSchema
	default:
		properties["editedArgs"] = map[string]any{"type": "object"}
	}
	return mustJSON(map[string]any{"type": "object", "required": []string{"approved"}, "properties": properties})
}

// parks are those of a run that are open, in the order in which they came.
type parks []spool.InputRequired

// parksOf returns the open parks of a run.
func parksOf(s *spool.Snapshot, run spool.RunID) (open parks) {
	for _, e := range s.ActiveEvents {
		if e.RunID == run {
			open.apply(e)
		}
	}
	return open
}

func (p *parks) add(payload json.RawMessage) {
	var in spool.InputRequired
	if json.Unmarshal(payload, &in) != nil {
		return
	}
	for i, known := range *p {
		if known.ToolCallID == in.ToolCallID { // it has asked before
			(*p)[i] = in
			return
		}
	}
	*p = append(*p, in)
}

func (p *parks) remove(id spool.ToolCallID) {
	*p = slices.DeleteFunc(*p, func(in spool.InputRequired) bool { return in.ToolCallID == id })
}

// apply takes in a record entry. It reports whether the entry is about a park.
func (p *parks) apply(e spool.Entry) bool {
	switch e.Type {
	case spool.EntryInputRequired:
		p.add(e.Payload)
		return true
	case spool.EntryHITLResponse, spool.EntryInputExpired:
		var over spool.InputExpired // an answer names the call in the same field
		if json.Unmarshal(e.Payload, &over) == nil {
			p.remove(over.ToolCallID)
		}
		return true
	default:
		return false
	}
}

// interrupts returns what somebody is to answer. What the client is to run is none: it shows as a
// call without a result, and the protocol's client starts no run while there are interrupts.
func (p *parks) interrupts() []Interrupt {
	all := make([]Interrupt, 0, len(*p))
	for _, park := range *p {
		if !forClient(park) {
			all = append(all, interrupt(park))
		}
	}
	return all
}

// Open returns the interrupts that the thread of a snapshot waits for.
func Open(s *spool.Snapshot) []Interrupt { return openParks(s).interrupts() }

func openParks(s *spool.Snapshot) *parks {
	if s.Thread.State != spool.WaitingForInput {
		return new(parks)
	}
	var open parks
	for _, e := range s.ActiveEvents {
		open.apply(e)
	}
	return &open
}
