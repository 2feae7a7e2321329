package engine

import (
	"context"
	"errors"

	"github.com/spoolhq/spool"
)

// sweepPage is how many stranded threads a sweep looks at.
const sweepPage = 500

// SweepReport counts what a sweep has done.
type SweepReport struct {
	// Checked threads were found with nothing to move them.
	Checked int
	// Redispatched ones were given a job.
	Redispatched int
	// Errors could not be moved, and are met again by the next sweep.
	Errors int
}

// Sweep gives a job to each active run that has neither a worker nor a job, so that none
// stays QUEUED, RUNNING or parked for ever, whatever was lost. Workers sweep by
// themselves; any number may at once.
func (e *Engine) Sweep(ctx context.Context) (SweepReport, error) {
	var report SweepReport
	stranded, err := e.store.Stranded(ctx, sweepPage)
	if err != nil {
		return report, err
	}
	for _, key := range stranded {
		report.Checked++
		switch err := e.change(ctx, key, e.redispatch); {
		case err == nil:
			report.Redispatched++
			e.bus.Wake(spool.JobsTopic, spool.WakeJobs)
		case errors.Is(err, errUnchanged), missing(err):
		default:
			report.Errors++
			concerning(e.config.Log, key, "").WarnContext(ctx, "redispatch run", "error", err)
		}
	}
	return report, ctx.Err()
}

// redispatch writes the job that the thread's run should have.
func (e *Engine) redispatch(h *held) error {
	if !h.run.State.Active() || h.thread.Leased(h.now) {
		return errUnchanged
	}
	if h.run.State != spool.WaitingForInput || h.run.Ending != nil {
		return h.Enqueue(h.ticket(spool.JobReclaim, 0))
	}
	open, err := e.expire(h)
	if err != nil {
		return err
	}
	if open == 0 {
		return h.Enqueue(h.ticket(spool.JobResume, 0))
	}
	parks, err := h.parks()
	if err != nil {
		return err
	}
	for _, p := range parks {
		if p.State != spool.ParkOpen {
			continue
		}
		if err := h.Enqueue(h.expiryJob(p)); err != nil {
			return err
		}
	}
	return nil
}
