package agent

import (
	"context"
	"errors"
	"slices"

	"github.com/spoolhq/spool/engine/internal/chat"
	"github.com/spoolhq/spool/engine/internal/history"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/wire"
)

// askSpeaking asks the model for the next turn. If the turn has neither text nor calls, askSpeaking
// asks once more, in the same stream. It puts the reasoning of the first turn before the second turn,
// because clients have already seen it.
func (l *asker) askSpeaking(ctx context.Context, past *history.Messages) (chat.Turn, error) {
	first, err := l.askFitting(ctx, past)
	if err != nil || !first.Empty() {
		return first, err
	}
	l.s.runner.Concerning(l.s.Key, l.run.ID).WarnContext(ctx, "the model's answer is empty", "step", l.run.Steps+1, "finish_reason", first.Reason)
	l.events.EndBlock(ctx)
	err = l.update(ctx, func(tx *thread.Tx) error {
		tx.Add(first.Usage.Count())
		if err := first.Charge(tx, wire.OutcomeError); err != nil {
			return err
		}
		return tx.Put()
	})
	if err != nil {
		return first, err
	}
	thought := first.Message.Content.Shown() // the provider's data belongs to another answer
	second, err := l.askFitting(ctx, past)
	second.Message.Content = slices.Concat(thought, second.Message.Content)
	if cut, ok := errors.AsType[*chat.CutOffError](err); ok {
		cut.Turn.Message.Content = second.Message.Content
	}
	return second, err
}
