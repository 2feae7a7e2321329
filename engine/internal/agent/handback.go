package agent

import (
	"context"
	"errors"
	"time"

	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// yieldedSlot is the recorded reason for the end of a segment that gave its slot to another tenant.
const yieldedSlot = "the run waits for its turn"

// handBack ends the segment of a run whose worker shuts down. It costs no attempt: a new ticket is
// due at once.
func (s *segment) handBack(ctx context.Context, cause error) error {
	err := s.main.commit(ctx, func(tx *thread.Tx) error {
		if err := chargeCutOff(tx, cause, wire.OutcomeAborted, true); err != nil {
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
	case errors.Is(err, errStopped): // the stop came between two polls
		return s.main.stopped(ctx, cause)
	case err != nil:
		return err
	}
	s.runner.Live.Wake(store.JobsTopic, store.WakeJobs, nil)
	return nil
}

// yieldSlot hands the run back if another tenant is entitled to its slot, and reports whether it did.
// Callers call it between two steps, so that no work is lost or repeated.
func (l *loop) yieldSlot(ctx context.Context) (bool, error) {
	if l.parent != nil { // the dispatched run is inside a step
		return false, nil
	}
	s := l.s
	due, wanted, err := s.slot.Wanted(ctx, s.runner.Store)
	if err != nil && ctx.Err() == nil {
		l.s.runner.Concerning(s.Key, s.RunID).WarnContext(ctx, "read waiting tenants", "error", err)
	}
	if !wanted {
		return false, nil
	}
	err = l.commit(ctx, func(tx *thread.Tx) error {
		if tx.Stopping() {
			return thread.ErrUnchanged // the segment notices the stop and ends the run
		}
		return thread.HandBack(tx, due, yieldedSlot)
	})
	switch {
	case errors.Is(err, thread.ErrUnchanged):
		s.slot.Keep()
		return false, nil
	case err != nil:
		return true, err
	}
	s.runner.Live.Wake(store.JobsTopic, store.WakeJobs, nil)
	return true, nil
}
