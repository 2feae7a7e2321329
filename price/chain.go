package price

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/spoolhq/spool"
)

// Receipt is a pricer that uses the cost that the provider reported. For a call without a reported cost it
// returns a [spool.NotFound] error.
type Receipt struct{}

// Price implements [price.Pricer].
func (Receipt) Price(_ context.Context, c Charge) (spool.Cost, error) {
	switch {
	case c.Receipt == nil:
		return spool.Cost{}, spool.Errorf(spool.NotFound, "the provider did not say what it cost")
	case c.Receipt.Micros < 0 || c.Receipt.Currency == "":
		return spool.Cost{}, spool.Errorf(spool.Invalid, "the provider's cost makes no sense")
	}
	return spool.Cost{Micros: c.Receipt.Micros, Currency: c.Receipt.Currency, Source: spool.CostReceipt}, nil
}

// Chain returns a pricer that asks others in turn, and uses the first price. It skips a pricer that panics or
// returns another error than [spool.NotFound], with a warning to log; nil means [slog.Default]. If none has a
// price, it returns a [spool.NotFound] error.
func Chain(log *slog.Logger, pricers ...Pricer) Pricer {
	if log == nil {
		log = slog.Default()
	}
	return &chain{log: log, pricers: pricers}
}

type chain struct {
	log     *slog.Logger
	pricers []Pricer
}

// Price implements [price.Pricer].
func (c *chain) Price(ctx context.Context, charge Charge) (spool.Cost, error) {
	for _, p := range c.pricers {
		cost, err := try(ctx, p, charge)
		switch {
		case err == nil:
			return cost, nil
		case ctx.Err() != nil:
			return spool.Cost{}, ctx.Err()
		case spool.CodeOf(err) != spool.NotFound:
			c.log.WarnContext(ctx, "price a model call", "model", charge.Model, "error", err)
		}
	}
	return spool.Cost{}, spool.Errorf(spool.NotFound, "no price is known")
}

// try asks a pricer. It turns a panic into an error.
func try(ctx context.Context, p Pricer, c Charge) (cost spool.Cost, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &spool.Error{
				Code: spool.Internal, Message: "the pricer panicked", Err: fmt.Errorf("panic: %v\n%s", r, debug.Stack()),
			}
		}
	}()
	return p.Price(ctx, c)
}
