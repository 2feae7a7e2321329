package loop

import (
	"context"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/active"
	"github.com/spoolhq/spool/engine/internal/chat"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Failed ends the segment of a run whose step failed. Either the run has another attempt after a delay,
// or, after a permanent error or the last attempt, the run ends.
func (l *Loop) Failed(ctx context.Context, cause error) error {
	l.run.Log().WarnContext(ctx, "run step failed",
		"step", l.run.Row().Steps+1, "attempt", l.run.Row().Attempts+1, "error", cause)
	err := l.run.Commit(ctx, func(tx *thread.Tx) error {
		next := l.failedAttempt(ctx, tx.Run, cause)
		if err := chargeCutOff(tx, cause, wire.OutcomeError, next.again); err != nil {
			return err
		}
		switch {
		case tx.Stopping():
			return active.ErrStopped
		case next.atOnce:
			return thread.RetryLater(tx, 0, next.reason)
		}
		tx.Run.Attempts, tx.Run.Fallback = next.counted, next.fallback
		if !next.again {
			return l.run.Finish(tx, l.failedEnding(next.reason))
		}
		return thread.RetryLater(tx, tx.RetryDelay(next.number, cause), next.reason)
	})
	if errors.Is(err, active.ErrStopped) { // the stop came between two polls
		return l.Stopped(ctx, cause)
	}
	return err
}

// chargeCutOff charges the usage of an interrupted answer. If the run asks again, an answer that can be
// resumed is not charged: it is charged when it ends.
func chargeCutOff(tx *thread.Tx, cause error, outcome wire.Outcome, asksAgain bool) error {
	cut, ok := errors.AsType[*chat.CutOffError](cause)
	if !ok || asksAgain && cut.Resumable() && tx.Run.Resume != nil {
		return nil
	}
	tx.Add(cut.Turn.Usage.Count())
	return cut.Turn.Charge(tx, outcome)
}

// permanent reports whether the same step will fail again. Errors of unknown kind are retried.
func permanent(cause error) bool {
	if model, ok := errors.AsType[*spool.ModelError](cause); ok {
		return model.Permanent()
	}
	return spool.CodeOf(cause) == spool.Invalid
}

// failureText returns the reason that clients see.
func failureText(cause error) string {
	if model, ok := errors.AsType[*spool.ModelError](cause); ok {
		return model.Error()
	}
	return spool.MessageOf(cause)
}

// failedEnding returns how a run ends whose step has failed for good. The answer behind the last step is no step:
// what the steps have done is not lost without it.
func (l *Loop) failedEnding(reason string) store.Ending {
	if l.asker.final {
		return active.AllSteps
	}
	return store.Ending{State: wire.Failed, Reason: wire.StopFailed, Error: reason}
}
