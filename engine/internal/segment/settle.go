package segment

import (
	"context"
	"sync"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/settle"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Settle ends a run whose ending is decided: it calls the hook and writes the end state. If the hook fails, a run that
// would complete fails instead, and the queue calls the hook again. It does nothing for a run that goes on, or that has
// ended without a hook.
func (s *segment) Settle(ctx context.Context) error {
	if s.run.Row().Ending == nil {
		return nil
	}
	ending := *s.run.Row().Ending
	open := !ending.Closed
	hookErr := s.callHook(ctx, ending)
	if hookErr != nil && ending.State == wire.Completed {
		ending = store.Ending{State: wire.Failed, Reason: wire.StopFailed, Error: "settle: " + spool.MessageOf(hookErr)}
	}
	by := s.run.Update
	if open {
		by = s.run.Commit
	}
	return by(ctx, func(tx *thread.Tx) error { return thread.Settle(tx, ending, hookErr == nil) })
}

// callHook calls the hook under the lease. It renews the lease itself, because the run may have no
// executing segment.
func (s *segment) callHook(ctx context.Context, ending store.Ending) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settle.Claim)
	defer cancel()
	ctx, lose := context.WithCancelCause(ctx)
	var beat sync.WaitGroup
	beat.Go(func() { s.beat(ctx, lose) })
	defer beat.Wait()
	defer lose(nil)
	return s.runner.hook.Call(ctx, settle.Of(s.run.Row(), ending))
}
