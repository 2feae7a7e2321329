package calls

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/engine/internal/toolresult"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// checkPending returns an error for a pending call that cannot be stored. It fills in the defaults.
func checkPending(e *spool.PendingError) error {
	if e.State == nil {
		e.State = json.RawMessage("null")
	}
	if len(e.State) > maxParkState {
		return spool.Errorf(spool.Limit, "the state of the pending call has more than %d bytes", maxParkState)
	}
	return spool.CheckJSON("the state of the pending call", e.State)
}

// pendingPark returns the park of a call whose tool is not done.
func (c *Calls) pendingPark(p *Call, e *spool.PendingError) *store.Park {
	park := c.newPark(p, wire.ParkToolPending, 0)
	park.State, park.Occurrence, park.Schema = wire.ParkPending, p.asked(), nil
	park.Pending = &wire.PendingCall{State: e.State, After: e.Bounded(), Note: thread.ShortNote(e.Note)}
	switch before := p.answered; {
	case p.call.Pending == nil: // the work begins
		park.Before, park.Resume = p.call.Answer, p.call.Resume
	case before != nil && before.State == wire.ParkPending:
		park.Before, park.Resume, park.CreatedAt = before.Before, before.Resume, before.CreatedAt
		park.Pending.Until, park.Pending.Notes = before.Pending.Until, before.Pending.Notes
	}
	return park
}

// startTime fills in the times of a pending call that is about to be stored.
func (p *Call) startTime(now time.Time) {
	if p.park.CreatedAt.IsZero() {
		p.park.CreatedAt = now
	}
	if p.park.Pending.Until.IsZero() {
		p.park.Pending.Until = now.Add(cmp.Or(p.tool.PendingTimeout, spool.DefaultPendingTimeout))
	}
}

// pends reports whether the call has become pending and waits for its tool.
func (p *Call) pends() bool { return p.park != nil && p.park.State == wire.ParkPending }

// savePending stores a call that has become pending while other calls of its step run.
func (c *Calls) savePending(ctx context.Context, p *Call) error {
	return c.run.Update(ctx, func(tx *thread.Tx) error {
		p.startTime(tx.Now)
		return tx.Write(store.Changes{Effects: []store.Effect{p.effect(wire.EffectVoid)}, Parks: []store.Park{*p.park}})
	})
}

// endPark notes in the call's park that the call has its result.
func (p *Call) endPark(tx *thread.Tx, c *store.Changes) {
	from := p.answered
	if p.state == callCancelled && p.pends() { // it has become pending in this segment
		from = p.park
	}
	if from == nil {
		return
	}
	park := *from
	park.Landed = true
	if park.CreatedAt.IsZero() {
		park.CreatedAt = tx.Now
	}
	gone := p.state != callReturned && p.state != callSaved // the tool has not given the result
	switch {
	case park.State == wire.ParkPending && gone:
		park.State = wire.ParkClosed
	case park.State == wire.ParkPending:
		park.State = wire.ParkDone
	}
	if gone && park.Pending != nil {
		thread.Abandon(tx, c, park)
	}
	c.Parks = append(c.Parks, park)
}

// planPending plans a call whose tool is asked for the result. A look is repeated after a crash.
func (c *Calls) planPending(park store.Park, effect store.Effect, now time.Time) *Call {
	p := &Call{call: c.toolCall(park.ToolCallID, park.ToolName, park.Args, park.Step), answered: &park, state: callRepeats}
	tool, known := c.run.Agent().Tool(park.ToolName)
	p.tool, p.call.Pending = tool, park.Pending.State
	p.overdue = !now.Before(park.Pending.Until)
	switch {
	case effect.State == wire.EffectDone:
		p.save(effect.Result)
	case !known:
		p.decide(toolresult.LateError("Unknown tool: " + park.ToolName))
	}
	return p
}

// ParkAgain parks a run that has nothing to do before calls are answered or their tools are done.
func (c *Calls) ParkAgain(ctx context.Context) error {
	if c.run.Nested() { // an earlier worker parked it and died
		return nil
	}
	return c.run.Commit(ctx, func(tx *thread.Tx) error {
		if tx.Stopping() {
			return c.run.Finish(tx, thread.Cancelled)
		}
		return thread.Park(tx)
	})
}
