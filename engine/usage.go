package engine

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/history"
	"github.com/spoolhq/spool/engine/internal/record"
)

// Usage returns the total usage of the thread's runs, and how full the model's context window is. It
// returns a [spool.NotFound] error for a thread that does not exist.
func (w *Watcher) Usage(ctx context.Context, key spool.ThreadKey) (spool.ThreadUsage, error) {
	var u spool.ThreadUsage
	err := record.View(ctx, w.store, key, func(v spool.View, thread spool.Thread) error {
		ledger, err := v.Usage(spool.UsageQuery{Sums: true})
		if err != nil {
			return err
		}
		u = spool.ThreadUsage{Model: thread.Model, Tokens: spool.Totals(ledger.Sums)}
		if thread.RunID == "" {
			return nil
		}
		run, err := spool.FindRun(v, thread.RunID)
		if err != nil {
			return err
		}
		maxOutput := 0
		if agent, err := w.registry.ByName(run.Agent); err == nil {
			maxOutput = agent.MaxOutputTokens
		}
		u.Context, err = history.UsageOf(v, run, history.Context(w.config.Context).LimitsOf(run.Model, w.config.Models[run.Model], maxOutput))
		return err
	})
	return u, err
}
