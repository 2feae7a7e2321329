package calls

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/active"
	"github.com/spoolhq/spool/engine/internal/budget"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/engine/internal/toolresult"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// announceInOrder announces the durable results up to the first call whose result comes later in this step, so that
// the results stand live in the order in which they are saved. A call that waits has no result in this step.
func (c *Calls) announceInOrder(ctx context.Context) {
	for _, p := range c.plan {
		durable := p.state == callSaved || p.spawns && p.result != nil
		switch {
		case p.announced > 0, p.result == nil && !p.runs():
		case !durable:
			return
		default:
			p.announced = lastAnnounced(c.plan) + 1
			c.run.Events().Item(ctx, wire.ItemToolResult, p.item())
		}
	}
}

// Save saves the step, or the results of calls whose parks were answered. In the same transaction
// it parks or ends the run if necessary. It cancels the calls without a result if the run was stopped. With outOfTime,
// it cancels those that do not wait for a nested run.
func (c *Calls) Save(ctx context.Context, outOfTime bool) (saved []spool.Message, done bool, err error) {
	draft := c.run.Row().Draft
	err = c.run.Commit(ctx, func(tx *thread.Tx) error {
		if draft != nil {
			c.run.SetAnswer(cmp.Or(draft.Message.Text(), c.run.Answer()))
		}
		stopped := tx.Stopping()
		switch {
		case stopped:
			cancelUnfinished(c.plan, "stopped")
		case outOfTime:
			cancelUnfinished(slices.DeleteFunc(slices.Clone(c.plan), func(p *Call) bool { return p.state == callWaits }),
				string(c.run.Segment().TimeReason()))
		}
		for _, p := range c.plan {
			if p.result != nil && p.announced == 0 {
				tx.Item(wire.ItemToolResult, p.item())
			}
		}
		noteDescribed(tx, c.plan)
		if saved, err = saveCalls(tx, c.plan, draft); err != nil {
			return err
		}
		switch {
		case stopped:
			return c.run.Finish(tx, thread.Cancelled)
		case countWaiting(c.plan) > 0 || c.open > 0:
			return c.park(tx, outOfTime)
		case tx.Run.Steps >= c.run.MaxSteps() && (outOfTime || c.run.Agent().NoFinalAnswer) &&
			budget.UsedUp(tx.Root().Run.Allowance, tx.Now) == "":
			return c.run.Finish(tx, active.AllSteps)
		default:
			return tx.PutUnseen()
		}
	})
	if err != nil {
		return nil, false, err
	}
	c.plan = nil
	row := c.run.Row()
	return saved, row.State == wire.WaitingForInput || row.State.Terminal() || row.Ending != nil, nil
}

// saveCalls writes the results of a plan: together with their draft as a whole step, or, after parks,
// as a separate message.
func saveCalls(tx *thread.Tx, plan []*Call, draft *store.Draft) ([]spool.Message, error) {
	results := make(spool.Content, 0, len(plan))
	var changes store.Changes
	for _, p := range plan {
		if p.state == callWaits {
			changes.Effects = append(changes.Effects, p.effect(wire.EffectWaiting))
		}
		if p.result != nil {
			noteResult(tx, &changes, p)
		}
	}
	for _, p := range asAnnounced(plan) {
		if p.result != nil {
			results = append(results, toolresult.Parts(p.call.ID, p.call.Name, p.result)...)
		}
	}
	if err := tx.Write(changes); err != nil {
		return nil, err
	}
	if draft != nil {
		return thread.SaveStep(tx, draft.Message.Content, results, draft.Usage, string(spool.FinishToolCalls))
	}
	return thread.SaveResults(tx, results)
}

// asAnnounced returns the plan in the order in which the stream has the results, in which they are saved. That is the
// order of the calls, unless a call was to wait and was then stopped. The results that the stream gets with the step
// come last.
func asAnnounced(plan []*Call) []*Call {
	last := lastAnnounced(plan) + 1
	place := func(p *Call) int {
		if p.announced == 0 {
			return last
		}
		return p.announced
	}
	return slices.SortedStableFunc(slices.Values(plan), func(a, b *Call) int { return cmp.Compare(place(a), place(b)) })
}

// lastAnnounced returns the number of results that the stream has.
func lastAnnounced(plan []*Call) (n int) {
	for _, p := range plan {
		n = max(n, p.announced)
	}
	return n
}

// noteResult notes in the effect ledger, and in the call's park, that a call has its result.
func noteResult(tx *thread.Tx, c *store.Changes, p *Call) {
	if p.state == callReturned || p.state == callOverdue || p.spawns && p.state != callSaved {
		c.Effects = append(c.Effects, p.effect(wire.EffectDone))
	}
	p.endPark(tx, c)
}

// cancelUnfinished gives every call without a result the result of a cancelled call.
func cancelUnfinished(plan []*Call, reason string) {
	for _, p := range plan {
		if p.result == nil {
			p.cancel(reason)
		}
	}
}

func countWaiting(plan []*Call) (n int) {
	for _, p := range plan {
		if p.parks() || p.state == callWaits {
			n++
		}
	}
	return n
}

// stepRoom returns how many bytes are left for the results of the planned calls.
func (c *Calls) stepRoom() int {
	left := c.run.Host().Limits.StepBytes
	if d := c.run.Row().Draft; d != nil {
		for _, p := range d.Message.Content {
			left -= len(p.Text) + len(p.Args) + len(p.SentArgs) + len(p.Provider)
		}
	}
	for _, p := range c.plan {
		left -= len(p.result)
	}
	return left
}

// fitResult replaces a call's result if it exceeds the step's room.
func (c *Calls) fitResult(p *Call) {
	have := len(p.result)
	if have == 0 {
		return
	}
	if c.resultRoom -= have; c.resultRoom >= 0 || p.spawns {
		return
	}
	c.resultRoom += have
	text := fmt.Sprintf("the tool ran, and its result of %d bytes is longer than the %d bytes that the step has room for",
		have, max(c.resultRoom, 0))
	if p.answered != nil {
		p.result = p.resultOf(nil, text)
		return
	}
	p.result = toolresult.Error(text)
}
