package loop

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

// readSteers puts the messages of the steers that wait into the run. It comes between two steps, directly before the
// question to the model. It reads nothing if the last transaction saw no steer.
func (l *Loop) readSteers(ctx context.Context, past *history.Messages) (bool, error) {
	if l.run.Nested() || !l.run.Row().Steered || l.asker.final { // a steer is for a step of the dispatched run
		return false, nil
	}
	var turns []spool.Message
	fits := l.asker.fitsSteers(ctx, past)
	err := l.run.Commit(ctx, func(tx *thread.Tx) (err error) {
		turns, err = thread.DeliverSteers(tx, fits)
		return err
	})
	if errors.Is(err, thread.ErrUnchanged) {
		return false, nil
	}
	past.Add(turns...)
	return false, err
}

// fitsSteers returns a function that reports whether the run's budget has room for the next question with the messages
// of steers. If it has none, the run ends or parks before the question, and no model would read them.
func (a *asker) fitsSteers(
	ctx context.Context, past *history.Messages,
) func(*wire.Allowance, []spool.Message, time.Time) bool {
	if !a.run.Segment().Budgeted() {
		return func(*wire.Allowance, []spool.Message, time.Time) bool { return true }
	}
	m, asked := history.NewMeter(a.run.Row().Context), a.weigh(past)
	prompt := m.Of(asked.weight)
	call := a.callOf(ctx, a.stepRow(), a.model, asked.ModelRequest, prompt)
	return func(allowance *wire.Allowance, steers []spool.Message, now time.Time) bool {
		grown, weight := call, asked.weight
		weight.Add(history.Weigh(spool.ModelRequest{Messages: steers}))
		grown.Reservation.Input = m.Of(weight)
		if p := call.Reservation.Prompt; p != nil && prompt > 0 {
			more := *p
			more.Micros += p.Micros * (grown.Reservation.Input - prompt) / prompt
			grown.Reservation.Prompt = &more
		}
		return budget.RoomFor(allowance, grown, now).Short == ""
	}
}
