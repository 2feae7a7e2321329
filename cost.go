package spool

import (
	"context"
	"time"
)

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

// Money is a sum in one currency.
type Money struct {
	Currency string `doc:"The currency." example:"USD" json:"currency"`
	// Micros counts millionths of the currency.
	Micros int64 `doc:"The amount in millionths of it." json:"micros"`
}

// Charge is a use of a model to be priced.
type Charge struct {
	Kind UsageKind
	// Agent is the name of the agent that asked.
	Agent string
	// Model is the name under which the model is configured.
	Model string
	// ModelID is the provider's name of the model that answered. Requested is its name of the model in the
	// request: see [Described]. Empty: not known.
	ModelID, Requested string
	// Usage has the counts, including estimated ones. A nil count is not known.
	Usage Usage
	// Estimated is true if a count of Usage is an estimate.
	Estimated bool
	// Billing is what the price depends on besides the tokens.
	Billing Billing
	// Receipt is the cost that the provider reported. Nil: it reported none.
	Receipt *Cost
}

// Billing is what the price of a call depends on besides its tokens.
type Billing struct {
	// Tier is the provider's service tier, such as "flex", "priority" or "batch". Empty: the standard one.
	Tier string
	// CacheFor is how long the provider keeps the tokens that the call writes to its cache. Zero: as long as by
	// default.
	CacheFor time.Duration
}

// Billed is a [Model] that knows the [Billing] of its calls.
type Billed interface {
	// Billing returns how the provider charges for a request.
	Billing(r ModelRequest) Billing
}

// Pricer knows the prices of models.
//
// A pricer is safe for concurrent use. The worker that executes a run calls it between two steps, so it
// should answer from memory; ctx ends after a few seconds.
type Pricer interface {
	// Price returns the cost of a charge. A [NotFound] error means that it knows no price, and the charge is
	// unpriced. The same happens on any other error and on a panic: both are logged, and never fail a run.
	// The same charge has the same price until the pricer's table changes.
	//
	// Before a run with a budget of money starts, the engine prices a small estimated call of each model that
	// the run can reach, without a ModelID. It refuses the run if a price is not found, because the budget
	// would not hold.
	Price(ctx context.Context, c Charge) (Cost, error)
}
