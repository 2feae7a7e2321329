package engine

import (
	"context"

	"github.com/spoolhq/spool/engine/internal/worker"
	"github.com/spoolhq/spool/store"
)

// Work claims jobs of this process's agents, executes them, and sweeps, until ctx ends. Then each segment
// gives its run back at once, and Work returns nil after the last segment has stopped. A job of another
// agent stays in the queue; after a minute the worker warns about it.
func (e *Engine) Work(ctx context.Context, o store.WorkOptions) error {
	return worker.Run(ctx, worker.Config{
		Store: e.store, Live: e.threads.Live, Log: e.config.Log, Random: e.threads.Rules.Random, Agents: e.registry.Names(),
		Lease: e.config.Worker.Lease, Poll: e.config.Worker.Poll, SweepEvery: e.config.Worker.SweepEvery,
		Handle: e.runner.HandleJob, Dead: e.HandleDeadJob, Sweep: e.tidy, Claimed: e.telemetry.Claimed, Health: &e.health, Workers: &e.workers,
	}, o)
}

// tidy sweeps, and removes threads and audit entries whose retention has passed, expired rows, and artifacts that
// nothing has any more.
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
	if err := e.remover.RemoveExpired(ctx); err != nil && ctx.Err() == nil {
		e.config.Log.WarnContext(ctx, "remove expired rows", "error", err)
	}
	if err := e.remover.SweepArtifacts(ctx); err != nil && ctx.Err() == nil {
		e.config.Log.WarnContext(ctx, "sweep the artifacts", "error", err)
	}
}
