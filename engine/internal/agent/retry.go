package agent

import (
	"context"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/chat"
	"github.com/spoolhq/spool/engine/internal/thread"
)

// failed ends the segment of a run whose step has failed: with another attempt after a
// wait, or, for an error that will not pass and after the last attempt, with the run.
func (s *segment) failed(ctx context.Context, cause error) error {
	s.runner.Concerning(s.Key, s.RunID).WarnContext(ctx, "run step failed",
		"step", s.main.run.Steps+1, "attempt", s.main.run.Attempts+1, "error", cause)
	reason := failureText(cause)
	final := permanent(cause)
	nested, isNested := errors.AsType[*attemptError](cause)
	err := s.main.commit(ctx, func(tx *thread.Tx) error {
		if err := recordCut(tx, cause, spool.OutcomeError); err != nil {
			return err
		}
		switch {
		case tx.Stopping():
			return errStopped
		case isNested: // whose attempt it was, and is counted
			return thread.RetryLater(tx, tx.Wait(nested.attempts, cause), reason)
		}
		tx.Run.Attempts++
		if final || tx.Run.Attempts >= s.runner.Rules.Retry.Attempts {
			return thread.Conclude(tx, spool.Ending{State: spool.Failed, Reason: spool.StopFailed, Error: reason})
		}
		return thread.RetryLater(tx, tx.Wait(tx.Run.Attempts, cause), reason)
	})
	switch {
	case errors.Is(err, errStopped): // it was not noticed before
		return s.main.stopped(ctx, cause)
	case err != nil:
		return err
	case s.main.run.State != spool.Queued:
		return s.concluded(ctx)
	}
	s.runner.Bus.Wake(spool.JobsTopic, spool.WakeJobs)
	return nil
}

// recordCut writes down what an answer has used that did not come to its end.
func recordCut(tx *thread.Tx, cause error, outcome spool.Outcome) error {
	cut, ok := errors.AsType[*chat.CutOffError](cause)
	if !ok {
		return nil
	}
	tx.Add(cut.Turn.Usage.Count())
	return cut.Turn.Charge(tx, outcome)
}

// permanent reports whether the same step will fail again. What is not known to be
// permanent is tried again.
func permanent(cause error) bool {
	if model, ok := errors.AsType[*spool.ModelError](cause); ok {
		return model.Permanent()
	}
	return spool.CodeOf(cause) == spool.Invalid
}

// failureText is the reason that clients see.
func failureText(cause error) string {
	if model, ok := errors.AsType[*spool.ModelError](cause); ok {
		return model.Error()
	}
	return spool.MessageOf(cause)
}
