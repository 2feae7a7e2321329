package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/history"
	"github.com/spoolhq/spool/engine/internal/thread"
)

// priceTimeout bounds how long a pricer may think.
const priceTimeout = 5 * time.Second

// account prepares the turn's row of the usage ledger, price included, as nothing that
// may take time belongs into the transaction that writes it.
func (l *loop) account(ctx context.Context, t *turn, cut bool) {
	t.row.ModelID, t.row.Usage = t.modelID, t.usage
	if cut && (ctx.Err() != nil || len(t.message.Content) > 0) {
		l.guess(t)
	}
	t.row.Cost = l.s.runner.price(ctx, l.model, t.row, t.receipt)
}

// guess estimates what the provider did not come to tell of an answer that was cut off.
// One that was refused, and so said nothing, has used nothing that anybody could guess.
func (l *loop) guess(t *turn) {
	if t.usage.Input == nil {
		t.row.Guess.Input = new(history.NewMeter(l.run.Context).Of(t.weight))
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
func (r *Runner) price(ctx context.Context, m spool.Model, row spool.UsageRow, receipt *spool.Cost) *spool.Cost {
	if r.Pricer == nil {
		return nil
	}
	c := spool.Charge{
		Kind: row.Kind, Agent: row.Agent, Model: row.Model, ModelID: row.ModelID,
		Usage: row.Best(), Estimated: row.Estimated(), Receipt: receipt,
	}
	c.Requested = requestedOf(m)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), priceTimeout)
	defer cancel()
	cost, err := r.tryPrice(ctx, c)
	switch {
	case spool.CodeOf(err) == spool.NotFound:
		return nil
	case err == nil && (cost.Micros < 0 || cost.Currency == ""):
		err = fmt.Errorf("a cost of %d in the currency %q", cost.Micros, cost.Currency)
	}
	if err != nil {
		r.Log.WarnContext(ctx, "price a model call", "run", string(row.RunID), "model", c.Model, "error", err)
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
func (r *Runner) tryPrice(ctx context.Context, c spool.Charge) (cost spool.Cost, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return r.Pricer.Price(ctx, c)
}

// charge writes the turn's row, and counts it.
func (t *turn) charge(tx *thread.Tx, outcome spool.Outcome) error {
	row := t.row
	row.Outcome = outcome
	return tx.Charge(row)
}
