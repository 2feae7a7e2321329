package segment

import (
	"context"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/active"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/slots"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// HandleJob executes a job. In is the worker's slot for the job, or nil.
func (r *Runner) HandleJob(ctx context.Context, j wire.Job, in *slots.Slot) (wire.JobResult, error) {
	if j.Tenant == "" {
		j.Tenant = spool.DefaultTenant
	}
	switch j.Kind {
	case wire.JobSettle:
		return r.hook.Again(ctx, j)
	case wire.JobPoll:
		return r.poller.Look(ctx, j)
	case wire.JobCancel:
		return r.poller.Cancel(ctx, j)
	default:
	}
	c, err := r.beginJob(ctx, j, false)
	if err != nil {
		return wire.JobResult{}, err
	}
	r.CloseLost(ctx, j.Thread(), c.Lost)
	switch {
	case c.BusyFor > 0:
		// The queue delivers the job again when the other worker's lease would have lapsed.
		return wire.JobResult{Reason: c.Reason, RetryAfter: c.BusyFor}, nil
	case c.segment == nil:
		return wire.JobResult{Accepted: true, Reason: c.Reason}, nil
	}
	c.segment.slot, c.segment.Job = in, j.Key
	if c.Unsettled != nil {
		return wire.JobResult{Accepted: true, Reason: c.Reason}, c.segment.Settle(ctx)
	}
	return r.execute(ctx, c.segment)
}

// HandleClaimed executes a run that its start has claimed. In is the worker's slot for it.
func (r *Runner) HandleClaimed(
	ctx context.Context, claimed *thread.ClaimedRun, in *slots.Slot,
) (wire.JobResult, error) {
	s := r.begin(ctx, &claimed.Segment, claimed.Sent)
	if claimed.Messages != nil { // the thread is new: it has the artifacts of its first turn
		s.loop.UseMessages(claimed.Messages)
		s.knowsArtifacts = !slices.ContainsFunc(claimed.Messages, hasFile)
	}
	s.slot, s.Job = in, claimed.Job.Key
	return r.execute(ctx, s)
}

func hasFile(m spool.Message) bool {
	return slices.ContainsFunc(m.Content, func(p spool.Part) bool { return p.Type != spool.PartText })
}

// ClaimTicket claims the run of a ticket that waits in the queue, and the ticket with it. It returns what executes the
// run, or nil if the ticket is left to the queue. Everything that is read before the first question to the model is
// read beside the claim.
func (r *Runner) ClaimTicket(
	ctx context.Context, ticket wire.Job,
) (d store.Delivery, execute func(context.Context, wire.Job, *slots.Slot) (wire.JobResult, error), err error) {
	hasArtifacts := make(chan *bool, 1)
	go func() { hasArtifacts <- r.lookForArtifacts(ctx, ticket.Thread()) }()
	c, err := r.beginJob(ctx, ticket, true)
	has := <-hasArtifacts
	if err != nil || c.segment == nil {
		return store.Delivery{}, nil, err
	}
	if has != nil {
		c.segment.knowsArtifacts = true
		c.segment.KnowArtifacts(*has)
	}
	c.segment.loop.UseMessages(c.messages)
	return c.job.Delivery(), func(ctx context.Context, _ wire.Job, in *slots.Slot) (wire.JobResult, error) {
		c.segment.slot, c.segment.Job = in, c.job.Key
		return r.execute(ctx, c.segment)
	}, nil
}

// lookForArtifacts reports whether a thread has artifacts. Nil: it is not known.
func (r *Runner) lookForArtifacts(ctx context.Context, key spool.ThreadKey) *bool {
	has := false
	if r.Artifacts != nil {
		all, err := r.Artifacts.Artifacts(ctx, key)
		if err != nil {
			return nil // the segment looks again
		}
		has = len(all) > 0
	}
	return &has
}

func (r *Runner) execute(ctx context.Context, s *segment) (wire.JobResult, error) {
	r.activeSegments.Add(1)
	defer r.activeSegments.Add(-1)
	if err := s.execute(ctx); err != nil {
		return wire.JobResult{}, err
	}
	return wire.JobResult{Accepted: true}, nil
}

// reopen returns the last of a chain of nested runs, in a segment without a lease. Each run has spawned the next. It
// reports false if this process cannot make calls of the run: then the run's next segment makes them, or fails.
func (r *Runner) reopen(
	ctx context.Context, t wire.Thread, runs []store.RunRow, sent time.Time,
) (_ *active.Run, can bool, _ error) {
	agent, err := r.agentOf(ctx, runs[0])
	switch {
	case active.IsStoreError(err):
		return nil, false, err
	case err != nil, agent == nil:
		return nil, false, nil //nolint:nilerr // the next segment fails with it
	}
	s := r.newSegment(t, runs[0], t.LastSeq, agent.Permitted(runs[0]), sent)
	s.configured = agent
	if has, err := s.hasLists(ctx); !has || err != nil {
		return nil, false, err
	}
	if err := s.resolveTools(ctx); err != nil {
		return nil, false, nil //nolint:nilerr // the next segment fails with it
	}
	run := s.run
	for _, nested := range runs[1:] {
		run = run.Child(nested)
	}
	return run, true, nil
}

// CloseLost ends the stream of a lost segment, so that its readers stop waiting. It does nothing if
// lost is nil.
func (r *Runner) CloseLost(ctx context.Context, key spool.ThreadKey, lost *thread.LostStream) {
	if lost == nil {
		return
	}
	end := wire.NewItem(wire.ItemRunError, wire.Offset{}, 0,
		wire.StreamFailed{Status: wire.SegmentLost, Error: thread.WorkerDied})
	r.Streaming.CloseLost(ctx, store.StreamKey{Thread: key, ID: lost.ID}, end, lost.End)
	r.Live.Wake(key, store.WakeStream, nil)
}

// EndStream ends the stream of a dead worker with the content of its RUN_ENDED entry.
func (r *Runner) EndStream(ctx context.Context, key store.StreamKey, ended wire.Entry) {
	r.Streaming.CloseLost(ctx, key, record.EndItem(ended, wire.Offset{}), ended.After)
}
