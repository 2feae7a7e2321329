package agent

import (
	"context"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/chat"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/registry"
	"github.com/spoolhq/spool/engine/internal/thread"
)

// execute advances a nested run until it ends, waits, or cannot continue in this segment. When it
// returns, it has written all its data.
func (l *loop) execute(ctx context.Context) error {
	err := l.advance(ctx)
	switch nestedExitOf(err, context.Cause(ctx)) {
	case exitStopped:
		return l.stopped(ctx, err)
	case exitOutOfTime:
		return l.outOfTime(ctx, err)
	case exitLost:
		return ctx.Err()
	case exitHandBack:
		return l.handBack(ctx, err)
	case exitFailed:
		return l.fail(ctx, err)
	default:
		return err
	}
}

// errStepAbandoned ends the nested runs of a step that failed.
var errStepAbandoned = errors.New("the step was given up")

// handBack gives up the work on a nested run because the worker shuts down. This costs no attempt.
func (l *loop) handBack(ctx context.Context, cause error) error {
	l.events.EndBlock(ctx)
	err := l.update(ctx, func(tx *thread.Tx) error {
		if err := chargeCutOff(tx, cause, spool.OutcomeAborted, true); err != nil {
			return err
		}
		if err := voidUnrun(tx, l.plan); err != nil {
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
// [attemptError], and the segment has to end. After a permanent error or the last attempt, the nested
// run ends, and the parent run continues with that result.
func (l *loop) fail(ctx context.Context, cause error) error {
	l.s.runner.Concerning(l.s.Key, l.run.ID).WarnContext(ctx, "nested run step failed",
		"step", l.run.Steps+1, "attempt", l.run.Attempts+1, "error", cause)
	var next attempt
	err := l.commit(ctx, func(tx *thread.Tx) error {
		next = l.failedAttempt(ctx, tx.Run, cause)
		if err := chargeCutOff(tx, cause, spool.OutcomeError, next.again && !tx.Stopping()); err != nil {
			return err
		}
		tx.Run.Attempts, tx.Run.Fallback = next.counted, next.fallback
		switch {
		case tx.Stopping(): // the stop came between two polls
			return thread.FinishNested(tx, spool.Ending{State: spool.Cancelled, Reason: spool.StopCancelled}, "")
		case !next.again:
			return l.finishIn(tx, l.givenUp(next.reason))
		}
		return tx.Put()
	})
	switch {
	case err != nil:
		return err
	case l.run.State.Terminal():
		return nil
	}
	if c, ok := errors.AsType[*chat.CutOffError](cause); ok { // the ledger already has its usage
		cause = c.Err
	}
	return &attemptError{attempts: next.number, err: cause}
}

// started announces a nested run. Each stream in which the run is active gets one announcement.
func (l *loop) started(ctx context.Context) {
	l.events.Item(ctx, spool.ItemSubagentStarted, spool.SubagentStarted{
		SubagentID: l.run.AgentID(), Name: l.run.Agent, Depth: l.run.Depth, ParentID: l.run.ParentID, CallID: l.run.CallID,
	})
}

// finishedBefore announces the end of a nested run whose worker died before it announced that end.
func (l *loop) finishedBefore(ctx context.Context) {
	l.events.Item(ctx, spool.ItemSubagentFinished, thread.SubagentFinished(l.run))
}

// finishIn ends the loop's run in the transaction of its last step.
func (l *runState) finishIn(tx *thread.Tx, ending spool.Ending) error {
	if l.parent == nil {
		return thread.Finish(tx, ending)
	}
	return thread.FinishNested(tx, ending, registry.Shorten(l.answer, l.s.limits().ResultCap))
}

// afterFinish does the work that has to follow the commit of finishIn.
func (l *runState) afterFinish(ctx context.Context) error {
	if l.parent == nil {
		return l.s.afterFinish(ctx)
	}
	return nil
}

// finish ends the loop's run between two steps.
func (l *loop) finish(ctx context.Context, ending spool.Ending) error {
	if l.parent == nil {
		return l.s.finish(ctx, ending)
	}
	if err := l.resume(ctx); err != nil {
		return err
	}
	return l.commit(ctx, func(tx *thread.Tx) error {
		if tx.Stopping() {
			ending = spool.Ending{State: spool.Cancelled, Reason: spool.StopCancelled}
		}
		return l.finishIn(tx, ending)
	})
}

// resume sets a waiting nested run to RUNNING, so that it can end without another step.
func (l *runState) resume(ctx context.Context) error {
	if l.parent == nil || l.run.State != spool.WaitingForInput {
		return nil
	}
	return l.update(ctx, thread.ResumeNested)
}

// stopNested stops the nested runs of the planned calls, and keeps the results of their tools.
func (l *loop) stopNested(ctx context.Context) error {
	return l.finishNested(ctx, func(child *loop) error { return child.stopped(ctx, errStopped) })
}

// finishNested calls end for each nested run of the planned calls that has not ended.
func (l *loop) finishNested(ctx context.Context, end func(child *loop) error) error {
	for _, p := range l.plan {
		if !p.spawns || p.result != nil {
			continue
		}
		if p.nested == nil {
			var run spool.RunRow
			err := l.s.runner.Store.View(ctx, l.s.Key, func(v spool.View) (err error) {
				run, err = spool.FindRun(v, nestedID(l.run.ID, p.call.ID))
				return err
			})
			switch {
			case record.Missing(err), err == nil && !p.spawned(run):
				continue
			case err != nil:
				return storeError{err}
			}
			p.nested = l.child(run)
			p.nested.started(ctx)
			if run.State.Terminal() {
				p.nested.finishedBefore(ctx)
			}
		}
		if p.nested.run.State.Terminal() {
			continue
		}
		if err := end(p.nested); err != nil {
			return err
		}
	}
	return nil
}

// outOfTimeNested ends the active nested runs of the planned calls because the time is up. Waiting
// nested runs keep waiting if the dispatched run parks for more time.
func (l *loop) outOfTimeNested(ctx context.Context, cause error) error {
	err := l.finishNested(ctx, func(child *loop) error {
		if child.run.State == spool.WaitingForInput && l.parksForBudget(spool.StopTimeBudget) {
			return nil
		}
		return child.outOfTime(ctx, cause)
	})
	if err != nil {
		return err
	}
	for _, p := range l.plan {
		if p.nested == nil || p.result != nil {
			continue
		}
		switch run := p.nested.run; run.State {
		case spool.Completed, spool.Failed:
			p.give(nestedResult(run))
		case spool.WaitingForInput:
			p.wait()
		default: // the whole tree was stopped
		}
	}
	return nil
}
