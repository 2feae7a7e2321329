package spool

// CostSource says where a cost comes from.
type CostSource string

// The sources of a cost.
const (
	// CostTable is a price table, and the counts that the provider reported.
	CostTable CostSource = "table"
	// CostReceipt is the cost that the provider itself reported.
	CostReceipt CostSource = "receipt"
	// CostEstimate is a price table, with counts of which at least one is an estimate.
	CostEstimate CostSource = "estimate"
)

// Cost is what one use of a model cost.
type Cost struct {
	// Millionths of the currency.
	Micros int64 `json:"micros"`
	// Currency is its code, such as USD.
	Currency string `json:"currency"`
	// Source is the source of the price: a price table, the provider's report, or a price table with an estimated
	// count.
	Source CostSource `enum:"table,receipt,estimate" json:"source,omitempty"`
	// Version is the price table. Left out: none was used.
	Version string `json:"version,omitempty"`
}
