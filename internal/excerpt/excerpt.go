// Package excerpt says which runs and which entries of a thread its snapshot has. The engine reads a snapshot from the
// store, and package record folds one from the deltas of the thread: what they show is the same.
package excerpt

import (
	"encoding/json"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// MaxRuns is how many runs a snapshot has at most, the newest ones, so that its cost does not grow with the age of
// the thread.
const MaxRuns = 100

// Entries returns the entries of a run without those about calls that wait no longer: about questions that were
// answered or expired, and about work that is done. If a call has asked more than once, it keeps only the call's last
// question. The function park returns the state of a call's park.
//
// Nor does it return MESSAGES_DROPPED. The messages of a snapshot are those behind it, and no entry follows it that
// would add the new turn: a client that applies it to these messages would take the turn away.
func Entries(all []wire.Entry, park func(call spool.ToolCallID) wire.ParkState) []wire.Entry {
	last := make(map[spool.ToolCallID]int64)
	for _, e := range all {
		if e.Type == wire.EntryInputRequired || e.Type == wire.EntryCallPending {
			last[CallOf(e.Payload)] = e.Seq
		}
	}
	left := make([]wire.Entry, 0, len(all))
	for _, e := range all {
		if e.Type == wire.EntryMessagesDropped {
			continue
		}
		if state := whileParked(e.Type); state != "" {
			if call := CallOf(e.Payload); park(call) != state || e.Seq < last[call] {
				continue
			}
		}
		left = append(left, e)
	}
	return left
}

// whileParked returns the state of a call's park in which a snapshot has entries of a type about the call. Empty: it
// always has them.
func whileParked(t wire.EntryType) wire.ParkState {
	switch t {
	case wire.EntryInputRequired, wire.EntryInputExpiring, wire.EntryInputExtended, wire.EntryInputExpired,
		wire.EntryHITLResponse:
		return wire.ParkOpen
	case wire.EntryCallPending:
		return wire.ParkPending
	default:
		return ""
	}
}

// CallOf returns the call that the payload of an entry or an item names. Empty: it names none, or cannot be read.
func CallOf(payload json.RawMessage) spool.ToolCallID {
	var p struct {
		ToolCallID spool.ToolCallID `json:"toolCallId"`
	}
	if json.Unmarshal(payload, &p) != nil {
		return ""
	}
	return p.ToolCallID
}
