package thread

import (
	"cmp"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/budget"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Add adds tokens to the run and to the dispatched run, which counts the tokens of its whole tree.
func (tx *Tx) Add(used spool.TokenCount) {
	tx.Run.Add(used)
	if tx.root != nil {
		tx.root.Run.Add(used)
	}
}

// ChargeCompactions adds the usage of summaries to the ledger and to the run.
func (tx *Tx) ChargeCompactions(rows []wire.UsageRow) error {
	for _, row := range rows {
		tx.Add(row.Usage.Count())
	}
	return tx.Charge(rows...)
}

// Charge writes rows of the usage ledger and adds their costs to the dispatched run.
func (tx *Tx) Charge(rows ...wire.UsageRow) error {
	return tx.Write(store.Changes{Usage: tx.price(rows)})
}

// price adds the costs of rows to the dispatched run, and returns the rows for the ledger. A run has
// one currency: price removes a cost in another currency from its row.
func (tx *Tx) price(rows []wire.UsageRow) []wire.UsageRow {
	root := &tx.Root().Run
	for i := range rows {
		row := &rows[i]
		if row.Cost != nil && !tx.sameCurrency(*row) {
			row.Cost = nil
		}
		if row.Cost != nil {
			root.Currency = row.Cost.Currency
			root.CostMicros = budget.Plus(root.CostMicros, row.Cost.Micros)
		}
		budget.Settle(root.Allowance, *row)
	}
	return rows
}

// sameCurrency reports whether a row's cost is in the dispatched run's currency.
func (tx *Tx) sameCurrency(row wire.UsageRow) bool {
	root := &tx.Root().Run
	currency := root.Currency
	if root.Allowance != nil {
		currency = cmp.Or(currency, root.Allowance.Budget.Currency)
	}
	if currency == "" || currency == row.Cost.Currency {
		return true
	}
	tx.Log.Error("a call was priced in another currency than its run",
		"tenant", string(root.Tenant), "thread", string(root.ThreadID), "run", string(root.ID),
		"model", row.Model, "currency", row.Cost.Currency, "run_currency", currency)
	return false
}

// reservations returns ledger rows for the model calls whose outcome nobody will report. They count the
// whole prompt as read. The size of the answer is unknown. The agents in asking ask for their answers again,
// so their reservations are just freed.
func (tx *Tx) reservations(outcome wire.Outcome, asking map[spool.AgentID]bool) (rows []wire.UsageRow) {
	a := tx.Run.Allowance
	if a == nil {
		return nil
	}
	a.Reservations = slices.DeleteFunc(slices.Clone(a.Reservations), func(r wire.Reservation) bool {
		return r.Kind == spool.UsageStep && asking[r.AgentID]
	})
	for _, reserved := range a.Reservations {
		rows = append(rows, wire.UsageRow{
			RunID: tx.Run.ID, AgentID: reserved.AgentID, Agent: reserved.Agent, Kind: reserved.Kind, Step: reserved.Step,
			Model: reserved.Model, Outcome: outcome, Guess: spool.Usage{Input: new(reserved.Input)}, Cost: reserved.Prompt,
		})
	}
	return rows
}
