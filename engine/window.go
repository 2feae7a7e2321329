package engine

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/history"
)

// contextUsage says how full the window is with the thread's history. Newest is the last row of
// the ledger.
func (w *Watcher) contextUsage(v spool.View, thread spool.Thread, newest spool.UsageRow) (spool.ContextUsage, error) {
	if thread.RunID == "" {
		return spool.ContextUsage{}, nil
	}
	run, err := v.Run(thread.RunID)
	if err != nil {
		return spool.ContextUsage{}, err
	}
	maxOutput := 0
	if agent, err := w.registry.ByName(run.Agent); err == nil {
		maxOutput = agent.MaxOutputTokens
	}
	return history.UsageOf(v, run, history.Context(w.config.Context).RoomOf(run.Model, w.config.Models[run.Model], maxOutput), newest)
}
