package engine

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/slots"
	"github.com/spoolhq/spool/engine/internal/thread"
)

// JobResult says what became of a job.
type JobResult = spool.JobResult

// HandleJob carries out a job: it picks the run up and advances it until it ends, parks,
// fails an attempt, or ctx ends. When ctx ends the segment stops at once and the run is
// handed back to the queue by a new ticket, which costs no attempt.
//
// Any number of workers may handle the same job, at once or later: one advances the
// run, the others do nothing. HandleJob returns [spool.ErrUnknownAgent] for a run that
// would go on with an agent that this process lacks, and any other error when the store
// failed or the lease was lost; the job should then be kept.
func (e *Engine) HandleJob(ctx context.Context, j spool.Job) (JobResult, error) {
	return e.handleJob(ctx, j, nil)
}

// handleJob carries a job out that has a slot of a worker, or none.
func (e *Engine) handleJob(ctx context.Context, j spool.Job, in *slots.Slot) (JobResult, error) {
	if j.Tenant == "" {
		j.Tenant = spool.DefaultTenant
	}
	if j.Kind == spool.JobSettle {
		return e.settleAgain(ctx, j)
	}
	c, err := e.claim(ctx, j)
	if err != nil {
		return JobResult{}, err
	}
	e.closeLost(ctx, j.Thread(), c.Lost)
	switch {
	case c.BusyFor > 0:
		// The lease is asked for again once it would have lapsed.
		return JobResult{Reason: c.Reason, RetryAfter: c.BusyFor}, nil
	case c.Rest != nil:
		return JobResult{Accepted: true}, c.segment.settle(ctx)
	case c.segment == nil:
		return JobResult{Accepted: true, Reason: c.Reason}, nil
	}
	c.segment.place = in
	e.carrying.Add(1)
	defer e.carrying.Add(-1)
	if err := c.segment.carry(ctx); err != nil {
		return JobResult{}, err
	}
	return JobResult{Accepted: true}, nil
}

// closeLost ends a lost stream, so that its readers move on. Nil is none.
func (e *Engine) closeLost(ctx context.Context, key spool.ThreadKey, lost *thread.LostStream) {
	if lost == nil {
		return
	}
	end := spool.NewItem(spool.ItemRunError, spool.Offset{}, 0, spool.StreamFailed{Status: spool.SegmentLost, Error: thread.WorkerDied})
	e.streaming.CloseLost(ctx, spool.StreamKey{Thread: key, ID: lost.ID}, end, lost.End)
	e.bus.Wake(key, spool.WakeStream)
}
