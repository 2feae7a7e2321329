package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/spoolhq/spool"
)

// HandleDeadJob fails the run of a job that the queue has given up after that many
// attempts, with the cause as its reason. A run that has moved on is left alone: it has
// ended, another run has the thread, or a worker holds it.
func (e *Engine) HandleDeadJob(ctx context.Context, j spool.Job, attempts int, cause string) error {
	if j.Tenant == "" {
		j.Tenant = spool.DefaultTenant
	}
	var rest *segment
	var lost *lostStream
	err := e.change(ctx, j.Thread(), func(h *held) (err error) {
		rest, lost = nil, nil
		moved := h.run.ID != j.RunID || !h.run.State.Active() || h.thread.Leased(h.now) ||
			j.Segment != 0 && j.Segment <= h.run.Segments && h.run.State != spool.Running
		switch {
		case moved:
			return errUnchanged
		case h.run.Ending != nil: // it has ended but for its settle hook
			rest, err = e.settleUnheld(h)
			return err
		}
		ending := spool.Ending{
			State: spool.Failed, Reason: spool.StopFailed,
			Error: fmt.Sprintf("dropped by the queue after %d attempts: %s", attempts, cause),
		}
		if h.run.State == spool.Running {
			if lost, err = h.loseSegment(ending.Error); err != nil {
				return err
			}
		}
		rest, err = e.endUnheld(h, ending)
		return err
	})
	switch {
	case errors.Is(err, errUnchanged), missing(err):
		return nil
	case err != nil:
		return err
	}
	e.closeLost(ctx, j.Thread(), lost)
	if rest != nil {
		return rest.settle(ctx)
	}
	return nil
}
