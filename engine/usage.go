package engine

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/history"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Usage returns the total usage of the thread's runs, and how full the model's context window is. It
// returns a [spool.NotFound] error for a thread that does not exist.
func (w *Watcher) Usage(ctx context.Context, key spool.ThreadKey) (wire.ThreadUsage, error) {
	var u wire.ThreadUsage
	err := record.View(ctx, w.store, key, func(v store.View, thread wire.Thread) error {
		ledger, err := v.Usage(wire.UsageQuery{Sums: true})
		if err != nil {
			return err
		}
		u = wire.ThreadUsage{Model: thread.Model, Tokens: wire.Totals(ledger.Sums)}
		if thread.RunID == "" {
			return nil
		}
		run, err := store.FindRun(v, thread.RunID)
		if err != nil {
			return err
		}
		maxOutput := 0
		if agent, err := w.registry.ByName(run.Agent); err == nil {
			maxOutput = agent.MaxOutputTokens
		}
		u.Context, err = history.UsageOf(v, run,
			history.Context(w.config.Context).LimitsOf(run.Model, w.config.Models[run.Model], maxOutput))
		return err
	})
	return u, err
}
