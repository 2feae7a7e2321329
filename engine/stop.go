package engine

import (
	"cmp"
	"context"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/thread"
)

// Stop stops the thread: its run, and all those that wait for it. An accepted stop is
// durable: the run ends as CANCELLED even if its last step is being saved at the moment,
// and no tool is called any more. A run that no worker holds is over when Stop returns,
// unless its worker died while tools ran: the next worker then saves what they did, and
// ends it. A worker that holds the run is told, and cancels its model and tool calls.
// Stopping a run that is being stopped is accepted again.
func (e *Engine) Stop(ctx context.Context, key spool.ThreadKey) (StopResult, error) {
	return e.stop(ctx, key, "")
}

// StopRun stops one run of the thread: the one that has it, as [Engine.Stop] does, after
// which the next one goes on; or one that waits, which then never begins.
func (e *Engine) StopRun(ctx context.Context, key spool.ThreadKey, run spool.RunID) (StopResult, error) {
	if err := spool.CheckID("runId", string(run)); err != nil {
		return StopResult{}, err
	}
	return e.stop(ctx, key, run)
}

func (e *Engine) stop(ctx context.Context, key spool.ThreadKey, only spool.RunID) (StopResult, error) {
	stopped, err := change(ctx, e, key, func(tx *thread.Tx) (thread.Stopped, error) { return thread.Stop(tx, only) })
	switch {
	case errors.Is(err, thread.ErrUnchanged), record.Missing(err):
		what := "thread"
		if only != "" {
			what = "run"
		}
		return StopResult{Reason: ReasonNotActive, Error: "Cannot stop " + what + " in state " + cmp.Or(string(stopped.State), "unknown")}, nil
	case err != nil:
		return StopResult{}, err
	}
	if !stopped.Worker {
		e.bus.Wake(spool.JobsTopic, spool.WakeJobs)
	}
	if err := e.afterStop(ctx, key, stopped); err != nil {
		return StopResult{}, err
	}
	return StopResult{Accepted: true}, nil
}

// afterStop tells the worker of a run that was stopped, or does what is left of its end.
func (e *Engine) afterStop(ctx context.Context, key spool.ThreadKey, stopped thread.Stopped) error {
	if stopped.Worker {
		e.bus.Wake(key, spool.WakeStop)
	}
	e.closeLost(ctx, key, stopped.Lost)
	if stopped.Rest == nil {
		return nil
	}
	err := e.unsettled(stopped.Rest).settle(ctx)
	if spool.CodeOf(err) == spool.Fenced { // then somebody else settles it
		return nil
	}
	return err
}

// stopped ends a run whose stop was noticed. What the model had said, and what the tools had
// answered, is kept.
func (l *loop) stopped(ctx context.Context, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	l.events.EndBlock(ctx)
	if l.plan == nil { // what a worker before this one had in hand
		resume := l.planLanding
		if l.run.Draft != nil {
			resume = l.planDraft
		}
		if _, err := resume(ctx); err != nil {
			return err
		}
	}
	if l.plan != nil {
		if err := l.stopNested(ctx); err != nil {
			return err
		}
		_, _, err := l.saveCalls(ctx) // those that have not answered are cancelled
		return err
	}
	ending := spool.Ending{State: spool.Cancelled, Reason: spool.StopCancelled}
	var cut *cutOffError
	if !errors.As(cause, &cut) {
		return l.conclude(ctx, ending)
	}
	err := l.commit(ctx, func(tx *thread.Tx) error {
		if err := cut.turn.charge(tx, spool.OutcomeAborted); err != nil {
			return err
		}
		if _, err := cut.turn.saveCut(tx); err != nil {
			return err
		}
		return l.conclusion(tx, ending)
	})
	if err != nil {
		return err
	}
	return l.concluded(ctx)
}

// saveCut saves what came of an answer that was cut off, as far as it can stand as a message.
func (t *turn) saveCut(tx *thread.Tx) (saved bool, err error) {
	said := spoken(t.message.Content)
	if len(said) == 0 {
		tx.Add(t.usage.Count())
		return false, nil
	}
	_, err = thread.SaveStep(tx, said, nil, t.usage.Count(), record.StepStopped)
	return true, err
}

// spoken returns what of a cut answer can stand as a message: its text and reasoning, if
// there is any text.
func spoken(content spool.Content) spool.Content {
	var out spool.Content
	text := false
	for _, p := range content {
		if p.Type == spool.PartText || p.Type == spool.PartReasoning {
			out = append(out, p)
			text = text || p.Type == spool.PartText
		}
	}
	if !text {
		return nil
	}
	return out
}
