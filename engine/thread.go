package engine

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Threads lists the tenant's threads, the last updated first.
func (w *Watcher) Threads(ctx context.Context, tenant spool.Tenant, q wire.ThreadQuery) ([]wire.Thread, error) {
	q.Tenant = tenant
	return w.store.Threads(ctx, q)
}

// Thread returns a thread without its contents. It returns a [spool.NotFound] error for a thread that
// does not exist.
func (w *Watcher) Thread(ctx context.Context, key spool.ThreadKey) (thread wire.Thread, err error) {
	err = record.View(ctx, w.store, key, func(_ store.View, t wire.Thread) error {
		thread = t
		return nil
	})
	return thread, err
}

// DeleteThread removes a thread and its contents. It stops and settles a parked run first. It refuses a
// thread whose run is queued or running: the caller has to stop that run first.
func (e *Engine) DeleteThread(ctx context.Context, key spool.ThreadKey) (wire.DeleteResult, error) {
	if err := e.stopParked(ctx, key); err != nil {
		return wire.DeleteResult{}, err
	}
	return e.DeleteIdleThread(ctx, key)
}

// DeleteIdleThread works as [Engine.DeleteThread], for callers that may not stop a run: it also refuses
// a thread with a parked run.
func (e *Engine) DeleteIdleThread(ctx context.Context, key spool.ThreadKey) (wire.DeleteResult, error) {
	return e.remover.Delete(ctx, key)
}

// stopParked stops a parked run, so that the run is settled before its thread is deleted.
func (e *Engine) stopParked(ctx context.Context, key spool.ThreadKey) error {
	thread, err := e.Thread(ctx, key)
	if err == nil && thread.State == wire.WaitingForInput {
		_, err = e.Stop(ctx, key)
	}
	if record.Missing(err) {
		return nil
	}
	return err
}
