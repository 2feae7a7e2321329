package agent

import (
	"context"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/thread"
)

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
