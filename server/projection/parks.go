package projection

import (
	"encoding/json"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// Parks are the open parks of a run, in the order in which they came.
type Parks []wire.InputRequired

// OpenParks returns the parks for which the thread of a snapshot waits.
func OpenParks(s *wire.Snapshot) (open Parks) {
	if s.Thread.State != wire.WaitingForInput {
		return nil
	}
	for _, e := range s.ActiveEvents {
		open.apply(e)
	}
	return open
}

// parksOf returns the open parks of a run.
func parksOf(s *wire.Snapshot, run spool.RunID) (open Parks) {
	for _, e := range s.ActiveEvents {
		if e.RunID == run {
			open.apply(e)
		}
	}
	return open
}

func (p *Parks) add(payload json.RawMessage) {
	var in wire.InputRequired
	if json.Unmarshal(payload, &in) != nil { //nolint:forbidigo // a saved entry
		return
	}
	in = in.FromRecord()
	for i, known := range *p {
		if known.ToolCallID == in.ToolCallID { // a newer question of the same call
			(*p)[i] = in
			return
		}
	}
	*p = append(*p, in)
}

func (p *Parks) remove(id spool.ToolCallID) {
	*p = slices.DeleteFunc(*p, func(in wire.InputRequired) bool { return in.ToolCallID == id })
}

// apply applies a record entry. It reports whether the entry is about a park.
func (p *Parks) apply(e wire.Entry) bool {
	switch e.Type {
	case wire.EntryInputRequired:
		p.add(e.Payload)
		return true
	case wire.EntryHITLResponse, wire.EntryInputExpired:
		var over wire.InputExpired                   // an answer has the call in the same field
		if json.Unmarshal(e.Payload, &over) == nil { //nolint:forbidigo // a saved entry
			p.remove(over.ToolCallID)
		}
		return true
	default:
		return false
	}
}

// ForClient reports whether the client must execute the call that waits, and nobody has to answer.
func ForClient(in wire.InputRequired) bool { return in.Reason == wire.ParkClientTool }
