package thread

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/budget"
	"github.com/spoolhq/spool/engine/internal/order"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// WorkerDied is the recorded reason for the end of a dead worker's segment.
const WorkerDied = "the worker went away"

// LostStream is the stream of a dead worker. This process has to end it.
type LostStream struct {
	ID wire.StreamID
	// End is the earliest offset at which the stream can end.
	End wire.Offset
}

// closeLostSegment ends the segment of a dead worker, and charges the model calls that were lost
// with it.
func closeLostSegment(tx *Tx, t tree, reason string, c *store.Changes) *LostStream {
	lostUsage := lostCalls(tx, t)
	c.Usage = append(c.Usage, tx.price(lostUsage)...)
	died := tx.Now
	if tx.Thread.LeaseUntil.Before(died) {
		died = tx.Thread.LeaseUntil
	}
	tx.stopClock(died)
	ended := tx.runEnded(wire.RunEnded{Status: wire.SegmentLost, Error: reason})
	lost := &LostStream{ID: tx.Run.Stream(), End: order.EndAfter(t.saved)}
	ended.Stream, ended.After = lost.ID, lost.End
	c.Entries = append(c.Entries, ended)
	return lost
}

// lostCalls returns ledger rows for the model calls that were under way, or about to be made, when a
// worker died. Their usage is unknown. An answer that can be asked for again is not lost.
func lostCalls(tx *Tx, t tree) (rows []wire.UsageRow) {
	// a run with such a budget reserves each call before it is made
	if a := tx.Run.Allowance; a != nil && budget.Reserves(a) {
		return tx.reservations(wire.OutcomeLost, askingAgain(t.runs))
	}
	for _, r := range t.runs {
		if wasCallingModel(r, t) {
			rows = append(rows, wire.UsageRow{
				RunID: r.Root(), AgentID: r.AgentID(), Agent: r.Agent, Kind: spool.UsageStep, Step: r.Steps + 1,
				Model: r.Model, Outcome: wire.OutcomeLost,
			})
		}
	}
	return rows
}

// wasCallingModel reports whether a worker that executed the run can only have been calling the model:
// the run has no draft, and waits neither for a call of its own nor for a nested run.
func wasCallingModel(r store.RunRow, t tree) bool {
	if r.State != wire.Running || r.Resume != nil || r.Draft != nil || r.Ending != nil {
		return false
	}
	for _, p := range t.parks {
		if p.AgentID == r.AgentID() {
			return false
		}
	}
	for _, other := range t.runs {
		if other.ParentID == r.ID && !other.State.Terminal() {
			return false
		}
	}
	return true
}
