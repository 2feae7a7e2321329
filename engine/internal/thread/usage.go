package thread

import (
	"github.com/spoolhq/spool"
)

// ChargeCompactions adds the usage of summaries to the ledger and to the run.
func (tx *Tx) ChargeCompactions(rows []spool.UsageRow) error {
	for _, row := range rows {
		tx.Add(row.Usage.Count())
	}
	return tx.Charge(rows...)
}
