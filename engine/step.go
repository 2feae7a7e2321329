package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/spoolhq/spool"
)

// advance carries the run forward step by step from whatever was saved last: the
// results of answered parks, a step whose tools were cut off, or the next question to
// the model. It returns nil once the run has ended or parked.
func (l *loop) advance(ctx context.Context) (err error) {
	ctx, span := l.s.e.telemetry.agent(ctx, l)
	defer func() { span.done(ctx, l.run, err) }()
	history, err := l.history(ctx)
	if err != nil {
		return err
	}
	if done, err := l.landBudget(ctx); done || err != nil {
		return err
	}
	stepped := false // in this segment, which so never goes in vain
	for _, resume := range []func(context.Context) (bool, error){l.planLanding, l.planDraft} {
		planned, err := resume(ctx)
		switch {
		case err != nil:
			return err
		case !planned && l.open > 0: // it was saved as it waits, by a worker that died
			return nil
		case !planned:
			continue
		}
		saved, done, err := l.act(ctx)
		if done || err != nil {
			return err
		}
		history.add(saved...)
		stepped = true
	}
	for {
		if done, err := l.over(ctx, history); done || err != nil {
			return err
		}
		if done, err := l.outOfRoom(ctx); done || err != nil {
			return err
		}
		if stepped {
			if done, err := l.giveSlot(ctx); done || err != nil {
				return err
			}
		}
		turn, err := l.askSpeaking(ctx, history)
		if err != nil {
			if short, ok := errors.AsType[*usedUpError](err); ok {
				return l.useUp(ctx, short.reason)
			}
			return err
		}
		if turn.reason != spool.FinishToolCalls || len(turn.message.ToolCalls()) == 0 {
			return l.finish(ctx, turn)
		}
		if err := l.saveDraft(ctx, turn); err != nil {
			return err
		}
		saved, done, err := l.act(ctx)
		if done || err != nil {
			return err
		}
		history.add(saved...)
		stepped = true
	}
}

// over ends a run that has nothing left to ask: it has had all its steps, or its last
// answer was saved by a worker that died before it could end the run.
func (l *loop) over(ctx context.Context, history *history) (bool, error) {
	last, some := history.last()
	l.said = lastAnswer(history.messages)
	answered := some && last.Role == spool.RoleAssistant && last.RunID == l.run.ID &&
		len(last.ToolCalls()) == 0 && l.run.Steps > 0 &&
		(l.run.Allowance == nil || !l.run.Allowance.Cut)
	switch {
	case answered:
		return true, l.conclude(ctx, spool.Ending{State: spool.Completed, Reason: spool.StopCompleted})
	case l.run.Steps >= l.maxSteps() && l.run.Allowance != nil:
		switch reason, err := l.nothingLeft(ctx); {
		case err != nil:
			return true, err
		case reason != "":
			return true, l.useUp(ctx, reason)
		}
		fallthrough
	case l.run.Steps >= l.maxSteps():
		return true, l.conclude(ctx, spool.Ending{State: spool.Completed, Reason: spool.StopMaxSteps})
	default:
		return false, nil
	}
}

// lastAnswer returns the text of the last answer that has any.
func lastAnswer(history []spool.Message) string {
	for _, m := range slices.Backward(history) {
		if text := m.Text(); m.Role == spool.RoleAssistant && text != "" {
			return text
		}
	}
	return ""
}

func (l *loop) maxSteps() int {
	if l.run.MaxSteps > 0 && l.run.MaxSteps < l.agent.MaxSteps {
		return l.run.MaxSteps
	}
	return l.agent.MaxSteps
}

// finish saves the last step and ends the run with it, in one transaction where no
// settle hook has to run in between.
func (l *loop) finish(ctx context.Context, t turn) error {
	results := t.unrun()
	l.said = t.message.Text()
	var short spool.StopReason
	err := l.commit(ctx, func(h *held) error {
		short = ""
		if err := t.charge(h, spool.OutcomeFinished); err != nil {
			return err
		}
		t.counted(h)
		for _, p := range results {
			h.item(spool.ItemToolResult, spool.ToolResulted{ToolCallID: p.ToolCallID, ToolName: p.ToolName, Result: p.Result})
		}
		if _, err := h.saveStep(t.message, results, t.usage.Count(), string(t.reason)); err != nil {
			return err
		}
		ending := t.completion()
		if !h.tree().run.StopAt.IsZero() {
			ending = spool.Ending{State: spool.Cancelled, Reason: spool.StopCancelled}
			return l.conclusion(h, ending)
		}
		cut := t.reason == spool.FinishLength && t.capped != "" && !t.bound.exceeded
		if cut && l.parent == nil && l.parksBudget(t.capped) { // a larger budget has it go on
			short, h.run.Allowance.Cut = t.capped, true
			return h.put()
		}
		if reason := usedUp(h.tree().run.Allowance, h.now); cut || reason != "" {
			ending.Reason = cmp.Or(reason, t.capped)
			if err := l.exhausted(h, ending.Reason); err != nil {
				return err
			}
		}
		return l.conclusion(h, ending)
	})
	switch {
	case err != nil:
		return err
	case short != "":
		return l.useUp(ctx, short)
	}
	return l.concluded(ctx)
}

// nothingLeft returns the budget of which nothing is left.
func (l *loop) nothingLeft(ctx context.Context) (reason spool.StopReason, err error) {
	err = l.s.e.store.View(ctx, l.s.key, func(v spool.View) error {
		run, err := v.Run(l.run.Root())
		reason = usedUp(run.Allowance, v.Now())
		return err
	})
	if err != nil {
		return "", storeError{err}
	}
	return reason, nil
}

// saveDraft makes the model's part of a step durable, and with it the calls that are
// about to run, before any of them does.
func (l *loop) saveDraft(ctx context.Context, t turn) error {
	l.events.EndBlock(ctx)
	l.s.writer.Flush(ctx)
	l.plan = l.planCalls(ctx, t.message.ToolCalls(), l.run.Steps+1, nil)
	var refused []*plannedCall
	err := l.update(ctx, func(h *held) error {
		t.counted(h)
		h.run.Draft = &spool.Draft{Message: t.message, Usage: t.usage.Count()}
		if err := t.charge(h, spool.OutcomeFinished); err != nil {
			return err
		}
		refused = h.allowCalls(l.plan)
		for _, p := range refused {
			done := p.effect(spool.EffectDone)
			done.Result = refusedResult()
			if err := h.PutEffect(done); err != nil {
				return err
			}
		}
		allowed := slices.DeleteFunc(slices.Clone(l.plan), func(p *plannedCall) bool { return slices.Contains(refused, p) })
		if err := h.putPending(allowed); err != nil {
			return err
		}
		return h.putUnseen()
	})
	for _, p := range refused {
		p.result, p.park, p.saved = refusedResult(), nil, true
	}
	return err
}

// saveStep makes a whole step a part of the thread: the assistant's turn and the results
// of its tools. Everything that the stream has up to here is then in the messages, and
// STEP_FINISHED says so.
func (h *held) saveStep(message spool.Message, results spool.Content, usage spool.TokenCount, reason string) ([]spool.Message, error) {
	messages := make([]*spool.Message, 0, 2)
	if len(message.Content) > 0 {
		messages = append(messages, h.message(spool.RoleAssistant, message.Content))
	}
	if len(results) > 0 {
		messages = append(messages, h.message(spool.RoleTool, results))
	}
	if err := h.AppendMessages(messages...); err != nil {
		return nil, err
	}
	h.run.Steps++
	h.run.Draft = nil
	h.stepFinished(reason, usage)
	if a := h.run.Allowance; h.root != nil {
		h.run.Allowance = nil
	} else if a != nil {
		a.Cut = false
	}
	h.add(usage)
	saved := make([]spool.Message, len(messages))
	for i, m := range messages {
		saved[i] = *m
	}
	return saved, nil
}

// stepFinished notes that the messages have everything that the stream has up to here.
func (h *held) stepFinished(reason string, usage spool.TokenCount) {
	h.run.Saved = h.out.Last()
	finished := spool.StepFinished{Step: h.run.Steps, FinishReason: reason, Usage: usage}
	if id := h.run.AgentID(); id != "" {
		finished.AgentID = &id
	}
	h.item(spool.ItemStepFinished, finished)
	h.progressed()
}

// progressed notes that a run has saved something: with a nested one, the dispatched run has
// not stood still either.
func (h *held) progressed() {
	h.run.Attempts, h.run.Deaths = 0, 0
	root := h.tree()
	root.run.Carriage.Alone, root.run.Carriage.AloneDeaths = false, 0
	if h.root != nil {
		h.root.run.Deaths, h.run.Segments = 0, h.root.run.Segments
	}
}
