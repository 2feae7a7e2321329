package engine

import (
	"context"
	"errors"

	"github.com/spoolhq/spool"
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
	err := l.update(ctx, func(h *held) error {
		if err := h.recordCut(cause, spool.OutcomeAborted); err != nil {
			return err
		}
		if err := h.voidUnrun(l.plan); err != nil {
			return err
		}
		return h.put()
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
	concerning(l.s.e.config.Log, l.s.key, l.run.ID).WarnContext(ctx, "nested run step failed",
		"step", l.run.Steps+1, "attempt", l.run.Attempts+1, "error", cause)
	final := permanent(cause)
	err := l.commit(ctx, func(h *held) error {
		if err := h.recordCut(cause, spool.OutcomeError); err != nil {
			return err
		}
		h.run.Attempts++
		switch {
		case !h.tree().run.StopAt.IsZero(): // it was not noticed before
			return h.finishNested(spool.Ending{State: spool.Cancelled, Reason: spool.StopCancelled}, "")
		case final || h.run.Attempts >= l.s.e.config.MaxAttempts:
			return h.finishNested(spool.Ending{State: spool.Failed, Reason: spool.StopFailed, Error: failureText(cause)}, "")
		}
		return h.put()
	})
	switch {
	case err != nil:
		return err
	case l.run.State.Terminal():
		return nil
	}
	if c, ok := errors.AsType[*cutOffError](cause); ok { // which is in the ledger already
		cause = c.err
	}
	return &attemptError{attempts: l.run.Attempts, err: cause}
}

// endNested is the transition of a nested run to an end state. Said is its last answer.
func (h *held) endNested(ending spool.Ending, said string) error {
	h.forgetStep()
	if err := h.closeCalls(cancelReason(ending)); err != nil {
		return err
	}
	if !h.run.State.CanBecome(ending.State) {
		return spool.Errorf(spool.Internal, "run %s cannot go from %s to %s", h.run.ID, h.run.State, ending.State)
	}
	h.run.State, h.run.StopReason, h.run.Error, h.run.EndedAt = ending.State, ending.Reason, ending.Error, h.now
	h.run.Allowance = nil // which is the whole tree's
	if ending.State == spool.Completed {
		h.run.Result = &spool.NestedResult{Text: said}
	}
	return h.put()
}

// finishNested is [held.endNested] for a nested run at work, whose end the stream has too.
func (h *held) finishNested(ending spool.Ending, text string) error {
	err := h.endNested(ending, text)
	if err == nil {
		h.item(spool.ItemSubagentFinished, subagentFinished(h.run))
	}
	return err
}

// closeTree ends the nested runs of a dispatched run that ends itself.
func (h *held) closeTree(ending spool.Ending) error {
	if h.run.Children == 0 {
		return nil
	}
	runs, err := h.Nested(h.run.ID)
	if err != nil {
		return err
	}
	if ending.State == spool.Completed { // none is at work then
		ending = spool.Ending{State: spool.Cancelled, Reason: spool.StopCancelled}
	}
	if ending.State == spool.Failed {
		ending.Error = "the run that it belongs to failed"
	}
	for _, run := range runs {
		if run.State.Terminal() {
			continue
		}
		nested := &held{Tx: h.Tx, random: h.random, thread: h.thread, run: run, root: h, now: h.now}
		if err := nested.endNested(ending, ""); err != nil {
			return err
		}
	}
	return nil
}

// inHand reports whether a step of the tree has a draft, the tools of which have run or may
// have.
func (h *held) inHand() (bool, error) {
	if h.run.Draft != nil || h.run.Children == 0 {
		return h.run.Draft != nil, nil
	}
	runs, err := h.Nested(h.run.ID)
	for _, run := range runs {
		if run.Draft != nil && !run.State.Terminal() {
			return true, nil
		}
	}
	return false, err
}

// started announces a nested run, once in each stream that it is at work in.
func (l *loop) started(ctx context.Context) {
	l.events.Item(ctx, spool.ItemSubagentStarted, spool.SubagentStarted{
		SubagentID: l.run.AgentID(), Name: l.run.Agent, Depth: l.run.Depth,
	})
}

func subagentFinished(run spool.Run) spool.SubagentFinished {
	end := spool.SubagentFinished{SubagentID: run.AgentID(), Status: spool.SubagentCompleted, Error: run.Error}
	switch run.State {
	case spool.Failed:
		end.Status = spool.SubagentFailed
	case spool.Cancelled:
		end.Status = spool.SubagentCancelled
	default:
	}
	return end
}

// finishedBefore announces the end of a nested run whose worker died before it could.
func (l *loop) finishedBefore(ctx context.Context) {
	l.events.Item(ctx, spool.ItemSubagentFinished, subagentFinished(l.run))
}

// conclusion ends the loop's run in the transaction of its last step. See
// [segment.conclusion].
func (l *loop) conclusion(h *held, ending spool.Ending) error {
	if l.parent == nil {
		return l.s.conclusion(h, ending)
	}
	return h.finishNested(ending, shorten(l.said, l.s.limits().ResultCap))
}

// concluded sees to what follows a conclusion.
func (l *loop) concluded(ctx context.Context) error {
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
	return l.commit(ctx, func(h *held) error {
		if !h.tree().run.StopAt.IsZero() {
			ending = spool.Ending{State: spool.Cancelled, Reason: spool.StopCancelled}
		}
		return l.conclusion(h, ending)
	})
}

// takeUp is the transition of a nested run that has waited, and ends without another step.
func (l *loop) takeUp(ctx context.Context) error {
	if l.parent == nil || l.run.State != spool.WaitingForInput {
		return nil
	}
	return l.update(ctx, func(h *held) error {
		h.run.State = spool.Running
		return h.put()
	})
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
			var run spool.Run
			err := l.s.e.store.View(ctx, l.s.key, func(v spool.View) (err error) {
				run, err = v.Run(nestedID(l.run.ID, p.call.ID))
				return err
			})
			switch {
			case missing(err), err == nil && !p.spawned(run):
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
