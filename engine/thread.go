package engine

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
)

// Threads lists the tenant's threads, the last updated first.
func (w *Watcher) Threads(ctx context.Context, tenant spool.Tenant, q spool.ThreadQuery) ([]spool.Thread, error) {
	return w.store.Threads(ctx, tenant, q)
}

// Thread returns a thread alone, whatever has happened in it. It returns a [spool.NotFound]
// error for one that does not exist.
func (w *Watcher) Thread(ctx context.Context, key spool.ThreadKey) (thread spool.Thread, err error) {
	err = record.View(ctx, w.store, key, func(_ spool.View, t spool.Thread) error {
		thread = t
		return nil
	})
	return thread, err
}

// DeleteThread removes a thread and all that belongs to it. A thread whose run is queued
// or running has to be stopped first; a parked run is stopped, and settled, with it.
func (e *Engine) DeleteThread(ctx context.Context, key spool.ThreadKey) (DeleteResult, error) {
	if err := e.stopParked(ctx, key); err != nil {
		return DeleteResult{}, err
	}
	return e.DeleteIdleThread(ctx, key)
}

// DeleteIdleThread is [Engine.DeleteThread] for who may not stop a run: a thread whose run is
// parked is refused like any other with an active run.
func (e *Engine) DeleteIdleThread(ctx context.Context, key spool.ThreadKey) (DeleteResult, error) {
	return e.remover.Delete(ctx, key)
}

// stopParked stops a parked run, so that it is settled before it goes.
func (e *Engine) stopParked(ctx context.Context, key spool.ThreadKey) error {
	thread, err := e.Thread(ctx, key)
	if err == nil && thread.State == spool.WaitingForInput {
		_, err = e.Stop(ctx, key)
	}
	if record.Missing(err) {
		return nil
	}
	return err
}
