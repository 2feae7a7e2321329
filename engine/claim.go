package engine

import (
	"context"
	"errors"
	"time"

	"github.com/spoolhq/spool"
)

// claimed is what a claim has found: a segment to carry, or a reason not to.
type claimed struct {
	segment *segment
	// reason is why there is no segment, for the log and the job's result.
	reason string
	// busyFor is how long the present owner's lease still lasts. Zero: nobody's.
	busyFor time.Duration
	// lost is the stream that a dead worker has left open. Nil: none.
	lost *lostStream
	// alone is the claim's hold on the slot for a suspect.
	alone *aloneClaim
	// settle is true when the run has ended but for its settle hook.
	settle bool
}

// claim is the transition to RUNNING: it takes the thread for this worker, opens the
// next segment, and closes the one of a worker that died. A ticket that the run has
// outlived claims nothing.
func (e *Engine) claim(ctx context.Context, j spool.Job) (claimed, error) {
	alone := &aloneClaim{slot: &e.aloneSlot}
	c := claimed{alone: alone}
	defer func() {
		if c.segment == nil || c.settle {
			alone.release()
		}
	}()
	var given bool
	err := e.store.Update(ctx, j.Thread(), 0, func(tx spool.Tx) error {
		c, given = claimed{alone: alone}, false
		h, err := hold(tx, e.random())
		switch {
		case missing(err):
			c.reason = "the thread is gone"
			return nil
		case err != nil:
			return err
		case j.RunID != "" && h.run.ID != j.RunID:
			c.reason = "another run has the thread"
			if run, err := tx.Run(j.RunID); err == nil && run.Place > 0 {
				c.reason = "the run waits for its thread"
			}
			return nil
		case h.run.State.Terminal():
			c.reason = "the run has ended"
			return nil
		case h.thread.Leased(h.now):
			c.reason, c.busyFor = "another worker has the run", h.thread.LeaseUntil.Sub(h.now)
			return nil
		}
		for _, name := range []string{j.Agent, h.run.Agent} {
			if _, err := e.agent(name); err != nil {
				return err
			}
		}
		err = e.take(h, j, &c)
		given = h.given
		return err
	})
	switch {
	case errors.Is(err, errUnchanged):
		return c, nil
	case err != nil:
		alone.release()
		return claimed{}, err
	}
	if c.busyFor == 0 {
		e.announce(j.Thread(), given)
	}
	return c, nil
}

// take decides by the run's state how it goes on.
func (e *Engine) take(h *held, j spool.Job, c *claimed) (err error) {
	if h.run.Ending != nil { // its worker died before or in the settle hook
		c.settle = true
		c.segment, err = e.settleUnheld(h)
		return err
	}
	switch h.run.State {
	case spool.Queued:
		if j.Kind == spool.JobExpiry {
			c.reason = "the park was resolved"
			return errUnchanged
		}
		if j.Segment != 0 && j.Segment <= h.run.Segments {
			c.reason = "a later ticket exists"
			return errUnchanged
		}
		if !h.run.StopAt.IsZero() { // while it waited for the thread
			c.reason = "the run was stopped before its turn"
			c.segment, err = e.endUnheld(h, spool.Ending{State: spool.Cancelled, Reason: spool.StopCancelled})
			c.settle = c.segment != nil
			return err
		}
	case spool.WaitingForInput:
		open, err := e.expire(h)
		if err != nil {
			return err
		}
		if open > 0 {
			c.reason = "the run waits for input"
			return h.save()
		}
		if ended, err := e.endUnanswered(h, c); ended || err != nil {
			return err
		}
	case spool.Running:
		h.died()
		inHand, err := h.inHand()
		if err != nil {
			return err
		}
		if c.lost, err = h.loseSegment(workerDied); err != nil {
			return err
		}
		switch {
		case !h.run.StopAt.IsZero() && !inHand:
			return e.endLost(h, c, spool.Ending{State: spool.Cancelled, Reason: spool.StopCancelled})
		case h.run.Carriage.AloneDeaths >= e.config.MaxDeaths:
			return e.giveUp(h, j, c)
		case h.run.StopAt.IsZero() && e.suspected(h.run):
			return e.backOff(h, c)
		}
	}
	if !e.alone(h, c) {
		return errUnchanged
	}
	if h.run.Segments == 0 {
		h.run.StartedAt = h.now
	}
	if err := h.move(spool.Running); err != nil {
		return err
	}
	h.lease(e.config.Lease)
	h.startClock()
	h.run.Segments++
	h.run.Saved = spool.Offset{}
	entry := spool.NewEntry(spool.EntryRunStarted, h.run.ID, spool.RunStarted{
		RunID: h.run.ID, StreamID: h.run.Stream(), Segment: h.run.Segments,
	})
	if err := h.AppendEntries(entry); err != nil {
		return err
	}
	if err := h.save(); err != nil {
		return err
	}
	h.thread.LastSeq = entry.Seq
	c.segment = e.newSegment(h)
	c.segment.alone = c.alone
	return nil
}

// endLost ends a run whose worker died, in place of a new segment.
func (e *Engine) endLost(h *held, c *claimed, ending spool.Ending) (err error) {
	c.reason = "the run has ended with its worker"
	c.segment, err = e.endUnheld(h, ending)
	c.settle = c.segment != nil
	return err
}

const workerDied = "the worker went away"
