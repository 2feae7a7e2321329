package engine

import (
	"context"
	"errors"
	"time"

	"github.com/spoolhq/spool"
)

// failed ends the segment of a run whose step has failed: with another attempt after a
// wait, or, for an error that will not pass and after the last attempt, with the run.
func (s *segment) failed(ctx context.Context, cause error) error {
	concerning(s.e.config.Log, s.key, s.id).WarnContext(ctx, "run step failed",
		"step", s.main.run.Steps+1, "attempt", s.main.run.Attempts+1, "error", cause)
	reason := failureText(cause)
	final := permanent(cause)
	nested, isNested := errors.AsType[*attemptError](cause)
	err := s.main.commit(ctx, func(h *held) error {
		if err := h.recordCut(cause, spool.OutcomeError); err != nil {
			return err
		}
		switch {
		case !h.run.StopAt.IsZero():
			return errStopped
		case isNested: // whose attempt it was, and is counted
			return h.retryLater(s.e.backoff(nested.attempts, cause), reason)
		}
		h.run.Attempts++
		if final || h.run.Attempts >= s.e.config.MaxAttempts {
			return s.conclusion(h, spool.Ending{State: spool.Failed, Reason: spool.StopFailed, Error: reason})
		}
		return h.retryLater(s.e.backoff(h.run.Attempts, cause), reason)
	})
	switch {
	case errors.Is(err, errStopped): // it was not noticed before
		return s.main.stopped(ctx, cause)
	case err != nil:
		return err
	case s.main.run.State != spool.Queued:
		return s.concluded(ctx)
	}
	s.e.bus.Wake(spool.JobsTopic, spool.WakeJobs)
	return nil
}

// retryLater has the next attempt follow after a wait.
func (h *held) retryLater(wait time.Duration, reason string) error {
	ended := spool.RunEnded{Status: spool.SegmentError, Error: reason, RetryAfterMS: wait.Milliseconds()}
	return h.requeue(h.ticket(spool.JobRetry, wait), ended)
}

// recordCut writes down what an answer has used that did not come to its end.
func (h *held) recordCut(cause error, outcome spool.Outcome) error {
	cut, ok := errors.AsType[*cutOffError](cause)
	if !ok {
		return nil
	}
	h.add(cut.turn.usage.Count())
	return cut.turn.charge(h, outcome)
}

// backoff returns the wait before the next attempt: doubling from RetryBackoff, with up
// to a quarter more so that runs that failed together do not come back together. A
// provider that asks for a longer wait gets it, up to RetryAfterMax, which may be less than
// RetryBackoffMax.
func (e *Engine) backoff(attempts int, cause error) time.Duration {
	wait := e.config.RetryBackoff
	for range attempts - 1 {
		wait = min(wait*2, e.config.RetryBackoffMax)
	}
	wait += e.random().upTo(wait / 4)
	return max(wait, min(askedWait(cause), e.config.RetryAfterMax))
}

func askedWait(cause error) time.Duration {
	if asked, ok := errors.AsType[*spool.RetryError](cause); ok {
		return asked.After
	}
	if model, ok := errors.AsType[*spool.ModelError](cause); ok {
		return model.After
	}
	return 0
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
