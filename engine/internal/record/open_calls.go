package record

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/excerpt"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// OpenCalls has the calls that wait for an answer, as [wire.ParkOpen], and those that wait for their tool, as
// [wire.ParkPending], in the run that has the thread.
type OpenCalls map[spool.ToolCallID]wire.ParkState

// OpenCallsOf returns the calls that wait, in the run that has the thread.
func OpenCallsOf(v store.View, thread wire.Thread) (OpenCalls, error) {
	if !thread.State.Active() {
		return OpenCalls{}, nil
	}
	parks, err := v.Parks(thread.RunID)
	if err != nil {
		return nil, err
	}
	open := make(OpenCalls)
	for _, p := range parks {
		if p.State == wire.ParkOpen || p.State == wire.ParkPending {
			open[p.ToolCallID] = p.State
		}
	}
	return open, nil
}

// Entries returns the entries of the run that a snapshot has: see [excerpt.Entries].
func (o OpenCalls) Entries(all []wire.Entry) []wire.Entry {
	return excerpt.Entries(all, func(call spool.ToolCallID) wire.ParkState { return o[call] })
}

// Items returns all without the questions that were answered or expired when the record had reached
// seq. It keeps items after seq, because they are newer than the parks that were read.
func (o OpenCalls) Items(all []wire.Item, seq int64) []wire.Item {
	left := make([]wire.Item, 0, len(all))
	for _, item := range all {
		if item.Type == wire.ItemInputRequired && item.Seq <= seq && o[excerpt.CallOf(item.Data)] != wire.ParkOpen {
			continue
		}
		left = append(left, item)
	}
	return left
}
