package agent

import (
	"context"
	"errors"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/budget"
	"github.com/spoolhq/spool/engine/internal/history"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/wire"
)

// takeSteers puts the messages of the steers that wait into the run, and returns them. Callers call it between two
// steps, directly before the question to the model. It reads nothing if the last transaction saw no steer.
func (l *loop) takeSteers(ctx context.Context, past *history.Messages) ([]spool.Message, error) {
	if l.parent != nil || !l.run.Steered || l.final { // a steer is for a step of the dispatched run
		return nil, nil
	}
	var turns []spool.Message
	fits := l.fitsSteers(ctx, past)
	err := l.commit(ctx, func(tx *thread.Tx) (err error) {
		turns, err = thread.Deliver(tx, fits)
		return err
	})
	if errors.Is(err, thread.ErrUnchanged) {
		return nil, nil
	}
	return turns, err
}

// fitsSteers returns a function that reports whether the run's budget has room for the next question with the messages
// of steers. If it has none, the run ends or parks before the question, and no model would read them.
func (l *asker) fitsSteers(ctx context.Context, past *history.Messages) func(*wire.Allowance, []spool.Message, time.Time) bool {
	if !l.s.budgeted {
		return func(*wire.Allowance, []spool.Message, time.Time) bool { return true }
	}
	m, asked := history.NewMeter(l.run.Context), l.weigh(past)
	prompt := m.Of(asked.weight)
	call := l.callOf(ctx, l.stepRow(), l.model, asked.ModelRequest, prompt)
	return func(a *wire.Allowance, steers []spool.Message, now time.Time) bool {
		grown, weight := call, asked.weight
		weight.Add(history.Weigh(spool.ModelRequest{Messages: steers}))
		grown.Reservation.Input = m.Of(weight)
		if p := call.Reservation.Prompt; p != nil && prompt > 0 {
			more := *p
			more.Micros += p.Micros * (grown.Reservation.Input - prompt) / prompt
			grown.Reservation.Prompt = &more
		}
		return budget.Reserve(a, grown, now).Short == ""
	}
}
