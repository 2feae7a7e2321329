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

// carry advances a nested run until it ends, waits, or cannot go on in this segment. What it
// then has to write of its own is written when carry returns.
func (l *loop) carry(ctx context.Context) error {
	err := l.advance(ctx)
	var again *attemptError
	switch cause := context.Cause(ctx); {
	case err == nil:
		return nil
	case isStoreError(err) && ctx.Err() == nil, spool.CodeOf(err) == spool.Fenced:
		return err
	case errors.Is(cause, errStopped):
		return l.stopped(ctx, err)
	case errors.Is(cause, errOutOfTime):
		return l.outOfTime(ctx, err)
	case errors.Is(cause, errLost), errors.Is(cause, errLapsed), errors.Is(cause, errSiblings):
		return ctx.Err() // it may not write, or its store fails
	case ctx.Err() != nil:
		return l.leave(ctx, err)
	case errors.As(err, &again): // of a run that this one has spawned
		return err
	default:
		return l.fail(ctx, err)
	}
}

// errSiblings ends the nested runs of a step that has failed around them.
var errSiblings = errors.New("the step was given up")

// leave gives up the work on a nested run whose worker shuts down. It costs no attempt.
func (l *loop) leave(ctx context.Context, cause error) error {
	l.events.EndBlock(ctx)
	err := l.update(ctx, func(tx *thread.Tx) error {
		if err := recordCut(tx, cause, spool.OutcomeAborted); err != nil {
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

// fail ends an attempt of a nested run whose step has failed: with another one, for which
// the segment has to end, or, for an error that will not pass and after the last attempt,
// with the nested run. The run above reads of that, and goes on.
func (l *loop) fail(ctx context.Context, cause error) error {
	l.s.runner.Concerning(l.s.Key, l.run.ID).WarnContext(ctx, "nested run step failed",
		"step", l.run.Steps+1, "attempt", l.run.Attempts+1, "error", cause)
	final := permanent(cause)
	err := l.commit(ctx, func(tx *thread.Tx) error {
		if err := recordCut(tx, cause, spool.OutcomeError); err != nil {
			return err
		}
		tx.Run.Attempts++
		switch {
		case tx.Stopping(): // it was not noticed before
			return thread.FinishNested(tx, spool.Ending{State: spool.Cancelled, Reason: spool.StopCancelled}, "")
		case final || tx.Run.Attempts >= l.s.runner.Rules.Retry.Attempts:
			return thread.FinishNested(tx, spool.Ending{State: spool.Failed, Reason: spool.StopFailed, Error: failureText(cause)}, "")
		}
		return tx.Put()
	})
	switch {
	case err != nil:
		return err
	case l.run.State.Terminal():
		return nil
	}
	if c, ok := errors.AsType[*chat.CutOffError](cause); ok { // which is in the ledger already
		cause = c.Err
	}
	return &attemptError{attempts: l.run.Attempts, err: cause}
}

// started announces a nested run, once in each stream that it is at work in.
func (l *loop) started(ctx context.Context) {
	l.events.Item(ctx, spool.ItemSubagentStarted, spool.SubagentStarted{
		SubagentID: l.run.AgentID(), Name: l.run.Agent, Depth: l.run.Depth,
	})
}

// finishedBefore announces the end of a nested run whose worker died before it could.
func (l *loop) finishedBefore(ctx context.Context) {
	l.events.Item(ctx, spool.ItemSubagentFinished, thread.SubagentFinished(l.run))
}

// conclusion ends the loop's run in the transaction of its last step. See
// [segment.conclusion].
func (l *runState) conclusion(tx *thread.Tx, ending spool.Ending) error {
	if l.parent == nil {
		return thread.Conclude(tx, ending)
	}
	return thread.FinishNested(tx, ending, registry.Shorten(l.answer, l.s.limits().ResultCap))
}

// concluded sees to what follows a conclusion.
func (l *runState) concluded(ctx context.Context) error {
	if l.parent == nil {
		return l.s.concluded(ctx)
	}
	return nil
}

// conclude ends the loop's run between two steps.
func (l *loop) conclude(ctx context.Context, ending spool.Ending) error {
	if l.parent == nil {
		return l.s.conclude(ctx, ending)
	}
	if err := l.takeUp(ctx); err != nil {
		return err
	}
	return l.commit(ctx, func(tx *thread.Tx) error {
		if tx.Stopping() {
			ending = spool.Ending{State: spool.Cancelled, Reason: spool.StopCancelled}
		}
		return l.conclusion(tx, ending)
	})
}

// takeUp is the transition of a nested run that has waited, and ends without another step.
func (l *runState) takeUp(ctx context.Context) error {
	if l.parent == nil || l.run.State != spool.WaitingForInput {
		return nil
	}
	return l.update(ctx, thread.Resume)
}

// stopNested stops those of the nested runs in hand that are still to be stopped, so that
// what their tools have done is kept.
func (l *loop) stopNested(ctx context.Context) error {
	return l.windUp(ctx, func(child *loop) error { return child.stopped(ctx, errStopped) })
}

// windUp has an end made of the nested runs in hand that have not come to theirs.
func (l *loop) windUp(ctx context.Context, end func(child *loop) error) error {
	for _, p := range l.plan {
		if !p.spawns || p.result != nil {
			continue
		}
		if p.nested == nil {
			var run spool.RunRow
			err := l.s.runner.Store.View(ctx, l.s.Key, func(v spool.View) (err error) {
				run, err = v.Run(nestedID(l.run.ID, p.call.ID))
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

// outOfTimeNested has those of the nested runs in hand that are at work notice that there is
// no more time, as they would by themselves. Those that wait go on doing so where the run
// waits for more time too.
func (l *loop) outOfTimeNested(ctx context.Context, cause error) error {
	err := l.windUp(ctx, func(child *loop) error {
		if child.run.State == spool.WaitingForInput && l.parksBudget(spool.StopTimeBudget) {
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
			p.result, p.waits = told(run), false
		case spool.WaitingForInput:
			p.waits = true
		default: // stopped, with the whole tree
		}
	}
	return nil
}
