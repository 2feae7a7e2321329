package thread

import (
	"cmp"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/budget"
)

// Charge writes a row of the usage ledger. Its cost is the dispatched run's, which has one
// currency only: a cost in another one is not known.
func (tx *Tx) Charge(row spool.UsageRow) error {
	root := &tx.Root().Run
	if row.Cost != nil {
		currency := root.Currency
		if root.Allowance != nil {
			currency = cmp.Or(currency, root.Allowance.Budget.Currency)
		}
		if currency = cmp.Or(currency, row.Cost.Currency); currency != row.Cost.Currency {
			tx.Log.Error("a call was priced in another currency than its run",
				"tenant", string(root.Tenant), "thread", string(root.ThreadID), "run", string(root.ID),
				"model", row.Model, "currency", row.Cost.Currency, "run_currency", currency)
			row.Cost = nil
		}
	}
	if row.Cost != nil {
		root.Currency = row.Cost.Currency
		root.CostMicros = budget.Plus(root.CostMicros, row.Cost.Micros)
	}
	budget.Settle(root.Allowance, row)
	return tx.Store.AddUsage(row)
}

// ChargeCompactions adds what summaries have used to the ledger and to the run.
func (tx *Tx) ChargeCompactions(rows []spool.UsageRow) error {
	for _, row := range rows {
		tx.Add(row.Usage.Count())
		if err := tx.Charge(row); err != nil {
			return err
		}
	}
	return nil
}

// startClock counts the time from now on.
func (tx *Tx) startClock() {
	tx.Run.Carriage.Since = tx.Now
	if a := tx.Run.Allowance; a != nil {
		a.Since = tx.Now
	}
}

// stopClock counts the time up to then.
func (tx *Tx) stopClock(at time.Time) {
	c := &tx.Run.Carriage
	c.Carried, c.Since = c.Until(at), time.Time{}
	if a := tx.Run.Allowance; a != nil {
		a.Spent.WallTime = budget.WallTime(a, at)
		a.Since = time.Time{}
	}
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
	runs := []spool.Run{tx.Run}
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
func asking(r spool.Run, runs []spool.Run, parks []spool.Park) bool {
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
