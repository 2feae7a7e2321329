package loop

import (
	"context"
	"errors"

	"github.com/spoolhq/spool/engine/internal/active"
	"github.com/spoolhq/spool/engine/internal/calls"
	"github.com/spoolhq/spool/engine/internal/chat"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// execute advances a nested run until it ends, waits, or cannot continue in this segment. When it
// returns, it has written all its data.
func (l *Loop) execute(ctx context.Context) error {
	err := l.Advance(ctx)
	switch nestedExitOf(err, context.Cause(ctx)) {
	case ExitStopped:
		return l.Stopped(ctx, err)
	case ExitOutOfTime:
		return l.OutOfTime(ctx, err)
	case ExitLost:
		return ctx.Err()
	case ExitHandBack:
		return l.handBack(ctx, err)
	case ExitFailed:
		return l.fail(ctx, err)
	default:
		return err
	}
}

// Abandon charges an interrupted answer, which the run asks for again, and voids the effects of calls that were not
// made.
func (l *Loop) Abandon(tx *thread.Tx, cause error) error {
	if err := chargeCutOff(tx, cause, wire.OutcomeAborted, true); err != nil {
		return err
	}
	return l.calls.VoidUnmade(tx)
}

// handBack gives up the work on a nested run because the worker shuts down. This costs no attempt.
func (l *Loop) handBack(ctx context.Context, cause error) error {
	l.run.Events().EndBlock(ctx)
	err := l.run.Update(ctx, func(tx *thread.Tx) error {
		if err := l.Abandon(tx, cause); err != nil {
			return err
		}
		return tx.Put()
	})
	if err != nil {
		return err
	}
	return ctx.Err()
}

// fail ends a failed attempt of a nested run. If the run may have another attempt, fail returns an
// [calls.AttemptError], and the segment has to end. After a permanent error or the last attempt, the nested
// run ends, and the parent run continues with that result.
func (l *Loop) fail(ctx context.Context, cause error) error {
	l.run.Log().WarnContext(ctx, "nested run step failed",
		"step", l.run.Row().Steps+1, "attempt", l.run.Row().Attempts+1, "error", cause)
	var next attempt
	err := l.run.Commit(ctx, func(tx *thread.Tx) error {
		next = l.failedAttempt(ctx, tx.Run, cause)
		if err := chargeCutOff(tx, cause, wire.OutcomeError, next.again && !tx.Stopping()); err != nil {
			return err
		}
		tx.Run.Attempts, tx.Run.Fallback = next.counted, next.fallback
		switch {
		case tx.Stopping(): // the stop came between two polls
			return thread.FinishNested(tx, thread.Cancelled, "")
		case !next.again:
			return l.run.Finish(tx, l.failedEnding(next.reason))
		}
		return tx.Put()
	})
	switch {
	case err != nil:
		return err
	case l.run.Row().State.Terminal():
		return nil
	}
	if c, ok := errors.AsType[*chat.CutOffError](cause); ok { // the ledger already has its usage
		cause = c.Err
	}
	return &calls.AttemptError{Attempts: next.number, Err: cause}
}

// started announces a nested run. Each stream in which the run is active gets one announcement.
func (l *Loop) started(ctx context.Context) {
	l.run.Events().Item(ctx, wire.ItemSubagentStarted, wire.SubagentStarted{
		SubagentID: l.run.Row().AgentID(), Name: l.run.Row().Agent, Depth: l.run.Row().Depth, ParentID: l.run.Row().ParentID,
		CallID: l.run.Row().CallID,
	})
}

// finishedBefore announces the end of a nested run whose worker died before it announced that end.
func (l *Loop) finishedBefore(ctx context.Context) {
	l.run.Events().Item(ctx, wire.ItemSubagentFinished, thread.SubagentFinished(l.run.Row()))
}

// finish ends the loop's run between two steps.
func (l *Loop) finish(ctx context.Context, ending store.Ending) error {
	if err := l.run.Revive(ctx); err != nil {
		return err
	}
	return l.run.Commit(ctx, func(tx *thread.Tx) error { return l.run.Finish(tx, ending) })
}

// stopNested stops the nested runs of the planned calls, and keeps the results of their tools.
func (l *Loop) stopNested(ctx context.Context) error {
	return l.finishNested(ctx, func(child *Loop) error { return child.Stopped(ctx, active.ErrStopped) })
}

// finishNested calls end for each nested run of the planned calls that has not ended.
func (l *Loop) finishNested(ctx context.Context, end func(child *Loop) error) error {
	for _, p := range l.calls.Spawning() {
		child, found, err := l.nestedOf(ctx, p)
		switch {
		case err != nil:
			return err
		case !found || child.run.Row().State.Terminal():
			continue
		}
		if err := end(child); err != nil {
			return err
		}
	}
	return nil
}

// nestedOf returns the loop of the nested run of a call. It reports false if the call has none. It announces a run that
// this segment has not announced.
func (l *Loop) nestedOf(ctx context.Context, p *calls.Call) (child *Loop, found bool, err error) {
	if child = l.nested[p]; child != nil {
		return child, true, nil
	}
	var run store.RunRow
	err = l.run.View(ctx, func(v store.View) (err error) {
		run, err = store.FindRun(v, nestedID(l.run.Row().ID, p.ToolCall().ID))
		return err
	})
	switch {
	case record.Missing(err), err == nil && !spawned(run, p.ToolCall()):
		return nil, false, nil
	case err != nil:
		return nil, false, err
	}
	child = l.child(run)
	l.nested[p] = child
	child.started(ctx)
	if run.State.Terminal() {
		child.finishedBefore(ctx)
	}
	return child, true, nil
}

// outOfTimeNested ends the active nested runs of the planned calls because the time is up. Waiting
// nested runs keep waiting if the dispatched run parks for more time.
func (l *Loop) outOfTimeNested(ctx context.Context, cause error) error {
	err := l.finishNested(ctx, func(child *Loop) error {
		if child.run.Row().State == wire.WaitingForInput && l.run.ParksForBudget(wire.StopTimeBudget) {
			return nil
		}
		return child.OutOfTime(ctx, cause)
	})
	if err != nil {
		return err
	}
	for _, p := range l.calls.Spawning() {
		if child := l.nested[p]; child != nil {
			switch run := child.run.Row(); run.State {
			case wire.Completed, wire.Failed:
				p.Finish(nestedResult(run))
			case wire.WaitingForInput:
				p.Wait()
			default: // the whole tree was stopped
			}
		}
	}
	return nil
}
