package engine

import (
	"context"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
)

// probe is the key of a thread that does not exist, for CheckStore's transaction.
var probe = spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "probe:of:readiness"}

// CheckStore returns an error if the store does not execute a transaction before ctx ends, or if the
// store reports that it would refuse a start (see [store.Store.Check]). The transaction changes nothing.
// The error is safe to show.
func (a *Admin) CheckStore(ctx context.Context) error {
	err := a.store.Update(ctx, probe, 0, func(store.Tx) error { return thread.ErrUnchanged })
	switch {
	case errors.Is(err, thread.ErrUnchanged):
		return a.store.Check(ctx) // a transaction that is rolled back needs no room
	case ctx.Err() != nil:
		return &spool.Error{Code: spool.Unavailable, Message: "the store did not answer in time", Err: err}
	default:
		return &spool.Error{Code: spool.Unavailable, Message: "the store failed", Err: err}
	}
}

// CheckWorker returns an error unless [Engine.Work] runs in this process and can look for jobs. A worker with
// [WorkOptions.EventsOnly] does not count. The error is safe to show.
func (a *Admin) CheckWorker(context.Context) error { return a.health.Check(a.config.Worker.Poll) }
