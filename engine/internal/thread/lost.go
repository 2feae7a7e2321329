package thread

import (
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/budget"
	"github.com/spoolhq/spool/engine/internal/order"
	"github.com/spoolhq/spool/engine/internal/record"
)

// WorkerDied is why a segment ended whose worker went away.
const WorkerDied = "the worker went away"

// LostStream is the stream of a worker that went away, which another process has to end.
type LostStream struct {
	ID spool.StreamID
	// End is the earliest offset of its end.
	End spool.Offset
}

// loseSegment adds the rows of the model calls that went with a worker, and the entry that ends its
// segment.
func loseSegment(tx *Tx, reason string) (*LostStream, error) {
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

// lostCalls returns the rows of the model calls that were under way, or about to be made, when
// a worker went away. Nobody knows what they have used.
func lostCalls(tx *Tx) (rows []spool.UsageRow, err error) {
	if a := tx.Run.Allowance; a != nil && budget.Reserves(a) { // then each call was noted before it was made
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
		if asking(r, runs, parks) {
			rows = append(rows, spool.UsageRow{
				RunID: r.Root(), AgentID: r.AgentID(), Agent: r.Agent, Kind: spool.UsageStep, Step: r.Steps + 1,
				Model: r.Model, Outcome: spool.OutcomeLost,
			})
		}
	}
	return rows, err
}

// asking reports whether a worker that carried the run could do nothing but ask its model
// next: the run is in no step, and waits neither for a call of its own nor for a run under
// it.
func asking(r spool.RunRow, runs []spool.RunRow, parks []spool.Park) bool {
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

// inHand reports whether a step of the tree has a draft, the tools of which have run or may
// have.
func inHand(tx *Tx) (bool, error) {
	runs, err := activeNested(tx)
	return tx.Run.Draft != nil || slices.ContainsFunc(runs, func(r spool.RunRow) bool { return r.Draft != nil }), err
}
