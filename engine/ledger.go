package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"runtime/debug"
	"time"

	"github.com/spoolhq/spool"
)

// priceTimeout bounds how long a pricer may think.
const priceTimeout = 5 * time.Second

// account prepares the turn's row of the usage ledger, price included, as nothing that
// may take time belongs into the transaction that writes it.
func (l *loop) account(ctx context.Context, t *turn, cut bool) {
	t.log = l.s.e.config.Log
	t.row.ModelID, t.row.Usage = t.modelID, t.usage
	if cut && (ctx.Err() != nil || len(t.message.Content) > 0) {
		l.guess(t)
	}
	t.row.Cost = l.s.e.price(ctx, l.model, t.row, t.receipt)
}

// guess estimates what the provider did not come to tell of an answer that was cut off.
// One that was refused, and so said nothing, has used nothing that anybody could guess.
func (l *loop) guess(t *turn) {
	if t.usage.Input == nil {
		t.row.Guess.Input = new(newMeter(l.run.Context).of(t.weight))
	}
	if t.usage.Output == nil {
		t.row.Guess.Output = new(guessTokens(t.message.Content))
	}
}

// guessTokens is a guess of how many tokens a value is, by the length of its JSON.
func guessTokens(v any) int64 {
	text, err := json.Marshal(v)
	if err != nil || string(text) == "null" {
		return 0
	}
	return int64(len(text)+3) / 4
}

// price returns what a row costs, nil where that is not known. Receipt is what the
// provider says.
func (e *Engine) price(ctx context.Context, m spool.Model, row spool.UsageRow, receipt *spool.Cost) *spool.Cost {
	if e.config.Pricer == nil {
		return nil
	}
	c := spool.Charge{
		Kind: row.Kind, Agent: row.Agent, Model: row.Model, ModelID: row.ModelID,
		Usage: row.Best(), Estimated: row.Estimated(), Receipt: receipt,
	}
	c.Requested = requestedOf(m)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), priceTimeout)
	defer cancel()
	cost, err := e.tryPrice(ctx, c)
	switch {
	case spool.CodeOf(err) == spool.NotFound:
		return nil
	case err == nil && (cost.Micros < 0 || cost.Currency == ""):
		err = fmt.Errorf("a cost of %d in the currency %q", cost.Micros, cost.Currency)
	}
	if err != nil {
		e.config.Log.WarnContext(ctx, "price a model call", "run", string(row.RunID), "model", c.Model, "error", err)
		return nil
	}
	return &cost
}

// requestedOf returns what the provider calls the model. Empty: it does not say.
func requestedOf(m spool.Model) (name string) {
	if m, ok := m.(spool.Described); ok {
		_, name = m.Describe()
	}
	return name
}

// tryPrice asks the pricer. A panic is an error.
func (e *Engine) tryPrice(ctx context.Context, c spool.Charge) (cost spool.Cost, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return e.config.Pricer.Price(ctx, c)
}

// charge writes the turn's row, and counts it.
func (t *turn) charge(h *held, outcome spool.Outcome) error {
	row := t.row
	row.Outcome = outcome
	return h.charge(row, t.log)
}

// charge writes a row of the ledger. Its cost is the dispatched run's, which has one
// currency only: a cost in another one is not known.
func (h *held) charge(row spool.UsageRow, log *slog.Logger) error {
	root := &h.tree().run
	if row.Cost != nil {
		currency := root.Currency
		if root.Allowance != nil {
			currency = cmp.Or(currency, root.Allowance.Budget.Currency)
		}
		if currency = cmp.Or(currency, row.Cost.Currency); currency != row.Cost.Currency {
			concerning(cmp.Or(log, slog.Default()), h.thread.Key(), root.ID).Error("a call was priced in another currency than its run",
				"model", row.Model, "currency", row.Cost.Currency, "run_currency", currency)
			row.Cost = nil
		}
	}
	if row.Cost != nil {
		root.Currency = row.Cost.Currency
		root.CostMicros = plus(root.CostMicros, row.Cost.Micros)
	}
	settle(root.Allowance, row)
	return h.AddUsage(row)
}

// plus adds two numbers that are not negative, up to the largest one.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// lose writes the rows of the model calls that were under way, or about to be made, when
// a worker went away. Nobody knows what they have used.
func (h *held) lose() error {
	h.stopClock(earlier(h.now, h.thread.LeaseUntil))
	if a := h.run.Allowance; a != nil {
		if a.Budget.Tokens > 0 || a.Budget.CostMicros > 0 { // then each call was noted before it was made
			return h.cutHolds(spool.OutcomeLost)
		}
	}
	runs := []spool.Run{h.run}
	if h.run.Children > 0 {
		nested, err := h.Nested(h.run.ID)
		if err != nil {
			return err
		}
		runs = append(runs, nested...)
	}
	parks, err := h.parks()
	if err != nil {
		return err
	}
	for _, r := range runs {
		if !asking(r, runs, parks) {
			continue
		}
		row := spool.UsageRow{
			RunID: r.Root(), AgentID: r.AgentID(), Agent: r.Agent, Kind: spool.UsageStep, Step: r.Steps + 1,
			Model: r.Model, Outcome: spool.OutcomeLost,
		}
		if err := h.AddUsage(row); err != nil {
			return err
		}
	}
	return nil
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// asking reports whether a worker that carried the run could do nothing but ask its model
// next: the run is in no step, and waits neither for a call of its own nor for a run under
// it.
func asking(r spool.Run, runs []spool.Run, parks []spool.Park) bool {
	if r.State != spool.Running || r.Draft != nil || r.Ending != nil {
		return false
	}
	for _, p := range parks {
		if p.AgentID == r.AgentID() {
			return false
		}
	}
	for _, other := range runs {
		if other.ParentID == r.ID && !other.State.Terminal() {
			return false
		}
	}
	return true
}
