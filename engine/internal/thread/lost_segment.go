package thread

import (
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/budget"
	"github.com/spoolhq/spool/engine/internal/order"
	"github.com/spoolhq/spool/engine/internal/record"
)

// WorkerDied is the recorded reason for the end of a dead worker's segment.
const WorkerDied = "the worker went away"

// LostStream is the stream of a dead worker. Another process has to end it.
type LostStream struct {
	ID spool.StreamID
	// End is the earliest offset at which the stream can end.
	End spool.Offset
}

// closeLostSegment charges the model calls that were lost with a worker, and adds the entry that
// ends its segment.
func closeLostSegment(tx *Tx, reason string) (*LostStream, error) {
	tx.stopClock(earlier(tx.Now, tx.Thread.LeaseUntil))
	rows, err := lostCalls(tx)
	if err != nil {
		return nil, err
	}
	saved, err := record.SavedOf(tx.Store, tx.Run)
	if err != nil {
		return nil, err
	}
	lost := &LostStream{ID: tx.Run.Stream(), End: order.EndBehind(saved.Last())}
	if err := tx.Charge(rows...); err != nil {
		return nil, err
	}
	entry := tx.runEnded(spool.RunEnded{Status: spool.SegmentLost, Error: reason})
	entry.Stream, entry.After = lost.ID, lost.End
	return lost, tx.Store.AppendEntries(entry)
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// lostCalls returns ledger rows for the model calls that were under way, or about to be made, when
// a worker died. Their usage is unknown.
func lostCalls(tx *Tx) (rows []spool.UsageRow, err error) {
	if a := tx.Run.Allowance; a != nil && budget.Reserves(a) { // then each call was reserved before it was made
		return tx.reservations(spool.OutcomeLost), nil
	}
	runs := []spool.RunRow{tx.Run}
	if tx.Run.Children > 0 {
		nested, err := tx.Store.Nested(tx.Run.ID)
		if err != nil {
			return nil, err
		}
		runs = append(runs, nested...)
	}
	parks, err := tx.Parks()
	for _, r := range runs {
		if wasCallingModel(r, runs, parks) {
			rows = append(rows, spool.UsageRow{
				RunID: r.Root(), AgentID: r.AgentID(), Agent: r.Agent, Kind: spool.UsageStep, Step: r.Steps + 1,
				Model: r.Model, Outcome: spool.OutcomeLost,
			})
		}
	}
	return rows, err
}

// wasCallingModel reports whether a worker that executed the run could only be calling its model:
// the run has no draft, and waits neither for a call of its own nor for a nested run.
func wasCallingModel(r spool.RunRow, runs []spool.RunRow, parks []spool.Park) bool {
	if r.State != spool.Running || r.Draft != nil || r.Ending != nil {
		return false
	}
	for _, p := range parks {
		if p.AgentID == r.AgentID() {
			return false
		}
	}
	for _, other := range runs {
		if other.ParentID == r.ID && !other.State.Terminal() {
			return false
		}
	}
	return true
}

// hasDraft reports whether a step of the tree has a draft: its tools may have run.
func hasDraft(tx *Tx) (bool, error) {
	runs, err := activeNested(tx)
	return tx.Run.Draft != nil || slices.ContainsFunc(runs, func(r spool.RunRow) bool { return r.Draft != nil }), err
}
