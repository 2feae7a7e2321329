package loop

import (
	"context"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/budget"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/wire"
)

// exhaustedError is the error of a budget that has no room for the next model call.
type exhaustedError struct {
	reason wire.StopReason
	// unpriced is the model that the budget does not bound, because it has no price. Empty: the budget is used up.
	unpriced string
}

func (u *exhaustedError) Error() string { return "the budget is used up: " + string(u.reason) }

// reserve sets aside what a model call may use while it is under way, so that loops that share a budget
// cannot overspend it together. It limits the request's answer to the rest of the budget, and returns
// the budget that limits the answer, if any. If other calls have reserved the rest, reserve waits until
// they free some of it. It returns an [exhaustedError] if the budget has no room.
func (a *asker) reserve(
	ctx context.Context, row wire.UsageRow, m spool.Model, request *spool.ModelRequest, prompt int64,
) (wire.StopReason, error) {
	if !a.run.Segment().Budgeted() {
		return "", nil
	}
	call := a.callOf(ctx, row, m, *request, prompt)
	for {
		changed := a.run.Segment().BudgetFreed()
		var r budget.Room
		err := a.run.Update(ctx, func(tx *thread.Tx) error {
			allowance := tx.Root().Run.Allowance
			r = budget.RoomFor(allowance, call, tx.Now)
			switch {
			case r.Short != "" || r.Wait:
				return thread.ErrUnchanged
			case budget.Reserves(allowance):
				allowance.Reservations = append(allowance.Reservations, r.Reservation)
			case !tx.IsNested() || tx.Run.State == wire.Running:
				return thread.ErrUnchanged
			}
			if tx.IsNested() { // it may have parked for the budget
				return thread.ResumeNested(tx)
			}
			return tx.Put()
		})
		switch {
		case err != nil && !errors.Is(err, thread.ErrUnchanged):
			return "", err
		case r.Short != "":
			return "", &exhaustedError{r.Short, r.Unpriced}
		case !r.Wait:
			if r.Output > 0 {
				request.MaxOutputTokens = int(r.Output)
			}
			return r.Capped, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// callOf returns a model call with its prices: of the prompt, and of each token of the answer.
func (a *asker) callOf(
	ctx context.Context, row wire.UsageRow, m spool.Model, r spool.ModelRequest, prompt int64,
) budget.Call {
	c := budget.Call{
		Reservation: wire.Reservation{
			AgentID: row.AgentID, Agent: row.Agent, Kind: row.Kind, Step: row.Step, Model: row.Model, Input: prompt,
		},
		Want: budget.Want(int64(r.MaxOutputTokens), int64(spool.InfoOf(m).ContextWindow)),
	}
	// only an answer to a park sets a new budget
	if b := a.run.Dispatched().Allowance; b != nil && b.Budget.CostMicros > 0 {
		c.Unpriced = a.models.Chat.Unpriced(ctx, row.Agent, row.Model, m, b.Budget.Currency)
	}
	row.Guess = spool.Usage{Input: &prompt, Output: new(int64)}
	ofPrompt := a.models.Chat.Price(ctx, m, r, row, nil)
	c.Receipted = a.models.Chat.Receipted(m, ofPrompt)
	row.Guess.Output = &c.Want
	c.Price(ofPrompt, a.models.Chat.Price(ctx, m, r, row, nil))
	return c
}
