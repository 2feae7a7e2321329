package loop

import (
	"context"
	"errors"

	"github.com/spoolhq/spool/engine/internal/active"
	"github.com/spoolhq/spool/engine/internal/chat"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/wire"
)

// Stopped ends a run whose stop was noticed. It keeps the model's partial answer and the results of
// tools.
func (l *Loop) Stopped(ctx context.Context, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), active.SaveTimeout)
	defer cancel()
	l.run.Events().EndBlock(ctx)
	if !l.calls.Planned() { // an earlier worker's calls
		resume := l.calls.PlanWaited
		if l.run.Row().Draft != nil {
			resume = l.calls.PlanDraft
		}
		if _, err := resume(ctx); err != nil {
			return err
		}
	}
	if l.calls.Planned() {
		if err := l.stopNested(ctx); err != nil {
			return err
		}
		_, _, err := l.calls.Save(ctx, false) // it cancels the calls without a result
		return err
	}
	cut, ok := errors.AsType[*chat.CutOffError](cause)
	if !ok {
		return l.finish(ctx, thread.Cancelled)
	}
	return l.run.Commit(ctx, func(tx *thread.Tx) error {
		if err := cut.Turn.Charge(tx, wire.OutcomeAborted); err != nil {
			return err
		}
		if _, err := cut.Turn.SaveCut(tx); err != nil {
			return err
		}
		return l.run.Finish(tx, thread.Cancelled)
	})
}
