package agent

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
)

// AfterStop wakes the worker of a stopped run, or finishes a run that no worker has.
func (r *Runner) AfterStop(ctx context.Context, key spool.ThreadKey, stopped thread.Stopped) error {
	if stopped.Worker {
		r.Live.Wake(key, store.WakeStop, nil)
	}
	r.CloseLost(ctx, key, stopped.Lost)
	if stopped.Unsettled == nil {
		return nil
	}
	err := r.unsettled(stopped.Unsettled).settle(ctx)
	if spool.CodeOf(err) == spool.Fenced { // another process settles it
		return nil
	}
	return err
}
