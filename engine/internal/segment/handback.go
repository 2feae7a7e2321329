package segment

import (
	"context"
	"errors"
	"time"

	"github.com/spoolhq/spool/engine/internal/active"
	"github.com/spoolhq/spool/engine/internal/thread"
)

// yieldedSlot is the recorded reason for the end of a segment that gave its slot to another tenant.
const yieldedSlot = "the run waits for its turn"

// handBack ends the segment of a run whose worker shuts down. It costs no attempt: a new ticket is
// due at once.
func (s *segment) handBack(ctx context.Context, cause error) error {
	err := s.run.Commit(ctx, func(tx *thread.Tx) error {
		if err := s.loop.Abandon(tx, cause); err != nil {
			return err
		}
		if tx.Stopping() {
			return active.ErrStopped
		}
		return thread.HandBack(tx, time.Time{}, thread.WorkerDied)
	})
	if errors.Is(err, active.ErrStopped) { // the stop came between two polls
		return s.loop.Stopped(ctx, cause)
	}
	return err
}

// YieldSlot hands the run back if another tenant is entitled to its slot, and reports whether it did.
// Callers call it between two steps, so that no work is lost or repeated.
func (s *segment) YieldSlot(ctx context.Context) (bool, error) {
	due, wanted, err := s.slot.Wanted(ctx, s.runner.Store)
	if err != nil && ctx.Err() == nil {
		s.run.Log().WarnContext(ctx, "read waiting tenants", "error", err)
	}
	if !wanted {
		return false, nil
	}
	err = s.run.Commit(ctx, func(tx *thread.Tx) error {
		if tx.Stopping() {
			return thread.ErrUnchanged // the segment notices the stop and ends the run
		}
		return thread.HandBack(tx, due, yieldedSlot)
	})
	if errors.Is(err, thread.ErrUnchanged) {
		s.slot.Keep()
		return false, nil
	}
	return true, err
}
