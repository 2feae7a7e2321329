package engine

import (
	"cmp"
	"context"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/change"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/thread"
)

// Stop stops the thread's run, and all runs that wait for the thread. An accepted stop is durable: the
// run ends as CANCELLED even if a worker saves its last step at the moment, and calls no tool any more.
// The worker that carries the run gets a wake-up, and cancels its model and tool calls. Without a worker
// the run has ended when Stop returns, unless its worker died while tools ran: the next worker then
// saves their results and ends the run. A second stop of the same run is accepted again.
func (e *Engine) Stop(ctx context.Context, key spool.ThreadKey) (StopResult, error) {
	return e.stop(ctx, key, "")
}

// StopRun stops one run of the thread. If the run has the thread, StopRun does as [Engine.Stop], and the
// next waiting run goes on. If the run waits, it never begins.
func (e *Engine) StopRun(ctx context.Context, key spool.ThreadKey, run spool.RunID) (StopResult, error) {
	if err := spool.CheckID("runId", string(run)); err != nil {
		return StopResult{}, err
	}
	return e.stop(ctx, key, run)
}

func (e *Engine) stop(ctx context.Context, key spool.ThreadKey, only spool.RunID) (StopResult, error) {
	stopped, err := change.Update(ctx, e.threads, key, func(tx *thread.Tx) (thread.Stopped, error) { return thread.Stop(tx, only) })
	switch {
	case errors.Is(err, thread.ErrUnchanged), record.Missing(err):
		what := "thread"
		if only != "" {
			what = "run"
		}
		return StopResult{Reason: ReasonNotActive, Error: "Cannot stop " + what + " in state " + cmp.Or(string(stopped.State), "unknown")}, nil
	case err != nil:
		return StopResult{}, err
	}
	if !stopped.Worker {
		e.threads.Bus.Wake(spool.JobsTopic, spool.WakeJobs)
	}
	if err := e.runner.AfterStop(ctx, key, stopped); err != nil {
		return StopResult{}, err
	}
	return StopResult{Accepted: true}, nil
}
