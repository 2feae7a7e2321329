package agent

import (
	"context"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/registry"
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
	var unkept *registry.Agent
	request.Revision = func(run spool.RunRow) (spool.RevisionID, error) {
		id, agent := r.Registry.RevisionOf(run)
		if unkept = nil; agent != nil && agent.Revision == id && !r.Revisions.Kept(id) {
			unkept = agent
			return "", errUnkept
		}
		return id, nil
	}
	claim := func(store spool.Tx) (err error) {
		c.Claimed, follow, err = thread.Claim(store, request, r.Rules)
		if err == nil && c.Decided {
			follow, err = thread.FinishDecided(store, r.Rules)
		}
		return err
	}
	err = r.Store.Update(ctx, j.Thread(), 0, claim)
	if errors.Is(err, errUnkept) { // the first run of this process with its agent
		if err = r.Revisions.Keep(ctx, unkept.Content); err == nil {
			err = r.Store.Update(ctx, j.Thread(), 0, claim)
		}
	}
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
		agent, err := r.agentOf(ctx, c.Segment.Run)
		c.segment = r.newSegment(c.Segment.Thread, c.Segment.Run, c.Segment.Seq, agent)
		c.segment.isolation, c.segment.noAgent = isolation, err
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
	s := r.newSegment(u.Thread, u.Run, u.Thread.LastSeq, r.Registry.OfDispatched(u.Run))
	s.Writer.Inherit(u.Saved)
	return s
}
