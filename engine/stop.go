package engine

import (
	"cmp"
	"context"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/change"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Stop stops the thread's run and all runs that wait for the thread. An accepted stop is durable: the
// run ends as CANCELLED even if a worker is saving its last step at that moment, and it calls no
// further tool. The worker that executes the run is woken, and cancels its model and tool calls. If no
// worker executes the run, it has ended when Stop returns. The exception is a worker that died while
// tools ran: then the next worker saves their results and ends the run. A second stop of the same run
// is accepted again.
func (e *Engine) Stop(ctx context.Context, key spool.ThreadKey) (wire.StopResult, error) {
	return e.stop(ctx, key, "")
}

// StopRun stops one run of the thread. A run that has the thread is stopped as by [Engine.Stop], but
// then the next waiting run goes on. A waiting run never begins.
func (e *Engine) StopRun(ctx context.Context, key spool.ThreadKey, run spool.RunID) (wire.StopResult, error) {
	if err := spool.CheckID("runId", string(run)); err != nil {
		return wire.StopResult{}, err
	}
	return e.stop(ctx, key, run)
}

func (e *Engine) stop(ctx context.Context, key spool.ThreadKey, only spool.RunID) (wire.StopResult, error) {
	stopped, err := change.Update(ctx, e.threads, key,
		func(tx *thread.Tx) (thread.Stopped, error) { return thread.Stop(tx, only) })
	switch {
	case errors.Is(err, thread.ErrUnchanged), record.Missing(err):
		what := "thread"
		if only != "" {
			what = "run"
		}
		return wire.StopResult{
			Reason: wire.ReasonNotActive, Error: "Cannot stop " + what + " in state " + cmp.Or(string(stopped.State), "unknown"),
		}, nil
	case err != nil:
		return wire.StopResult{}, err
	}
	if !stopped.Worker {
		e.threads.Live.Wake(store.JobsTopic, store.WakeJobs, nil)
	}
	if err := e.runner.AfterStop(ctx, key, stopped); err != nil {
		return wire.StopResult{}, err
	}
	return wire.StopResult{Accepted: true}, nil
}
