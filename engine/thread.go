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
	err = w.store.View(ctx, key, func(v spool.View) error {
		thread, err = v.Thread()
		return err
	})
	if err != nil {
		return spool.Thread{}, record.NotFound(err)
	}
	return thread, nil
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
	parked := false
	err := e.store.View(ctx, key, func(v spool.View) error {
		thread, err := v.Thread()
		parked = thread.State == spool.WaitingForInput
		return err
	})
	if err == nil && parked {
		_, err = e.Stop(ctx, key)
	}
	if record.Missing(err) {
		return nil
	}
	return err
}

// Usage sums what the thread's runs have used, and says how full the model's window is.
// It returns a [spool.NotFound] error for a thread that does not exist.
func (w *Watcher) Usage(ctx context.Context, key spool.ThreadKey) (spool.ThreadUsage, error) {
	var u spool.ThreadUsage
	err := w.store.View(ctx, key, func(v spool.View) error {
		thread, err := v.Thread()
		if record.Missing(err) {
			return spool.Errorf(spool.NotFound, record.ThreadNotFound)
		}
		if err != nil {
			return err
		}
		lines, err := v.Usage()
		if err != nil {
			return err
		}
		counted, err := v.UsageRows(spool.UsageQuery{Agent: &record.MainAgent, Kind: spool.UsageStep, Counted: true, Last: true, Limit: 1})
		if err != nil {
			return err
		}
		u = spool.ThreadUsage{Model: thread.Model, Tokens: spool.Totals(lines)}
		u.Context, err = w.contextUsage(v, thread, append(counted, spool.UsageRow{})[0])
		return err
	})
	return u, err
}
