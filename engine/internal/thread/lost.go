package thread

import (
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

// loseSegment adds the entry that ends the segment of a worker that went away, and the
// model calls that went with it.
func loseSegment(tx *Tx, reason string) (*LostStream, error) {
	if err := loseCalls(tx); err != nil {
		return nil, err
	}
	saved, err := record.SavedOf(tx.Store, tx.Run)
	if err != nil {
		return nil, err
	}
	lost := &LostStream{ID: tx.Run.Stream(), End: order.EndBehind(saved.Last())}
	entry := tx.runEnded(spool.RunEnded{Status: spool.SegmentLost, Error: reason})
	entry.Stream, entry.After = lost.ID, lost.End
	return lost, tx.Store.AppendEntries(entry)
}

// loseCalls writes the rows of the model calls that were under way, or about to be made, when
// a worker went away. Nobody knows what they have used.
func loseCalls(tx *Tx) error {
	at := tx.Now
	if tx.Thread.LeaseUntil.Before(at) {
		at = tx.Thread.LeaseUntil
	}
	tx.stopClock(at)
	if a := tx.Run.Allowance; a != nil && budget.Reserves(a) { // then each call was noted before it was made
		return cutReservations(tx, spool.OutcomeLost)
	}
	runs := []spool.RunRow{tx.Run}
	if tx.Run.Children > 0 {
		nested, err := tx.Store.Nested(tx.Run.ID)
		if err != nil {
			return err
		}
		runs = append(runs, nested...)
	}
	parks, err := Parks(tx)
	if err != nil {
		return err
	}
	for _, r := range runs {
		if !asking(r, runs, parks) {
			continue
		}
		row := spool.UsageRow{
			RunID: r.Root(), AgentID: r.AgentID(), Agent: r.Agent, Kind: spool.UsageStep, Step: r.Steps + 1,
			Model: r.Model, Outcome: spool.OutcomeLost,
		}
		if err := tx.Store.AddUsage(row); err != nil {
			return err
		}
	}
	return nil
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

// cutReservations writes the rows of model calls whose end nobody will tell. Their prompts are
// taken for read, and what was said to them is not known.
func cutReservations(tx *Tx, outcome spool.Outcome) error {
	a := tx.Run.Allowance
	if a == nil {
		return nil
	}
	for _, hold := range a.Holds {
		row := spool.UsageRow{
			RunID: tx.Run.ID, AgentID: hold.AgentID, Agent: hold.Agent, Kind: hold.Kind, Step: hold.Step,
			Model: hold.Model, Outcome: outcome, Guess: spool.Usage{Input: new(hold.Input)}, Cost: hold.Prompt,
		}
		if err := tx.Charge(row); err != nil {
			return err
		}
	}
	return nil
}

// inHand reports whether a step of the tree has a draft, the tools of which have run or may
// have.
func inHand(tx *Tx) (bool, error) {
	if tx.Run.Draft != nil || tx.Run.Children == 0 {
		return tx.Run.Draft != nil, nil
	}
	runs, err := tx.Store.Nested(tx.Run.ID)
	for _, run := range runs {
		if run.Draft != nil && !run.State.Terminal() {
			return true, nil
		}
	}
	return false, err
}
