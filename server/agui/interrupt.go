package agui

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/spoolhq/spool"
)

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

// interruptID names a question: the first one of a call by the call's id, a later one by that
// and its number, as in "call_1#2". No tool call's id has a "#". An answer to an earlier
// question of the call therefore never reaches a later one.
func interruptID(p spool.InputRequired) spool.ToolCallID {
	if p.Occurrence <= 1 {
		return p.ToolCallID
	}
	return p.ToolCallID + "#" + spool.ToolCallID(strconv.Itoa(p.Occurrence))
}

// bind has the answer name the call and, where the engine demands it, the digest. The id of
// the interrupt says which question was answered, so a client need not repeat the digest.
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
	// Args are the arguments with which the call is to run. Nil: those that it has.
	Args json.RawMessage
	// Reason is why, for the model. Empty: unknown.
	Reason string
	// Digest names what was answered. Empty: unknown.
	Digest string
}

// forClient reports whether the client is to run the call that waits.
func forClient(in spool.InputRequired) bool { return in.Reason == spool.ParkClientTool }
