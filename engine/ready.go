package engine

import (
	"context"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/thread"
)

// probe is the thread that a look at the store is about. Nobody has it.
var probe = spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "probe:of:readiness"}

// CheckStore reports whether the store carries out a transaction, which it does without
// changing anything, before ctx ends, and whether it has room for a start, where it can say so
// (see [spool.RoomChecker]). An error is safe to be shown.
func (a *Admin) CheckStore(ctx context.Context) error {
	err := a.store.Update(ctx, probe, 0, func(spool.Tx) error { return thread.ErrUnchanged })
	switch {
	case errors.Is(err, thread.ErrUnchanged):
		if r, ok := a.store.(spool.RoomChecker); ok { // what is rolled back needs none
			return r.CheckRoom(ctx)
		}
		return nil
	case ctx.Err() != nil:
		return &spool.Error{Code: spool.Unavailable, Message: "the store did not answer in time", Err: err}
	default:
		return &spool.Error{Code: spool.Unavailable, Message: "the store failed", Err: err}
	}
}

// CheckWorker reports whether [Engine.Work] is under way in this process and can look for
// jobs. An error is safe to be shown.
func (a *Admin) CheckWorker(context.Context) error { return a.workers.Check(a.config.Worker.Poll) }
