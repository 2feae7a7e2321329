package store

import (
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// ParkRow is a park of a list, with what it belongs to.
type ParkRow struct {
	Park

	Thread wire.Thread
	// Runs are the dispatched run, and below it the nested runs down to the run that made the call. Their RunState
	// is complete.
	Runs []RunRow
}

// Time returns the time that an order compares.
func (p Park) Time(order wire.ParkOrder) time.Time {
	if order == wire.ParksByExpiry {
		return p.ExpiresAt
	}
	return p.CreatedAt
}

// RunIDs returns the runs from the dispatched run down to the run that made the call.
func (p Park) RunIDs() []spool.RunID {
	ids := []spool.RunID{p.RunID}
	for _, v := range slices.Backward(p.Frames) {
		if above := v.AgentID; above != nil {
			ids = append(ids, spool.RunID(*above))
		}
	}
	if p.AgentID != "" {
		ids = append(ids, spool.RunID(p.AgentID))
	}
	return ids
}
