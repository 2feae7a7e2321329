package agent

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
func (r *Runner) claim(ctx context.Context, j spool.Job) (c claimed, err error) {
	alone := &aloneClaim{slot: &r.aloneSlot}
	defer func() {
		if c.Segment == nil {
			alone.release()
		}
	}()
	var follow thread.Follow
	request := thread.ClaimRequest{Job: j, Alone: alone.take, Knows: func(agent string) error {
		_, err := r.Registry.ByName(agent)
		return err
	}}
	err = r.Store.Update(ctx, j.Thread(), 0, func(store spool.Tx) (err error) {
		c.Claim, follow, err = thread.Take(store, request, r.Rules)
		return err
	})
	switch {
	case errors.Is(err, thread.ErrUnchanged):
		return c, nil
	case err != nil:
		return claimed{}, err
	}
	if c.BusyFor == 0 {
		r.Announce(j.Thread(), follow.Jobs)
	}
	switch {
	case c.Segment != nil:
		c.segment = r.newSegment(c.Segment.Thread, c.Segment.Run, c.Segment.Seq)
		c.segment.alone = alone
	case c.Rest != nil:
		c.segment = r.unsettled(c.Rest)
	}
	return c, nil
}

// Settle settles a run that has ended but for its settle hook.
func (r *Runner) Settle(ctx context.Context, u *thread.Unsettled) error {
	return r.unsettled(u).settle(ctx)
}

// unsettled returns the segment of a run that has still to be settled.
func (r *Runner) unsettled(u *thread.Unsettled) *segment {
	s := r.newSegment(u.Thread, u.Run, u.Thread.LastSeq)
	s.Writer.Inherit(u.Saved)
	return s
}
