package agent

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/history"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/engine/internal/toolresult"
)

// askSpeaking asks the model for the next turn. A turn in which the model says nothing and calls
// nothing is asked for once more, in the same stream. What the model has thought in the first
// one was shown, and so it stands before the second one.
func (l *loop) askSpeaking(ctx context.Context, past *history.Messages) (turn, error) {
	first, err := l.askFitting(ctx, past)
	if err != nil || !first.empty() {
		return first, err
	}
	l.s.runner.Concerning(l.s.key, l.run.ID).WarnContext(ctx, "the model's answer is empty", "step", l.run.Steps+1, "finish_reason", first.reason)
	l.events.EndBlock(ctx)
	err = l.update(ctx, func(tx *thread.Tx) error {
		tx.Add(first.usage.Count())
		if err := first.charge(tx, spool.OutcomeError); err != nil {
			return err
		}
		return tx.Put()
	})
	if err != nil {
		return first, err
	}
	thought := slices.Clone(first.message.Content)
	for i := range thought {
		thought[i].Provider = nil // the provider has signed it for an answer that it now is not in
	}
	second, err := l.askFitting(ctx, past)
	second.message.Content = slices.Concat(thought, second.message.Content)
	if cut, ok := errors.AsType[*cutOffError](err); ok {
		cut.turn.message.Content = second.message.Content
	}
	return second, err
}

// empty reports whether the model has come to the end of its answer without a word and without
// a call.
func (t *turn) empty() bool {
	if t.reason == spool.FinishLength || t.reason == spool.FinishFilter { // which say why
		return false
	}
	return !slices.ContainsFunc(t.message.Content, func(p spool.Part) bool {
		return p.Type != spool.PartReasoning && (p.Type != spool.PartText || strings.TrimSpace(p.Text) != "")
	})
}

// completion is how a run ends whose model has given its last answer.
func (t *turn) completion() spool.Ending {
	ending := spool.Ending{State: spool.Completed, Reason: spool.StopCompleted}
	switch {
	case t.reason == spool.FinishLength:
		ending.Reason = spool.StopLength
	case t.reason == spool.FinishFilter:
		ending.Reason = spool.StopFilter
	case t.empty():
		ending.Reason = spool.StopEmpty
	}
	return ending
}

// unrun returns the results of the turn's calls, none of which will run.
func (t *turn) unrun() spool.Content {
	var results spool.Content
	for _, p := range t.message.ToolCalls() {
		results = append(results, toolresult.Part(p.ToolCallID, p.ToolName, toolresult.Cancelled("the answer ended before its calls could run")))
	}
	return results
}
