package record

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/excerpt"
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

// Entries returns the entries of the run that a snapshot has: see [excerpt.Entries].
func (o OpenCalls) Entries(all []spool.Entry) []spool.Entry {
	return excerpt.Entries(all, func(call spool.ToolCallID) spool.ParkState { return o[call] })
}

// Items returns all without the questions that were answered or expired when the record had reached
// seq. It keeps items after seq, because they are newer than the parks that were read.
func (o OpenCalls) Items(all []spool.Item, seq int64) []spool.Item {
	left := make([]spool.Item, 0, len(all))
	for _, item := range all {
		if item.Type == spool.ItemInputRequired && item.Seq <= seq && o[excerpt.CallOf(item.Data)] != spool.ParkOpen {
			continue
		}
		left = append(left, item)
	}
	return left
}
