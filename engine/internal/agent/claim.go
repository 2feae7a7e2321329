package agent

import (
	"context"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/thread"
)

// claimed is the outcome of a claim, with the segment to execute or to settle.
type claimed struct {
	thread.Claimed

	segment *segment
}

// claim leases the job's thread to this worker.
func (r *Runner) claim(ctx context.Context, j spool.Job) (c claimed, err error) {
	isolation := &isolationClaim{slot: &r.isolationSlot}
	defer func() {
		if c.Segment == nil {
			isolation.release()
		}
	}()
	var follow thread.Follow
	request := thread.ClaimRequest{Job: j, Isolate: isolation.acquire, Knows: func(agent string) error {
		_, err := r.Registry.ByName(agent)
		return err
	}}
	err = r.Store.Update(ctx, j.Thread(), 0, func(store spool.Tx) (err error) {
		c.Claimed, follow, err = thread.Claim(store, request, r.Rules)
		if err == nil && c.Decided {
			follow, err = thread.FinishDecided(store, r.Rules)
		}
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
		c.segment.isolation = isolation
	case c.Unsettled != nil:
		c.segment = r.unsettled(c.Unsettled)
	}
	return c, nil
}

// Settle ends a run whose ending is already decided.
func (r *Runner) Settle(ctx context.Context, u *thread.Unsettled) error {
	return r.unsettled(u).settle(ctx)
}

// unsettled returns the segment of a run that has to be settled.
func (r *Runner) unsettled(u *thread.Unsettled) *segment {
	s := r.newSegment(u.Thread, u.Run, u.Thread.LastSeq)
	s.Writer.Inherit(u.Saved)
	return s
}
