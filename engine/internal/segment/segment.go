package segment

import (
	"context"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/active"
	"github.com/spoolhq/spool/engine/internal/loop"
	"github.com/spoolhq/spool/engine/internal/publish"
	"github.com/spoolhq/spool/engine/internal/registry"
	"github.com/spoolhq/spool/engine/internal/slots"
	"github.com/spoolhq/spool/engine/internal/stream"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// segment is one execution of a run by a worker, from the claim to the end of its stream.
type segment struct {
	*active.Segment

	runner *Runner
	run    *active.Run // the dispatched run
	loop   *loop.Loop
	// configured is the agent of the run's revision before the run narrows it. Nil: the process lacks it.
	configured *registry.Agent
	noAgent    error // why the agent of the run's revision cannot be used, or nil

	lease lease
	// end ends the segment's work with a cause. Nil: the segment has no lease, and only looks at a pending call.
	end context.CancelCauseFunc

	// knowsArtifacts is true if it is known whether the thread has artifacts.
	knowsArtifacts bool

	slot      *slots.Slot     // the worker's slot; nil for none
	isolation *isolationClaim // held until an isolated run has saved a step
}

// newSegment returns the segment of a run that was leased by a request sent at the given time. Seq is the seq of the
// record's last entry. Agent is nil if the process settles a run whose agent it lacks.
func (r *Runner) newSegment(
	t wire.Thread, run store.RunRow, seq int64, agent *registry.Agent, sent time.Time,
) *segment {
	s := &segment{runner: r}
	s.Segment = active.NewSegment(&r.Host.Host, publish.Segment{
		Key: t.Key(), Fence: t.Fence, RunID: run.ID, CreatedAt: t.CreatedAt,
		Writer: stream.New(r.Streaming, store.StreamKey{Thread: t.Key(), ID: run.Stream()}, t.Fence, seq),
	}, s, run)
	s.lease.confirm(sent)
	s.run = active.NewRun(s.Segment, agent, run)
	s.loop = loop.New(r.Models, s, s.run)
	return s
}

// Committed frees the process's slot for an isolated run once the run has saved a step.
func (s *segment) Committed(run store.RunRow, follow thread.Follow) {
	if !run.Isolated {
		s.isolation.release()
	}
	s.slot.Note(follow.JobDone, follow.NewJobs)
}

// execute advances the run until it ends, parks or cannot continue, and does the work that has to
// follow. An error means that the store failed; the run then waits until its lease lapses.
func (s *segment) execute(worker context.Context) error {
	ctx, cancel := context.WithCancelCause(worker)
	s.end = cancel
	var watchers sync.WaitGroup
	defer watchers.Wait()
	defer cancel(nil)

	defer s.isolation.release()
	defer s.runner.Publisher.Add(&s.Segment.Segment)()
	row := s.run.Row()
	s.Writer.Open(ctx, wire.StreamStarted{
		ThreadID: s.Key.ID, RunID: s.RunID, StreamID: s.Writer.ID(), Segment: row.Segments,
	}, func() { s.runner.Announce(s.Key, false) }) // readers of the claim's entry wait for the stream's first item
	if !row.StopAt.IsZero() { // an earlier worker died before it noticed the stop
		cancel(active.ErrStopped)
	}
	watchers.Go(func() { s.beat(ctx, cancel) })
	watchers.Go(func() { s.watchStop(ctx, cancel) })
	defer s.limitTime(cancel)()

	err := s.noAgent
	if err == nil {
		err = s.resolveTools(ctx)
	}
	if err == nil && !s.knowsArtifacts {
		err = s.FindArtifacts(ctx)
	}
	if err == nil {
		err = s.loop.Advance(ctx)
	}
	switch loop.ExitOf(err, context.Cause(ctx), worker.Err() != nil) {
	case loop.ExitDone:
		return nil
	case loop.ExitLost:
		// Another worker has the lease and has written this segment's end.
		s.abandon(ctx, "another worker took the run over")
		return nil
	case loop.ExitLapsed:
		return s.ifSaved(ctx, &spool.Error{Code: spool.Unavailable, Message: active.ErrLapsed.Error(), Err: err})
	case loop.ExitStoreFailed:
		return s.ifSaved(ctx, err)
	case loop.ExitStopped:
		err = s.loop.Stopped(ctx, err)
	case loop.ExitOutOfTime:
		err = s.loop.OutOfTime(ctx, err)
	case loop.ExitHandBack:
		err = s.handBack(ctx, err)
	default:
		err = s.loop.Failed(ctx, err)
	}
	if err == nil {
		err = s.Settle(context.WithoutCancel(ctx))
	}
	return s.ifSaved(ctx, err)
}

// ifSaved returns nil if err is nil. Otherwise the segment's last write failed, and ifSaved closes the
// segment's stream.
func (s *segment) ifSaved(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	s.Writer.MarkBroken() // the failed write may have been committed
	s.abandon(ctx, "the worker lost its store")
	if spool.CodeOf(err) == spool.Fenced {
		return nil
	}
	return err
}

// abandon closes the stream without an entry in the record. The next worker writes the segment's end.
func (s *segment) abandon(ctx context.Context, reason string) {
	s.Writer.Close(ctx, wire.ItemRunError, wire.StreamFailed{Status: wire.SegmentLost, Error: reason})
}
