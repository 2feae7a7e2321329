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
	// Micros counts millionths of the currency.
	Micros int64 `doc:"Millionths of the currency." json:"micros"`
	// Currency is a code such as "USD".
	Currency string     `doc:"Its code, such as USD."                                                                                   json:"currency"`
	Source   CostSource `doc:"The source of the price: a price table, the provider's report, or a price table with an estimated count." enum:"table,receipt,estimate" json:"source,omitempty"`
	// Version names the price table that was used. Empty: none was.
	Version string `doc:"The price table. Left out: none was used." json:"version,omitempty"`
}
