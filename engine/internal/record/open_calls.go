package record

import (
	"encoding/json"

	"github.com/spoolhq/spool"
)

// OpenCalls has the calls that wait for an answer, as [spool.ParkOpen], and those that wait for their tool, as
// [spool.ParkPending], in the run that has the thread.
type OpenCalls map[spool.ToolCallID]spool.ParkState

// OpenCallsOf returns the calls that wait, in the run that has the thread.
func OpenCallsOf(v spool.View, thread spool.Thread) (OpenCalls, error) {
	if !thread.State.Active() {
		return OpenCalls{}, nil
	}
	parks, err := v.Parks(thread.RunID)
	if err != nil {
		return nil, err
	}
	open := make(OpenCalls)
	for _, p := range parks {
		if p.State == spool.ParkOpen || p.State == spool.ParkPending {
			open[p.ToolCallID] = p.State
		}
	}
	return open, nil
}

// Entries returns all without the entries about questions that were answered or expired, and about calls that are not
// pending any more. If a call has asked more than once, it keeps only the call's last question.
func (o OpenCalls) Entries(all []spool.Entry) []spool.Entry {
	last := make(map[spool.ToolCallID]int64)
	for _, e := range all {
		if e.Type == spool.EntryInputRequired || e.Type == spool.EntryCallPending {
			last[callOf(e.Payload)] = e.Seq
		}
	}
	left := make([]spool.Entry, 0, len(all))
	for _, e := range all {
		switch e.Type {
		case spool.EntryInputRequired, spool.EntryInputExpiring, spool.EntryInputExtended,
			spool.EntryInputExpired, spool.EntryHITLResponse:
			if call := callOf(e.Payload); o[call] != spool.ParkOpen || e.Seq < last[call] {
				continue
			}
		case spool.EntryCallPending:
			if call := callOf(e.Payload); o[call] != spool.ParkPending || e.Seq < last[call] {
				continue
			}
		default:
		}
		left = append(left, e)
	}
	return left
}

// Items returns all without the questions that were answered or expired when the record had reached
// seq. It keeps items after seq, because they are newer than the parks that were read.
func (o OpenCalls) Items(all []spool.Item, seq int64) []spool.Item {
	left := make([]spool.Item, 0, len(all))
	for _, item := range all {
		if item.Type == spool.ItemInputRequired && item.Seq <= seq && o[callOf(item.Data)] != spool.ParkOpen {
			continue
		}
		left = append(left, item)
	}
	return left
}

// callOf returns the call that an event about a park names.
func callOf(payload json.RawMessage) spool.ToolCallID {
	var p struct {
		ToolCallID spool.ToolCallID `json:"toolCallId"`
	}
	_ = json.Unmarshal(payload, &p) // an unreadable payload names no call
	return p.ToolCallID
}
