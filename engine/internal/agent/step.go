package agent

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/budget"
	"github.com/spoolhq/spool/engine/internal/chat"
	"github.com/spoolhq/spool/engine/internal/history"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/engine/internal/toolresult"
)

// advance executes the run step by step. It begins at the last saved state: the results of answered
// parks, an interrupted step, or the next question to the model. It returns nil once the run has ended
// or parked.
func (l *loop) advance(ctx context.Context) (err error) {
	ctx, span := l.s.runner.Telemetry.Agent(ctx, l.run.Run)
	defer func() { span.Done(ctx, l.run.Run, errors.Is(context.Cause(ctx), errStopped), err) }()
	past, err := l.history(ctx)
	if err != nil {
		return err
	}
	if done, err := l.landBudget(ctx); done || err != nil {
		return err
	}
	l.offerArtifacts()
	l.offerTransfer()
	stepped := false // a segment saves at least one step before it yields its slot
	for _, resume := range []func(context.Context) (bool, error){l.planLanding, l.planDraft} {
		planned, err := resume(ctx)
		switch {
		case err != nil:
			return err
		case !planned && l.open > 0 && l.run.Draft == nil:
			return l.parkAgain(ctx)
		case !planned:
			continue
		}
		saved, done, err := l.act(ctx)
		if done || err != nil {
			return err
		}
		past.Add(saved...)
		stepped = true
	}
	for {
		if done, err := l.handOver(ctx, past); done || err != nil {
			return err
		}
		if done, err := l.finishIfDone(ctx, past); done || err != nil {
			return err
		}
		if done, err := l.finishIfStorageFull(ctx); done || err != nil {
			return err
		}
		if stepped {
			if done, err := l.yieldSlot(ctx); done || err != nil {
				return err
			}
		}
		turns, err := l.takeSteers(ctx, past)
		if err != nil {
			return err
		}
		past.Add(turns...)
		l.offerArtifacts()
		turn, done, err := l.askModels(ctx, past)
		if done {
			return nil
		}
		if err != nil {
			switch short, ok := errors.AsType[*exhaustedError](err); {
			case ok && l.final:
				return l.finish(ctx, allSteps)
			case ok:
				l.unpriced = short.unpriced
				return l.exhausted(ctx, short.reason)
			}
			return err
		}
		saved, done, err := l.proceed(ctx, turn)
		if done || err != nil {
			return err
		}
		past.Add(saved...)
		stepped = true
	}
}

// proceed saves the step of an answer and returns its messages. It reports whether the run has ended or
// parked.
func (l *loop) proceed(ctx context.Context, turn chat.Turn) (saved []spool.Message, done bool, err error) {
	switch {
	case turn.Paused():
		saved, err = l.savePaused(ctx, turn)
		return saved, false, err
	case !turn.Calls():
		return l.saveLastStep(ctx, turn)
	}
	if err := l.saveDraft(ctx, turn); err != nil {
		return nil, false, err
	}
	return l.act(ctx)
}

// finishIfDone ends a run that needs no further answer: a worker saved its last one and died before it could end the run,
// or the run has had all its steps and its agent wants no answer behind them.
func (l *loop) finishIfDone(ctx context.Context, past *history.Messages) (bool, error) {
	last, some := past.Last()
	l.answer = history.LastAnswer(past.All)
	switch {
	case some && l.answeredWith(last):
		return l.finishAnswered(ctx, last)
	case l.run.Steps >= l.maxSteps() && l.run.Allowance != nil:
		switch reason, err := l.exhaustedBudget(ctx); {
		case err != nil:
			return true, err
		case reason != "":
			return true, l.exhausted(ctx, reason)
		}
		fallthrough
	case l.run.Steps >= l.maxSteps():
		if l.final = !l.agent.NoFinalAnswer; l.final {
			return false, nil
		}
		return true, l.finish(ctx, allSteps)
	case past.Repeats(l.run.ID) >= history.MaxRepeats:
		return true, l.finish(ctx, spool.Ending{State: spool.Completed, Reason: spool.StopRepeated})
	default:
		return false, nil
	}
}

// polls reports whether the same call of a tool with the same result may come again and again.
func (l *runState) polls(name string) bool {
	tool, _ := l.agent.Tool(name)
	return tool.Polling
}

// answeredWith reports whether the last message of the run's history is the answer that ends the run.
func (l *runState) answeredWith(last spool.Message) bool {
	return last.Role == spool.RoleAssistant && last.RunID == l.run.ID &&
		len(last.ToolCalls()) == 0 && l.run.Steps > 0 && !l.run.Paused && !l.rejected() &&
		(l.run.Allowance == nil || !l.run.Allowance.Cut)
}

func (l *runState) maxSteps() int {
	if l.run.MaxSteps > 0 && l.run.MaxSteps < l.agent.MaxSteps {
		return l.run.MaxSteps
	}
	return l.agent.MaxSteps
}

// saveLastStep saves the last step and ends the run, in one transaction unless a settle hook has to
// run in between. If the answer does not fit the run's schema and the model is asked again, saveLastStep
// returns the saved messages and false.
func (l *loop) saveLastStep(ctx context.Context, t chat.Turn) (saved []spool.Message, done bool, err error) {
	results := t.CancelledCalls()
	if text := t.Message.Text(); text != "" || !l.run.Paused && !l.final {
		l.answer = text
	}
	var short spool.StopReason
	err = l.commit(ctx, func(tx *thread.Tx) (err error) {
		short, done = "", true
		if err := t.Charge(tx, spool.OutcomeFinished); err != nil {
			return err
		}
		t.CountPrompt(tx)
		for _, p := range results {
			tx.Item(spool.ItemToolResult, spool.ToolResulted{ToolCallID: p.ToolCallID, ToolName: p.ToolName, Result: p.Result})
		}
		if saved, err = t.Save(tx, results); err != nil {
			return err
		}
		ending := t.Completion()
		if tx.Stopping() {
			ending = spool.Ending{State: spool.Cancelled, Reason: spool.StopCancelled}
			return l.finishIn(tx, ending)
		}
		cut := t.Reason == spool.FinishLength && t.Capped != "" && !t.Exceeded()
		if cut && l.parent == nil && l.parksForBudget(t.Capped) { // the run continues with a larger budget
			short, tx.Run.Allowance.Cut = t.Capped, true
			return tx.Put()
		}
		if reason := budget.UsedUp(tx.Root().Run.Allowance, tx.Now); cut || reason != "" {
			ending.Reason = cmp.Or(reason, t.Capped)
			if err := l.noteExhausted(tx, ending.Reason); err != nil {
				return err
			}
		}
		if t.Whole() {
			ending, err = l.checkOutput(tx, ending, saved)
		}
		if done = ending.State != ""; !done || err != nil {
			return cmp.Or(err, tx.Put())
		}
		return l.finishIn(tx, ending)
	})
	switch {
	case err != nil:
		return nil, true, err
	case short != "":
		return nil, true, l.exhausted(ctx, short)
	case !done:
		return saved, false, nil
	}
	return nil, true, l.afterFinish(ctx)
}

// savePaused saves an answer that its provider has paused. The run goes on with another question.
func (l *loop) savePaused(ctx context.Context, t chat.Turn) (saved []spool.Message, err error) {
	err = l.commit(ctx, func(tx *thread.Tx) error {
		if err := t.Charge(tx, spool.OutcomeFinished); err != nil {
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
func (l *runState) exhaustedBudget(ctx context.Context) (reason spool.StopReason, err error) {
	err = l.s.runner.Store.View(ctx, l.s.Key, func(v spool.View) error {
		run, err := spool.FindRun(v, l.run.Root())
		reason = budget.UsedUp(run.Allowance, v.Now())
		return err
	})
	if err != nil {
		return "", storeError{err}
	}
	return reason, nil
}

// saveDraft makes the model's answer of a step durable before any of its calls runs.
func (l *loop) saveDraft(ctx context.Context, t chat.Turn) error {
	l.events.EndBlock(ctx)
	l.s.Writer.Flush(ctx)
	l.plan = l.planCalls(ctx, t.Message.ToolCalls(), l.run.Steps+1, nil, nil)
	var refused []*plannedCall
	err := l.update(ctx, func(tx *thread.Tx) error {
		t.CountPrompt(tx)
		tx.Run.Draft = &spool.Draft{Message: t.Message, Usage: t.Usage.Count()}
		if err := t.Charge(tx, spool.OutcomeFinished); err != nil {
			return err
		}
		refused = allowCalls(tx, l.plan)
		var c spool.Changes
		for _, p := range refused {
			done := p.effect(spool.EffectDone)
			done.Result = toolresult.Refused()
			c.Effects = append(c.Effects, done)
		}
		allowed := slices.DeleteFunc(slices.Clone(l.plan), func(p *plannedCall) bool { return slices.Contains(refused, p) })
		c.Effects = append(c.Effects, pendingEffects(allowed)...)
		if err := tx.Write(c); err != nil {
			return err
		}
		return tx.PutUnseen()
	})
	for _, p := range refused {
		p.save(toolresult.Refused())
	}
	return err
}
