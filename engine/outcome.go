package engine

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/inspect"
	"github.com/spoolhq/spool/engine/internal/record"
)

// Outcome returns what a run of the thread has come to by now. A key without a thread id stands
// for the run's own thread. It returns a [spool.NotFound] error for a run that is not there,
// also because its thread was deleted.
func (e *Engine) Outcome(ctx context.Context, key spool.ThreadKey, id spool.RunID) (Outcome, error) {
	key, err := e.runKey(ctx, key, id)
	if err != nil {
		return Outcome{}, err
	}
	o, _, err := e.outcome(ctx, key, id)
	return o, err
}

// runKey fills in the thread of a run where it is not named.
func (e *Engine) runKey(ctx context.Context, key spool.ThreadKey, id spool.RunID) (spool.ThreadKey, error) {
	if err := spool.CheckID("runId", string(id)); err != nil {
		return key, err
	}
	if key.ID != "" {
		return key, nil
	}
	found, err := e.store.Runs(ctx, key.Tenant, spool.RunQuery{ID: id})
	if err != nil {
		return key, err
	}
	if len(found) == 0 {
		return key, spool.Errorf(spool.NotFound, runNotFound)
	}
	key.ID = found[0].ThreadID
	return key, nil
}

// outcome reads what a run has come to, and which dispatched run it belongs to.
func (e *Engine) outcome(ctx context.Context, key spool.ThreadKey, id spool.RunID) (o Outcome, root spool.RunID, err error) {
	err = e.store.View(ctx, key, func(v spool.View) error {
		run, err := v.Run(id)
		if err != nil {
			return err
		}
		root = run.Root()
		o, err = inspect.Outcome(v, e.threads.Rules, run)
		return err
	})
	if record.Missing(err) {
		err = spool.Errorf(spool.NotFound, runNotFound)
	}
	return o, root, err
}

const runNotFound = "Run not found"

// RunDetail returns what is known of a run. It returns a [spool.NotFound] error for a run
// that the tenant does not have.
func (e *Engine) RunDetail(ctx context.Context, tenant spool.Tenant, id spool.RunID) (RunDetail, error) {
	var d RunDetail
	key, err := e.runKey(ctx, spool.ThreadKey{Tenant: tenant}, id)
	if err != nil {
		return d, err
	}
	err = e.store.View(ctx, key, func(v spool.View) (err error) {
		d, err = inspect.Run(v, id)
		return err
	})
	if record.Missing(err) { // it went with its thread in between
		err = spool.Errorf(spool.NotFound, runNotFound)
	}
	return d, err
}
