package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/order"
	"github.com/spoolhq/spool/engine/internal/publish"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/registry"
	"github.com/spoolhq/spool/engine/internal/slots"
	"github.com/spoolhq/spool/engine/internal/stream"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/internal/chanlock"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// segment is one execution of a run by a worker, from the claim to the end of its stream.
type segment struct {
	runner *Runner
	publish.Segment

	main *loop // the loop of the dispatched run
	// configured is the agent of the run's revision before the run narrows it. Nil: the process lacks it.
	configured *registry.Agent
	noAgent    error // why the agent of the run's revision cannot be used, or nil
	// messages are those of the thread, if the start of the run has created it. Nil: they have to be read.
	messages []spool.Message

	lease lease
	// end ends the segment's work with a cause. Nil: the segment has no lease, and only looks at a pending call.
	end context.CancelCauseFunc

	slot      *slots.Slot     // the worker's slot; nil for none
	isolation *isolationClaim // held until an isolated run has saved a step
	overTime  atomic.Bool     // the run has reached the wall time limit of all runs
	// hasArtifacts says that the thread has artifacts.
	hasArtifacts atomic.Bool

	budgeted    bool   // whether the run has a budget
	budgetFreed signal // sent when some of the budget may be free again

	begins      chanlock.Lock // held while a nested run begins
	nestedMu    sync.Mutex
	nestedSlots map[int]chan struct{} // limit the active nested runs, by depth
}

// The causes with which a segment's context ends, besides the worker's own.
var (
	errStopped = fmt.Errorf("the run was stopped: %w", spool.ErrStopped)
	errLost    = errors.New("another worker has the lease")
	errLapsed  = errors.New("the lease could not be renewed")
	// errOutOfTime ends a run whose time budget is exhausted.
	errOutOfTime = fmt.Errorf("the run has had its time: %w", spool.ErrStopped)
)

// saveTimeout bounds a write that continues after the segment's context has ended.
const saveTimeout = 30 * time.Second

// newSegment returns the segment of a run that was leased by a request sent at the given time. Seq is the seq of the
// record's last entry. Agent is nil if the process settles a run whose agent it lacks.
func (r *Runner) newSegment(t wire.Thread, run store.RunRow, seq int64, agent *registry.Agent, sent time.Time) *segment {
	s := &segment{
		runner: r, begins: chanlock.New(),
		Segment: publish.Segment{
			Key: t.Key(), Fence: t.Fence, RunID: run.ID, Made: t.CreatedAt,
			Writer: stream.New(r.Streaming, store.StreamKey{Thread: t.Key(), ID: run.Stream()}, t.Fence, seq),
		},
	}
	s.lease.confirm(sent)
	s.main, s.budgeted = newLoop(s, nil, agent, r.Registry.Model(run.ModelInUse(), agent), run), run.Allowance != nil
	return s
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
	defer s.runner.Publisher.Add(&s.Segment)()
	s.Writer.Open(ctx, wire.StreamStarted{
		ThreadID: s.Key.ID, RunID: s.RunID, StreamID: s.Writer.ID(), Segment: s.main.run.Segments,
	}, func() { s.runner.Announce(s.Key, false) }) // readers of the claim's entry wait for the stream's first item
	if !s.main.run.StopAt.IsZero() { // an earlier worker died before it noticed the stop
		cancel(errStopped)
	}
	watchers.Go(func() { s.beat(ctx, cancel) })
	watchers.Go(func() { s.watchStop(ctx, cancel) })
	defer s.limitTime(cancel)()

	err := s.noAgent
	if err == nil {
		err = s.resolveTools(ctx)
	}
	if err == nil {
		err = s.lookForArtifacts(ctx)
	}
	if err == nil {
		err = s.main.advance(ctx)
	}
	switch exitOf(err, context.Cause(ctx), worker.Err() != nil) {
	case exitDone:
		return nil
	case exitLost:
		// Another worker has the lease and has written this segment's end.
		s.abandon(ctx, "another worker took the run over")
		return nil
	case exitLapsed:
		return s.ifSaved(ctx, &spool.Error{Code: spool.Unavailable, Message: errLapsed.Error(), Err: err})
	case exitStoreFailed:
		return s.ifSaved(ctx, err)
	case exitStopped:
		return s.ifSaved(ctx, s.main.stopped(ctx, err))
	case exitOutOfTime:
		return s.ifSaved(ctx, s.main.outOfTime(ctx, err))
	case exitHandBack:
		return s.ifSaved(ctx, s.handBack(ctx, err))
	default:
		return s.ifSaved(ctx, s.failed(ctx, err))
	}
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

// storeError marks an error of the store, as opposed to one of the model.
type storeError struct{ error }

func (s storeError) Unwrap() error { return s.error }

func isStoreError(err error) bool {
	var s storeError
	return errors.As(err, &s)
}

// update runs a transition that adds nothing to the stream, under the segment's lease, even after ctx
// has ended. It refuses a run that has ended, because the segment no longer owns it.
func (s *segment) update(ctx context.Context, fn func(tx *thread.Tx) error) error {
	return s.transact(ctx, nil, fn)
}

// commit does the same as update, for a transition that adds items or entries to the stream.
func (s *segment) commit(ctx context.Context, fn func(tx *thread.Tx) error) error {
	return s.Writer.Commit(ctx, func(list *order.List) error { return s.transact(ctx, list, fn) })
}

func (s *segment) transact(ctx context.Context, list *order.List, fn func(tx *thread.Tx) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	var follow thread.Follow
	var isolated bool
	err := s.runner.Store.Update(ctx, s.Key, s.Fence, func(db store.Tx) error {
		tx, err := thread.Open(db, s.runner.Rules)
		if err != nil {
			return err
		}
		if !s.Owns(tx.Thread) || tx.Run.State.Terminal() {
			return store.ErrFenced
		}
		s.Writer.Learn(tx.Thread.LastSeq)
		tx.SetList(list)
		err = fn(tx)
		follow, isolated = tx.Follow, tx.Run.Isolated
		return err
	})
	if err != nil {
		return storeError{err}
	}
	if !isolated {
		s.isolation.release()
	}
	if follow.Jobs || !follow.Unseen {
		s.runner.Announce(s.Key, follow.Jobs)
	}
	return nil
}

// beat renews the lease every third of its duration. It cancels the segment when another worker has
// the lease, the run was stopped, or it could not renew the lease in time.
func (s *segment) beat(ctx context.Context, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(s.runner.Rules.Lease / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := s.renew(ctx)
		switch {
		case err == nil:
		case errors.Is(err, errLost), errors.Is(err, errStopped):
			cancel(err)
			return
		case !s.lease.holds(s.runner.Rules.Lease):
			cancel(errLapsed)
			return
		case ctx.Err() == nil:
			s.runner.Concerning(s.Key, s.RunID).WarnContext(ctx, "renew lease", "error", err)
		}
	}
}

// renew renews the lease. It returns errLost if another worker has the run, and errStopped if the run was stopped: a
// stop that is accepted after the lease has lapsed does not wait for this worker, which must not take the lease back
// and call a tool.
func (s *segment) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.runner.Rules.Lease/3)
	defer cancel()
	sent, stopped := time.Now(), false
	err := s.runner.Store.Update(ctx, s.Key, s.Fence, func(tx store.Tx) error {
		thread, err := tx.Thread()
		if err != nil {
			return err
		}
		if !s.Owns(thread) || !thread.State.Active() { // without a lease, a run can end and keep its fence
			return store.ErrFenced
		}
		run, err := store.FindRun(tx, thread.RunID)
		if err != nil {
			return err
		}
		stopped = !run.StopAt.IsZero() && run.Ending == nil // with an ending, there are no calls, and the hook goes on
		thread.LeaseUntil = tx.Now().Add(s.runner.Rules.Lease)
		return tx.Write(store.Changes{Thread: &thread})
	})
	switch {
	case spool.CodeOf(err) == spool.Fenced:
		return errLost
	case err != nil:
		return err
	case stopped:
		return errStopped
	}
	s.lease.confirm(sent)
	return nil
}

// watchStop waits for a stop of the run. A wake-up tells it; a poll finds stops whose wake was lost.
func (s *segment) watchStop(ctx context.Context, cancel context.CancelCauseFunc) {
	woken := make(chan struct{}, 1)
	unsubscribe, err := s.runner.Live.Subscribe(ctx, s.Key, func(kind store.WakeKind, _ []byte) {
		if kind == store.WakeStop || kind == store.WakeEvent {
			select {
			case woken <- struct{}{}:
			default:
			}
		}
	})
	if err == nil {
		defer unsubscribe()
	}
	tick := time.NewTicker(s.runner.StopPoll)
	defer tick.Stop()
	for {
		stop, lost := s.stopAsked(ctx)
		switch {
		case stop:
			cancel(errStopped)
			return
		case lost:
			cancel(errLost)
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-woken:
		case <-tick.C:
		}
	}
}

func (s *segment) stopAsked(ctx context.Context) (stop, lost bool) {
	err := s.runner.Store.View(ctx, s.Key, func(v store.View) error {
		thread, err := v.Thread()
		if err != nil {
			return err
		}
		if !s.Owns(thread) {
			lost = true
			return nil
		}
		s.Writer.Learn(thread.LastSeq)
		run, err := store.FindRun(v, thread.RunID)
		stop = err == nil && !run.StopAt.IsZero()
		return err
	})
	return stop, lost || record.Missing(err)
}
