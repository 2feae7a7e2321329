package segment

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/active"
	"github.com/spoolhq/spool/store"
)

// trusted is how long a worker trusts its lease, counted from the moment when it sent the renewal that the store has
// confirmed last. The rest, a third of the lease, is the margin: for clocks that differ in speed, and for the way of a
// request that leaves right behind a check.
func trusted(lease time.Duration) time.Duration { return lease * 2 / 3 }

// lease is what a worker knows of its lease without the store.
//
// It is the one exception to the rule that decisions use the store's time: a worker that was paused does not know it,
// and a question to the store before each call would cost as much as the call's own commit. So it compares durations
// of this process's clock, and never points in time of two machines.
type lease struct {
	sent   atomic.Pointer[time.Time]
	asking sync.Mutex // held while the store is asked whether the worker still has the lease
}

// confirm notes that the store has confirmed a renewal that was sent at the given time.
func (l *lease) confirm(sent time.Time) { l.sent.Store(&sent) }

// holds reports whether the lease certainly lasts, by a margin.
//
// The monotonic clock counts the time for which a process was stopped, and no change of the machine's time. On some
// systems it stands still while the machine sleeps, when the wall clock goes on. So the longer time of both counts: a
// wall clock that was put forward costs one question to the store, and one that was put back changes nothing.
func (l *lease) holds(length time.Duration) bool {
	sent, now := *l.sent.Load(), time.Now()
	return max(now.Sub(sent), now.Round(0).Sub(sent.Round(0))) < trusted(length)
}

// Check returns an error if another worker may have the run, or a stop of it was accepted while this worker could
// not notice it. It is called before each attempt of each tool call. It asks the store only if the lease is about to
// lapse, and then renews it. If the worker has lost the run, Check ends the segment.
func (s *segment) Check(ctx context.Context) error {
	if err := ctx.Err(); err != nil { // this worker may have ended the run since
		return err
	}
	if s.lease.holds(s.runner.Rules.Lease) {
		return nil
	}
	s.lease.asking.Lock()
	defer s.lease.asking.Unlock()
	for !s.lease.holds(s.runner.Rules.Lease) { // the worker may be paused again while it asks
		if err := ctx.Err(); err != nil {
			return err
		}
		cause := s.regain(ctx)
		switch {
		case cause == nil:
			continue
		case ctx.Err() != nil:
			return ctx.Err()
		case s.end != nil:
			s.end(cause)
		}
		return &spool.Error{
			Code: spool.Unavailable, Message: "the call was not made: its worker may have lost the run", Err: cause,
		}
	}
	return nil
}

// regain renews a lease that may have lapsed. It returns the cause with which the segment has to end if it can't.
func (s *segment) regain(ctx context.Context) error {
	if s.end == nil { // a look has no lease
		return active.ErrLapsed
	}
	err := s.renew(ctx)
	if err == nil || errors.Is(err, active.ErrLost) || errors.Is(err, active.ErrStopped) {
		return err
	}
	return active.ErrLapsed
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
		case errors.Is(err, active.ErrLost), errors.Is(err, active.ErrStopped):
			cancel(err)
			return
		case !s.lease.holds(s.runner.Rules.Lease):
			cancel(active.ErrLapsed)
			return
		case ctx.Err() == nil:
			s.runner.Concerning(s.Key, s.RunID).WarnContext(ctx, "renew lease", "error", err)
		}
	}
}

// renew renews the lease. It returns active.ErrLost if another worker has the run, and active.ErrStopped if the run was
// stopped: a stop that is accepted after the lease has lapsed does not wait for this worker, which must not take the
// lease back and call a tool.
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
		return active.ErrLost
	case err != nil:
		return err
	case stopped:
		return active.ErrStopped
	}
	s.lease.confirm(sent)
	return nil
}
