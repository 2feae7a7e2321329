package engine

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/worker"
)

// WorkOptions bound the jobs of a worker.
type WorkOptions = spool.WorkOptions

// Work claims jobs, executes them, and sweeps, until ctx ends. Then each segment gives its run back at
// once, and Work returns nil after the last segment has stopped.
func (e *Engine) Work(ctx context.Context, o WorkOptions) error {
	if e.queue == nil {
		return spool.Errorf(spool.Invalid, "Backend.Queue is required to work")
	}
	return worker.Run(ctx, worker.Config{
		Queue: e.queue, Bus: e.threads.Bus, Log: e.config.Log, Random: e.threads.Rules.Random,
		Lease: e.config.Worker.Lease, Poll: e.config.Worker.Poll, SweepEvery: e.config.Worker.SweepEvery,
		Handle: e.runner.HandleJob, Dead: e.HandleDeadJob, Sweep: e.tidy, Claimed: e.telemetry.Claimed, Health: &e.workers,
	}, o)
}

// tidy sweeps, and removes threads and audit entries whose retention has passed.
func (e *Engine) tidy(ctx context.Context) {
	if _, err := e.Sweep(ctx); err != nil && ctx.Err() == nil {
		e.config.Log.WarnContext(ctx, "sweep", "error", err)
	}
	if err := e.remover.Retain(ctx); err != nil && ctx.Err() == nil {
		e.config.Log.WarnContext(ctx, "remove old threads", "error", err)
	}
	if err := e.remover.RetainAudit(ctx); err != nil && ctx.Err() == nil {
		e.config.Log.WarnContext(ctx, "remove old entries of the audit log", "error", err)
	}
}
