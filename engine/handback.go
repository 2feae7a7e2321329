package engine

import (
	"context"
	"errors"

	"github.com/spoolhq/spool"
)

// gaveSlot is why a segment ended that gave its slot to another tenant.
const gaveSlot = "the run waits for its turn"

// handBack ends the segment of a run whose worker shuts down. It costs no attempt: a new
// ticket is due at once.
func (s *segment) handBack(ctx context.Context, cause error) error {
	err := s.main.commit(ctx, func(h *held) error {
		if err := h.recordCut(cause, spool.OutcomeAborted); err != nil {
			return err
		}
		if err := h.voidUnrun(s.main.plan); err != nil {
			return err
		}
		if !h.run.StopAt.IsZero() {
			return errStopped
		}
		return h.requeue(h.ticket(spool.JobHandBack, 0), spool.RunEnded{Status: spool.SegmentLost, Error: workerDied})
	})
	switch {
	case errors.Is(err, errStopped): // it was not noticed before
		return s.main.stopped(ctx, cause)
	case err != nil:
		return err
	}
	s.e.bus.Wake(spool.JobsTopic, spool.WakeJobs)
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
	due, wanted, err := s.place.wanted(ctx, s.e.queue)
	if err != nil && ctx.Err() == nil {
		concerning(s.e.config.Log, s.key, s.id).WarnContext(ctx, "look who waits for a slot", "error", err)
	}
	if !wanted {
		return false, nil
	}
	err = l.commit(ctx, func(h *held) error {
		if !h.run.StopAt.IsZero() {
			return errUnchanged // the segment will notice, and ends the run
		}
		next := h.ticket(spool.JobHandBack, 0)
		next.DueAt = due
		return h.requeue(next, spool.RunEnded{Status: spool.SegmentLost, Error: gaveSlot})
	})
	switch {
	case errors.Is(err, errUnchanged):
		s.place.stay()
		return false, nil
	case err != nil:
		return true, err
	}
	s.e.bus.Wake(spool.JobsTopic, spool.WakeJobs)
	return true, nil
}

// requeue is the transition back to QUEUED, with a ticket for the next segment.
func (h *held) requeue(next spool.Job, ended spool.RunEnded) error {
	failed := spool.StreamFailed{Status: ended.Status, Error: ended.Error, RetryAfterMS: ended.RetryAfterMS}
	if err := h.closeSegment(spool.ItemRunError, failed, ended); err != nil {
		return err
	}
	if err := h.move(spool.Queued); err != nil {
		return err
	}
	if err := h.Enqueue(next); err != nil {
		return err
	}
	if err := h.cutHolds(spool.OutcomeAborted); err != nil {
		return err
	}
	h.letGo()
	return h.save()
}
