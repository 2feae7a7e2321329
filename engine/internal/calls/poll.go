package calls

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/active"
	"github.com/spoolhq/spool/engine/internal/change"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// lookTimeout bounds a look at a pending call, and the cancellation of its work. A tool that takes longer is called
// by the run's next segment, without this bound.
const lookTimeout = 2 * time.Minute

// lookedAt is a pending call, with what is needed to call its tool.
type lookedAt struct {
	park   store.Park
	thread wire.Thread
	// runs are the dispatched run and the nested runs below it, down to the caller.
	runs []store.RunRow
	now  time.Time
	sent time.Time // when the store was asked, by the clock of this process
}

// Poller looks at pending calls, without a lease.
type Poller struct {
	*active.Host

	// Reopen returns the last of a chain of nested runs, in a segment without a lease. Each run has spawned the next. It
	// reports false if this process cannot make calls of the run. Sent is when the store was asked for them.
	Reopen func(ctx context.Context, t wire.Thread, runs []store.RunRow, sent time.Time) (_ *active.Run, can bool, _ error)
}

// pendingCall returns the call of a job. It reports false if the store has no such call.
func (r *Poller) pendingCall(
	ctx context.Context, j wire.Job, is func(p store.Park) bool,
) (l lookedAt, found bool, err error) {
	sent := time.Now()
	err = r.Store.View(ctx, j.Thread(), func(v store.View) (err error) {
		l = lookedAt{now: v.Now(), sent: sent}
		if l.thread, err = v.Thread(); err != nil {
			return err
		}
		parks, err := v.Parks(j.RunID)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(parks, is)
		if found = at >= 0; !found {
			return nil
		}
		l.park = parks[at]
		for id := l.park.CallerID(); id != ""; {
			run, err := store.FindRun(v, id)
			if err != nil {
				return err
			}
			l.runs = append(l.runs, run)
			id = run.ParentID
		}
		slices.Reverse(l.runs)
		return nil
	})
	if record.Missing(err) {
		return l, false, nil
	}
	return l, found, err
}

// Look looks at the pending call of a job. If the call is not pending any more, or the look
// fails, the run's next segment calls the tool. A look fails, too, if the worker was paused for long since it has read
// the call.
func (r *Poller) Look(ctx context.Context, j wire.Job) (wire.JobResult, error) {
	if _, err := r.Registry.ByName(j.Agent); err != nil {
		return wire.JobResult{}, err
	}
	l, found, err := r.pendingCall(ctx, j, func(p store.Park) bool {
		return p.State == wire.ParkPending && !p.Landed && !p.Pending.Ready && !p.Pending.NextAt.IsZero() &&
			thread.PollKey(p) == j.Key
	})
	switch {
	case err != nil:
		return wire.JobResult{}, err
	case !found:
		return wire.JobResult{Accepted: true, Reason: "the call is not pending"}, nil
	case l.now.Before(l.park.Pending.NextAt):
		return wire.JobResult{Reason: "it is too early to look at the call", RetryAfter: l.park.Pending.NextAt.Sub(l.now)},
			nil
	}
	var still *spool.PendingError
	if l.now.Before(l.park.Pending.Until) {
		if still, err = r.look(ctx, l); err != nil {
			return wire.JobResult{}, err
		}
	}
	_, err = change.Update(ctx, r.Threads, j.Thread(), func(tx *thread.Tx) (struct{}, error) {
		return struct{}{}, thread.Polled(tx, l.park, still)
	})
	if err != nil && !errors.Is(err, thread.ErrUnchanged) && !record.Missing(err) {
		return wire.JobResult{}, err
	}
	return wire.JobResult{Accepted: true}, nil
}

// look calls the tool of a pending call. It returns nil if the next segment has to do that.
func (r *Poller) look(ctx context.Context, at lookedAt) (*spool.PendingError, error) {
	p, can, err := r.planLook(ctx, at)
	if !can || err != nil {
		return nil, err
	}
	p.call.Looking = true
	err = bounded(ctx, func(ctx context.Context) error {
		_, err := run(ctx, p)
		return err
	})
	if ctx.Err() != nil { // the worker shuts down
		return nil, ctx.Err()
	}
	return pendingOf(err), nil
}

// pendingOf returns the error of a tool whose call is pending, or nil.
func pendingOf(err error) *spool.PendingError {
	still, ok := errors.AsType[*spool.PendingError](err)
	if ok && checkPending(still) == nil {
		return still
	}
	return nil
}

// bounded calls fn, and returns early if ctx ends or fn takes too long: then the call's result is lost.
func bounded(ctx context.Context, fn func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel() // not in the goroutine: a context that ends with fn would hide fn's result
	done := make(chan error, 1)
	go func() { done <- fn(ctx) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// planLook returns the call of a tool outside a segment. It reports false if this process cannot make it.
func (r *Poller) planLook(ctx context.Context, at lookedAt) (p *Call, can bool, err error) {
	run, can, err := r.Reopen(ctx, at.thread, at.runs, at.sent)
	if !can || err != nil {
		return nil, false, err
	}
	if _, known := run.Agent().Tool(at.park.ToolName); !known {
		return nil, false, nil
	}
	p = New(run).planPending(at.park, store.Effect{}, at.now)
	p.call.PublishFunc = nil
	return p, true, nil
}

// Cancel cancels the work of a call that is pending no more. It does so once, and again only after a crash.
func (r *Poller) Cancel(ctx context.Context, j wire.Job) (wire.JobResult, error) {
	if _, err := r.Registry.ByName(j.Agent); err != nil {
		return wire.JobResult{}, err
	}
	done := wire.JobResult{Accepted: true}
	l, found, err := r.pendingCall(ctx, j, func(p store.Park) bool {
		return p.Landed && p.Pending != nil && thread.CancelKey(p) == j.Key
	})
	if !found || err != nil {
		return done, err
	}
	p, can, err := r.planLook(ctx, l)
	if !can || p.tool.Cancel == nil || err != nil {
		return done, err
	}
	p.call.LeaseFunc = nil // the work has to be cancelled, whoever has the run
	err = bounded(ctx, func(ctx context.Context) error { return cancelWork(ctx, p) })
	if ctx.Err() != nil {
		return done, ctx.Err()
	}
	if err != nil {
		r.Concerning(j.Thread(), j.RunID).WarnContext(ctx, "the work of a call was not cancelled", "tool", p.call.Name,
			"error", err)
	}
	return done, nil
}

// cancelWork calls the tool's Cancel. It turns a panic into an error.
func cancelWork(ctx context.Context, p *Call) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New(panicked)
		}
	}()
	return p.tool.Cancel(ctx, p.call)
}
