package loop

import (
	"cmp"
	"context"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/active"
	"github.com/spoolhq/spool/engine/internal/budget"
	"github.com/spoolhq/spool/engine/internal/chat"
	"github.com/spoolhq/spool/engine/internal/history"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// step asks the model for the next turn, and makes its calls or ends the run with it.
func (l *Loop) step(ctx context.Context, past *history.Messages) (done bool, err error) {
	l.calls.OfferArtifacts()
	turn, done, err := l.asker.askModels(ctx, past)
	switch short, ok := errors.AsType[*exhaustedError](err); {
	case ok && l.asker.final:
		return true, l.finish(ctx, active.AllSteps)
	case ok:
		return true, l.exhausted(ctx, *short)
	case done || err != nil:
		return done, err
	case turn.Calls():
		err := l.calls.SaveDraft(ctx, store.Draft{Message: turn.Message, Usage: turn.Usage.Count()},
			func(tx *thread.Tx) error {
				turn.CountPrompt(tx)
				return turn.Charge(tx, wire.OutcomeFinished)
			})
		if err != nil {
			return false, err
		}
		return l.act(ctx, past)
	}
	var saved []spool.Message
	if turn.Paused() {
		saved, err = l.savePaused(ctx, turn)
	} else {
		saved, done, err = l.saveLastStep(ctx, turn)
	}
	if !done && err == nil {
		past.Add(saved...)
		l.stepped = true
	}
	return done, err
}

// finishIfDone ends a run that needs no further answer: a worker saved its last one and died before it could end the
// run, or the run has had all its steps and its agent wants no answer behind them.
func (l *Loop) finishIfDone(ctx context.Context, past *history.Messages) (bool, error) {
	last, some := past.Last()
	l.run.SetAnswer(history.LastAnswer(past.All))
	switch {
	case some && l.answeredWith(last):
		return l.finishAnswered(ctx, last)
	case l.run.Row().Steps >= l.run.MaxSteps() && l.run.Row().Allowance != nil:
		switch reason, err := l.exhaustedBudget(ctx); {
		case err != nil:
			return true, err
		case reason != "":
			return true, l.exhausted(ctx, exhaustedError{reason: reason})
		}
		fallthrough
	case l.run.Row().Steps >= l.run.MaxSteps():
		if l.asker.final = !l.run.Agent().NoFinalAnswer; l.asker.final {
			return false, nil
		}
		return true, l.finish(ctx, active.AllSteps)
	case past.Repeats(l.run.Row().ID) >= history.MaxRepeats:
		return true, l.finish(ctx, store.Ending{State: wire.Completed, Reason: wire.StopRepeated})
	default:
		return false, nil
	}
}

// polls reports whether the same call of a tool with the same result may come again and again.
func (a *asker) polls(name string) bool {
	tool, _ := a.run.Agent().Tool(name)
	return tool.Polling
}

// answeredWith reports whether the last message of the run's history is the answer that ends the run.
func (l *Loop) answeredWith(last spool.Message) bool {
	return last.Role == spool.RoleAssistant && last.RunID == l.run.Row().ID &&
		len(last.ToolCalls()) == 0 && l.run.Row().Steps > 0 && !l.run.Row().Paused && !l.rejected() &&
		(l.run.Row().Allowance == nil || !l.run.Row().Allowance.Cut)
}

// saveLastStep saves the last step and ends the run, in one transaction unless a settle hook has to
// run in between. If the answer does not fit the run's schema and the model is asked again, saveLastStep
// returns the saved messages and false.
func (l *Loop) saveLastStep(ctx context.Context, t chat.Turn) (saved []spool.Message, done bool, err error) {
	results := t.CancelledCalls()
	if text := t.Message.Text(); text != "" || !l.run.Row().Paused && !l.asker.final {
		l.run.SetAnswer(text)
	}
	var short wire.StopReason
	err = l.run.Commit(ctx, func(tx *thread.Tx) (err error) {
		short, done = "", true
		if err := t.Charge(tx, wire.OutcomeFinished); err != nil {
			return err
		}
		t.CountPrompt(tx)
		for _, p := range results {
			tx.Item(wire.ItemToolResult, wire.ToolResulted{ToolCallID: p.ToolCallID, ToolName: p.ToolName, Result: p.Result})
		}
		if saved, err = t.Save(tx, results); err != nil {
			return err
		}
		ending := t.Completion()
		if tx.Stopping() {
			return l.run.Finish(tx, thread.Cancelled)
		}
		cut := t.Reason == spool.FinishLength && t.Capped != "" && !t.Exceeded()
		if cut && !l.run.Nested() && l.run.ParksForBudget(t.Capped) { // the run continues with a larger budget
			short, tx.Run.Allowance.Cut = t.Capped, true
			return tx.Put()
		}
		if reason := budget.UsedUp(tx.Root().Run.Allowance, tx.Now); cut || reason != "" {
			ending.Reason = cmp.Or(reason, t.Capped)
			if err := l.run.NoteExhausted(tx, ending.Reason, ""); err != nil {
				return err
			}
		}
		if t.Whole() {
			ending, err = l.checkOutput(tx, ending, saved)
		}
		if done = ending.State != ""; !done || err != nil {
			return cmp.Or(err, tx.Put())
		}
		return l.run.Finish(tx, ending)
	})
	switch {
	case err != nil:
		return nil, true, err
	case short != "":
		return nil, true, l.exhausted(ctx, exhaustedError{reason: short})
	case !done:
		return saved, false, nil
	}
	return nil, true, nil
}

// savePaused saves an answer that its provider has paused. The run goes on with another question.
func (l *Loop) savePaused(ctx context.Context, t chat.Turn) (saved []spool.Message, err error) {
	err = l.run.Commit(ctx, func(tx *thread.Tx) error {
		if err := t.Charge(tx, wire.OutcomeFinished); err != nil {
			return err
		}
		t.CountPrompt(tx)
		if saved, err = t.Save(tx, nil); err != nil {
			return err
		}
		return tx.PutUnseen()
	})
	return saved, err
}

// exhaustedBudget returns the stop reason of an exhausted budget, or "".
func (l *Loop) exhaustedBudget(ctx context.Context) (reason wire.StopReason, err error) {
	err = l.run.View(ctx, func(v store.View) error {
		run, err := store.FindRun(v, l.run.Row().Root())
		reason = budget.UsedUp(run.Allowance, v.Now())
		return err
	})
	return reason, err
}
