package segment

import (
	"context"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/active"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
)

// AfterStop wakes the worker of a stopped run, or finishes a run that no worker has.
func (r *Runner) AfterStop(ctx context.Context, key spool.ThreadKey, stopped thread.Stopped) error {
	if stopped.Worker {
		r.Live.Wake(key, store.WakeStop, nil)
	}
	r.CloseLost(ctx, key, stopped.Lost)
	if stopped.Unsettled == nil {
		return nil
	}
	err := r.unsettled(stopped.Unsettled).Settle(ctx)
	if spool.CodeOf(err) == spool.Fenced { // another process settles it
		return nil
	}
	return err
}

// watchStop waits for a stop of the run. A wake-up announces it; a poll finds stops whose wake was lost.
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
			cancel(active.ErrStopped)
			return
		case lost:
			cancel(active.ErrLost)
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
