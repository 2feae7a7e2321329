package spool

import "context"

// CostSource says where a cost comes from.
type CostSource string

// The sources of a cost.
const (
	// CostTable is a price table, and the counts that the provider reported.
	CostTable CostSource = "table"
	// CostReceipt is what the provider itself says that the call cost.
	CostReceipt CostSource = "receipt"
	// CostEstimate is a price table, and counts of which at least one is a guess.
	CostEstimate CostSource = "estimate"
)

// Cost is what one use of a model cost.
type Cost struct {
	// Micros counts millionths of the currency.
	Micros int64 `doc:"Millionths of the currency." json:"micros"`
	// Currency is a code such as "USD".
	Currency string     `doc:"Its code, such as USD."                                                                        json:"currency"`
	Source   CostSource `doc:"A price table, the provider's own word, or a price table with counts of which one is a guess." enum:"table,receipt,estimate" json:"source,omitempty"`
	// Version names the price table that was used. Empty: none was.
	Version string `doc:"The price table that was used. Left out: none was." json:"version,omitempty"`
}

// Money is a sum in one currency.
type Money struct {
	Currency string `doc:"The currency." example:"USD" json:"currency"`
	// Micros counts millionths of the currency.
	Micros int64 `doc:"The amount in millionths of it." json:"micros"`
}

// Charge is a use of a model that has to be priced.
type Charge struct {
	Kind UsageKind
	// Agent is the name of the agent that asked.
	Agent string
	// Model is the name under which the model is configured.
	Model string
	// ModelID is what the provider calls the model that answered, Requested what it calls
	// the one that was asked: see [Described]. Empty: not known.
	ModelID, Requested string
	// Usage are the counts, those that were guessed included. A nil one is not known.
	Usage Usage
	// Estimated is true where a count of Usage is a guess.
	Estimated bool
	// Receipt is what the provider says that it cost. Nil: it does not say.
	Receipt *Cost
}

// Pricer knows what the use of a model costs.
//
// A pricer is safe for concurrent use. It is asked between two steps of a run, by the
// worker that carries it, and so should answer from memory; ctx ends after a few seconds.
type Pricer interface {
	// Price returns what a charge cost, or a [NotFound] error where it knows no price for
	// it, which leaves the charge unpriced. So does any other error, and a panic: both are
	// logged, and never fail a run. The same charge has the same price until the pricer's
	// table is another one.
	Price(ctx context.Context, c Charge) (Cost, error)
}
