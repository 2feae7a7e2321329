package agent

import (
	"context"
	"errors"

	"github.com/spoolhq/spool/engine/internal/chat"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// stopped ends a run whose stop was noticed. It keeps the model's partial answer and the results of
// tools.
func (l *loop) stopped(ctx context.Context, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	l.events.EndBlock(ctx)
	if l.plan == nil { // an earlier worker's calls
		resume := l.planLanding
		if l.run.Draft != nil {
			resume = l.planDraft
		}
		if _, err := resume(ctx); err != nil {
			return err
		}
	}
	if l.plan != nil {
		if err := l.stopNested(ctx); err != nil {
			return err
		}
		_, _, err := l.saveCalls(ctx) // it cancels the calls without a result
		return err
	}
	ending := store.Ending{State: wire.Cancelled, Reason: wire.StopCancelled}
	var cut *chat.CutOffError
	if !errors.As(cause, &cut) {
		return l.finish(ctx, ending)
	}
	err := l.commit(ctx, func(tx *thread.Tx) error {
		if err := cut.Turn.Charge(tx, wire.OutcomeAborted); err != nil {
			return err
		}
		if _, err := cut.Turn.SaveCut(tx); err != nil {
			return err
		}
		return l.finishIn(tx, ending)
	})
	if err != nil {
		return err
	}
	return l.afterFinish(ctx)
}
