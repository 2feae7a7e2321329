package engine

import (
	"context"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/thread"
)

// claimed is what a claim has found, and the segment that it carries or settles.
type claimed struct {
	thread.Claim

	segment *segment
}

// claim takes the thread of a job for this worker.
func (e *Engine) claim(ctx context.Context, j spool.Job) (c claimed, err error) {
	alone := &aloneClaim{slot: &e.aloneSlot}
	defer func() {
		if c.Segment == nil {
			alone.release()
		}
	}()
	var follow thread.Follow
	request := thread.ClaimRequest{Job: j, Alone: alone.take, Knows: func(agent string) error {
		_, err := e.registry.ByName(agent)
		return err
	}}
	err = e.store.Update(ctx, j.Thread(), 0, func(store spool.Tx) (err error) {
		c.Claim, follow, err = thread.Take(store, request, e.rules)
		return err
	})
	switch {
	case errors.Is(err, thread.ErrUnchanged):
		return c, nil
	case err != nil:
		return claimed{}, err
	}
	if c.BusyFor == 0 {
		e.announce(j.Thread(), follow.Jobs)
	}
	switch {
	case c.Segment != nil:
		c.segment = e.newSegment(c.Segment.Thread, c.Segment.Run, c.Segment.Seq)
		c.segment.alone = alone
	case c.Rest != nil:
		c.segment = e.unsettled(c.Rest)
	}
	return c, nil
}

// unsettled returns the segment of a run that has still to be settled.
func (e *Engine) unsettled(u *thread.Unsettled) *segment {
	s := e.newSegment(u.Thread, u.Run, u.Thread.LastSeq)
	s.writer.Inherit(u.Saved)
	return s
}
