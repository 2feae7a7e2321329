// Package pricing asks the application's pricer: what a model call cost, and whether the calls of a model have a
// price at all. It touches nothing but the pricer and the log.
package pricing

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/price"
	"github.com/spoolhq/spool/wire"
)

// timeout bounds a call of the pricer.
const timeout = 5 * time.Second

// Prices knows what model calls cost.
type Prices struct {
	// Pricer prices model calls. Nil: no call has a price.
	Pricer price.Pricer
	// AllowUnpriced accepts a model without a price in a run with a budget of money.
	AllowUnpriced bool
	Log           *slog.Logger
}

// Price returns the cost of a row, or nil if it is unknown. Receipt is the cost that the provider reported.
func (p Prices) Price(
	ctx context.Context, m spool.Model, r spool.ModelRequest, row wire.UsageRow, receipt *spool.Cost,
) *spool.Cost {
	if p.Pricer == nil {
		return nil
	}
	charge := price.Charge{
		Kind: row.Kind, Agent: row.Agent, Model: row.Model, ModelID: row.ModelID,
		Usage: row.Best(), Estimated: row.Estimated(), Receipt: receipt,
	}
	info := spool.InfoOf(m)
	charge.Requested = info.Model
	if info.Billing != nil {
		charge.Tier, charge.CacheFor = info.Billing(r)
	}
	cost, err := p.ask(ctx, charge)
	if spool.CodeOf(err) == spool.NotFound {
		return nil
	}
	if err != nil {
		p.Log.WarnContext(ctx, "price a model call", "run", string(row.RunID), "model", charge.Model, "error", err)
		return nil
	}
	return &cost
}

// Unpriced reports whether a budget of money in the currency does not bound the calls of a model.
func (p Prices) Unpriced(ctx context.Context, agent, name string, m spool.Model, currency string) bool {
	if p.AllowUnpriced {
		return false
	}
	its, ok := p.Currency(ctx, agent, name, m)
	return !ok || its != "" && currency != "" && its != currency
}

// Currency returns the currency of the price of a model's calls, or false if they have none. It prices a call with a
// token of prompt and one of answer, and with a receipt if the model's provider reports costs. The currency is empty if
// the pricer fails: a price that cannot be asked for now may be there later.
func (p Prices) Currency(ctx context.Context, agent, name string, m spool.Model) (string, bool) {
	if p.Pricer == nil {
		return "", false
	}
	one := int64(1)
	info := spool.InfoOf(m)
	charge := price.Charge{
		Kind: spool.UsageStep, Agent: agent, Model: name, Requested: info.Model,
		Usage: spool.Usage{Input: &one, Output: &one}, Estimated: true,
	}
	if its := info.ReceiptCurrency; its != "" {
		charge.Receipt = &spool.Cost{Micros: 1, Currency: its, Source: spool.CostReceipt}
	}
	cost, err := p.ask(ctx, charge)
	if err != nil {
		return "", spool.CodeOf(err) != spool.NotFound
	}
	return cost.Currency, true
}

// Receipted reports whether a budget of money bounds the calls of a model only by the costs that its provider reports.
// Ask is the price of a call before its answer.
func (p Prices) Receipted(m spool.Model, ask *spool.Cost) bool {
	return !p.AllowUnpriced && ask == nil && spool.InfoOf(m).ReceiptCurrency != ""
}

// ask asks the pricer. It turns a panic, and a cost that makes no sense, into an error.
func (p Prices) ask(ctx context.Context, charge price.Charge) (cost spool.Cost, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	cost, err = p.Pricer.Price(ctx, charge)
	if err == nil && (cost.Micros < 0 || cost.Currency == "") {
		err = fmt.Errorf("a cost of %d in the currency %q", cost.Micros, cost.Currency)
	}
	return cost, err
}
