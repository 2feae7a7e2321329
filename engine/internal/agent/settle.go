package agent

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/thread"
)

const (
	settleTries = 3
	// settleWait is the time between the tries, times their number.
	settleWait = 200 * time.Millisecond
	// settleClaim is how long a settlement may take, and a late one before another may
	// begin.
	settleClaim = 10 * time.Minute
	// settleRetry is when a failed settlement is tried again from the queue.
	settleRetry = time.Minute
)

// conclude ends a run between two steps.
func (s *segment) conclude(ctx context.Context, ending spool.Ending) error {
	err := s.main.commit(ctx, func(tx *thread.Tx) error {
		if tx.Stopping() {
			ending = spool.Ending{State: spool.Cancelled, Reason: spool.StopCancelled}
		}
		return thread.Conclude(tx, ending)
	})
	if err != nil {
		return err
	}
	return s.concluded(ctx)
}

// concluded sees to what follows a conclusion: the settle hook.
func (s *segment) concluded(ctx context.Context) error {
	if s.main.run.Ending != nil {
		return s.settle(ctx)
	}
	return nil
}

// settle runs the hook and writes the end state. A hook that fails turns completion into
// failure, and runs again from the queue.
func (s *segment) settle(ctx context.Context) error {
	ending := *s.main.run.Ending
	open := !ending.Closed
	hookErr := s.callSettle(ctx, ending)
	if hookErr != nil && ending.State == spool.Completed {
		ending = spool.Ending{State: spool.Failed, Reason: spool.StopFailed, Error: "settle: " + spool.MessageOf(hookErr)}
	}
	by := s.main.update
	if open {
		by = s.main.commit
	}
	return by(ctx, func(tx *thread.Tx) error { return thread.Settle(tx, ending, hookErr == nil) })
}

// callSettle calls the hook under the lease, which it renews by itself: the segment may be
// over but for this.
func (s *segment) callSettle(ctx context.Context, ending spool.Ending) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleClaim)
	defer cancel()
	ctx, lose := context.WithCancelCause(ctx)
	var beat sync.WaitGroup
	beat.Go(func() { s.beat(ctx, lose) })
	defer beat.Wait()
	defer lose(nil)
	return s.runner.callSettle(ctx, settlement(s.main.run, ending))
}

func settlement(r spool.Run, ending spool.Ending) spool.Settlement {
	return spool.Settlement{
		Thread: spool.ThreadKey{Tenant: r.Tenant, ID: r.ThreadID}, RunID: r.ID, Agent: r.Agent,
		State: ending.State, StopReason: ending.Reason, Error: ending.Error, Steps: r.Steps, Usage: r.TokenCount, Costs: r.Costs(),
		HostState: r.HostState,
	}
}

// callSettle calls the hook until it returns no error, three times at the most.
func (r *Runner) callSettle(ctx context.Context, s spool.Settlement) (err error) {
	for try := range settleTries {
		if err = r.trySettle(ctx, s); err == nil {
			return nil
		}
		r.Concerning(s.Thread, s.RunID).WarnContext(ctx, "settle run", "error", err)
		if try < settleTries-1 {
			pause(ctx, settleWait*time.Duration(try+1))
		}
	}
	return err
}

func (r *Runner) trySettle(ctx context.Context, s spool.Settlement) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the settle hook panicked: %v\n%s", p, debug.Stack())
		}
	}()
	return r.OnSettle(ctx, s)
}

// settleAgain settles a run that has ended without.
func (r *Runner) settleAgain(ctx context.Context, j spool.Job) (spool.JobResult, error) {
	if r.OnSettle == nil {
		return spool.JobResult{Accepted: true, Reason: "there is no settle hook"}, nil
	}
	var run spool.Run
	var busy time.Duration
	err := r.Store.Update(ctx, j.Thread(), 0, func(tx spool.Tx) (err error) {
		busy = 0
		if run, err = tx.Run(j.RunID); err != nil {
			return err
		}
		switch {
		case !run.SettledAt.IsZero() || !run.State.Terminal():
			return thread.ErrUnchanged
		case tx.Now().Before(run.SettleClaim):
			busy = run.SettleClaim.Sub(tx.Now())
			return nil
		}
		run.SettleClaim = tx.Now().Add(settleClaim)
		return tx.UpdateRun(run)
	})
	switch {
	case record.Missing(err), errors.Is(err, thread.ErrUnchanged):
		return spool.JobResult{Accepted: true, Reason: "there is nothing to settle"}, nil
	case err != nil:
		return spool.JobResult{}, err
	case busy > 0:
		return spool.JobResult{Reason: "it is being settled", RetryAfter: busy}, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleClaim)
	defer cancel()
	hookErr := r.callSettle(ctx, settlement(run, spool.Ending{State: run.State, Reason: run.StopReason, Error: run.Error}))
	err = r.Store.Update(ctx, j.Thread(), 0, func(tx spool.Tx) error {
		run, err := tx.Run(j.RunID)
		if err != nil {
			return err
		}
		run.SettleClaim = time.Time{}
		if hookErr == nil {
			run.SettledAt = tx.Now()
		}
		return tx.UpdateRun(run)
	})
	switch {
	case err != nil:
		return spool.JobResult{}, err
	case hookErr != nil:
		return spool.JobResult{Reason: "the settle hook failed", RetryAfter: settleRetry}, nil
	}
	return spool.JobResult{Accepted: true}, nil
}

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
