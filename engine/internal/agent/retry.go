package agent

import (
	"context"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/chat"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// failed ends the segment of a run whose step failed. Either the run has another attempt after a delay,
// or, after a permanent error or the last attempt, the run ends.
func (s *segment) failed(ctx context.Context, cause error) error {
	s.runner.Concerning(s.Key, s.RunID).WarnContext(ctx, "run step failed",
		"step", s.main.run.Steps+1, "attempt", s.main.run.Attempts+1, "error", cause)
	err := s.main.commit(ctx, func(tx *thread.Tx) error {
		next := s.main.failedAttempt(ctx, tx.Run, cause)
		if err := chargeCutOff(tx, cause, wire.OutcomeError, next.again); err != nil {
			return err
		}
		switch {
		case tx.Stopping():
			return errStopped
		case next.atOnce:
			return thread.RetryLater(tx, 0, next.reason)
		}
		tx.Run.Attempts, tx.Run.Fallback = next.counted, next.fallback
		if !next.again {
			return thread.Finish(tx, s.main.givenUp(next.reason))
		}
		return thread.RetryLater(tx, tx.RetryDelay(next.number, cause), next.reason)
	})
	switch {
	case errors.Is(err, errStopped): // the stop came between two polls
		return s.main.stopped(ctx, cause)
	case err != nil:
		return err
	case s.main.run.State != wire.Queued:
		return s.afterFinish(ctx)
	}
	s.runner.Live.Wake(store.JobsTopic, store.WakeJobs, nil)
	return nil
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
