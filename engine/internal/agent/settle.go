package agent

import (
	"context"
	"sync"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/settle"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// finish ends a run between two steps.
func (s *segment) finish(ctx context.Context, ending store.Ending) error {
	err := s.main.commit(ctx, func(tx *thread.Tx) error {
		if tx.Stopping() {
			ending = store.Ending{State: wire.Cancelled, Reason: wire.StopCancelled}
		}
		return thread.Finish(tx, ending)
	})
	if err != nil {
		return err
	}
	return s.afterFinish(ctx)
}

// afterFinish calls the settle hook if the run needs it.
func (s *segment) afterFinish(ctx context.Context) error {
	if s.main.run.Ending != nil {
		return s.settle(ctx)
	}
	return nil
}

// settle calls the hook and writes the end state. If the hook fails, a run that would complete fails
// instead, and the queue calls the hook again.
func (s *segment) settle(ctx context.Context) error {
	ending := *s.main.run.Ending
	open := !ending.Closed
	hookErr := s.callSettle(ctx, ending)
	if hookErr != nil && ending.State == wire.Completed {
		ending = store.Ending{State: wire.Failed, Reason: wire.StopFailed, Error: "settle: " + spool.MessageOf(hookErr)}
	}
	by := s.main.update
	if open {
		by = s.main.commit
	}
	return by(ctx, func(tx *thread.Tx) error { return thread.Settle(tx, ending, hookErr == nil) })
}

// callSettle calls the hook under the lease. It renews the lease itself, because the run may have no
// executing segment.
func (s *segment) callSettle(ctx context.Context, ending store.Ending) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settle.Claim)
	defer cancel()
	ctx, lose := context.WithCancelCause(ctx)
	var beat sync.WaitGroup
	beat.Go(func() { s.beat(ctx, lose) })
	defer beat.Wait()
	defer lose(nil)
	return s.runner.hook.Call(ctx, settle.Of(s.main.run, ending))
}
