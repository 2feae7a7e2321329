package price

import (
	"context"
	"time"

	"github.com/spoolhq/spool"
)

// Charge is a use of a model to be priced.
type Charge struct {
	Kind spool.UsageKind
	// Agent is the name of the agent that asked.
	Agent string
	// Model is the name under which the model is configured.
	Model string
	// ModelID is the provider's name of the model that answered. Requested is its name of the model in the
	// request: see [spool.ModelInfo]. Empty: not known.
	ModelID, Requested string
	// Usage has the counts, including estimated ones. A nil count is not known.
	Usage spool.Usage
	// Estimated is true if a count of Usage is an estimate.
	Estimated bool
	// Tier is the provider's service tier, and CacheFor how long the provider keeps what the call wrote to its cache:
	// see [spool.ModelInfo.Billing]. Empty and zero: the standard tier, and the default time.
	Tier     string
	CacheFor time.Duration
	// Receipt is the cost that the provider reported. Nil: it reported none.
	Receipt *spool.Cost
}

// Pricer knows the prices of models.
//
// A pricer is safe for concurrent use. The worker that executes a run calls it between two steps, so it
// should answer from memory; ctx ends after a few seconds.
type Pricer interface {
	// Price returns the cost of a charge. A [spool.NotFound] error means that it knows no price, and the charge is
	// unpriced. The same happens on any other error and on a panic: both are logged, and never fail a run.
	// The same charge has the same price until the pricer's table changes.
	//
	// Before a run with a budget of money starts, the engine prices a small estimated call of each model that
	// the run can reach, without a ModelID. It refuses the run if a price is not found, because the budget
	// would not hold.
	Price(ctx context.Context, c Charge) (spool.Cost, error)
}
