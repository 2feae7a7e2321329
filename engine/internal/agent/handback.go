package agent

import (
	"context"
	"errors"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/thread"
)

// gaveSlot is why a segment ended that gave its slot to another tenant.
const gaveSlot = "the run waits for its turn"

// handBack ends the segment of a run whose worker shuts down. It costs no attempt: a new
// ticket is due at once.
func (s *segment) handBack(ctx context.Context, cause error) error {
	err := s.main.commit(ctx, func(tx *thread.Tx) error {
		if err := recordCut(tx, cause, spool.OutcomeAborted); err != nil {
			return err
		}
		if err := voidUnrun(tx, s.main.plan); err != nil {
			return err
		}
		if tx.Stopping() {
			return errStopped
		}
		return thread.HandBack(tx, time.Time{}, thread.WorkerDied)
	})
	switch {
	case errors.Is(err, errStopped): // it was not noticed before
		return s.main.stopped(ctx, cause)
	case err != nil:
		return err
	}
	s.runner.Bus.Wake(spool.JobsTopic, spool.WakeJobs)
	return nil
}

// giveSlot hands the run back where its slot is due to another tenant. It is called between two
// steps, so that nothing is lost and nothing is done twice. It reports whether the segment is
// over.
func (l *loop) giveSlot(ctx context.Context) (bool, error) {
	if l.parent != nil { // the step of the dispatched run is not over
		return false, nil
	}
	s := l.s
	due, wanted, err := s.place.Wanted(ctx, s.runner.Queue)
	if err != nil && ctx.Err() == nil {
		l.s.runner.Concerning(s.Key, s.RunID).WarnContext(ctx, "look who waits for a slot", "error", err)
	}
	if !wanted {
		return false, nil
	}
	err = l.commit(ctx, func(tx *thread.Tx) error {
		if tx.Stopping() {
			return thread.ErrUnchanged // the segment will notice, and ends the run
		}
		return thread.HandBack(tx, due, gaveSlot)
	})
	switch {
	case errors.Is(err, thread.ErrUnchanged):
		s.place.Stay()
		return false, nil
	case err != nil:
		return true, err
	}
	s.runner.Bus.Wake(spool.JobsTopic, spool.WakeJobs)
	return true, nil
}
