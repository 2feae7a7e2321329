package engine

import (
	"context"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/change"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/wire"
)

// HandleDeadJob fails the run of a job that the queue has given up after the given number of attempts.
// The cause becomes the reason of the run's end. Nothing happens if the run has ended, if another run
// has the thread, or if a worker executes the run.
func (e *Engine) HandleDeadJob(ctx context.Context, j wire.Job, attempts int, cause string) error {
	if j.Tenant == "" {
		j.Tenant = spool.DefaultTenant
	}
	stopped, err := change.Update(ctx, e.threads, j.Thread(), func(tx *thread.Tx) (thread.Stopped, error) {
		return thread.Dead(tx, j, attempts, cause)
	})
	switch {
	case errors.Is(err, thread.ErrUnchanged), record.Missing(err):
		return nil
	case err != nil:
		return err
	}
	e.runner.CloseLost(ctx, j.Thread(), stopped.Lost)
	if stopped.Unsettled != nil {
		return e.runner.Settle(ctx, stopped.Unsettled)
	}
	return nil
}
