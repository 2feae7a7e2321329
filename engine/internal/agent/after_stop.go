package agent

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/thread"
)

// AfterStop tells the worker of a run that was stopped, or does what is left of its end.
func (r *Runner) AfterStop(ctx context.Context, key spool.ThreadKey, stopped thread.Stopped) error {
	if stopped.Worker {
		r.Bus.Wake(key, spool.WakeStop)
	}
	r.CloseLost(ctx, key, stopped.Lost)
	if stopped.Rest == nil {
		return nil
	}
	err := r.unsettled(stopped.Rest).settle(ctx)
	if spool.CodeOf(err) == spool.Fenced { // then somebody else settles it
		return nil
	}
	return err
}
