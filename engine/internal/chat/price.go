package chat

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/spoolhq/spool"
)

// priceTimeout bounds a call of the pricer.
const priceTimeout = 5 * time.Second

// guessTokens estimates the tokens of content from the length of its stored form, because a provider charges
// for encrypted reasoning too.
func guessTokens(c spool.Content) int64 {
	if len(c) == 0 {
		return 0
	}
	text, err := c.MarshalStored()
	if err != nil {
		return 0
	}
	return int64(len(text)+3) / 4
}

// Price returns the cost of a row, or nil if it is unknown. Receipt is the cost that the provider
// reported.
func (c *Client) Price(ctx context.Context, m spool.Model, row spool.UsageRow, receipt *spool.Cost) *spool.Cost {
	if c.Pricer == nil {
		return nil
	}
	charge := spool.Charge{
		Kind: row.Kind, Agent: row.Agent, Model: row.Model, ModelID: row.ModelID,
		Usage: row.Best(), Estimated: row.Estimated(), Receipt: receipt,
	}
	charge.Requested = RequestedOf(m)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), priceTimeout)
	defer cancel()
	cost, err := c.tryPrice(ctx, charge)
	switch {
	case spool.CodeOf(err) == spool.NotFound:
		return nil
	case err == nil && (cost.Micros < 0 || cost.Currency == ""):
		err = fmt.Errorf("a cost of %d in the currency %q", cost.Micros, cost.Currency)
	}
	if err != nil {
		c.Log.WarnContext(ctx, "price a model call", "run", string(row.RunID), "model", charge.Model, "error", err)
		return nil
	}
	return &cost
}

// RequestedOf returns the provider's name of the model, or "" if it is unknown.
func RequestedOf(m spool.Model) (name string) {
	if m, ok := m.(spool.Described); ok {
		_, name = m.Describe()
	}
	return name
}

// tryPrice calls the pricer. It turns a panic into an error.
func (c *Client) tryPrice(ctx context.Context, charge spool.Charge) (cost spool.Cost, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return c.Pricer.Price(ctx, charge)
}
