package agent

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

// asked returns how many questions the call has asked.
func (p *plannedCall) asked() int {
	switch {
	case p.answered == nil:
		return 0
	case p.answered.State == wire.ParkPending:
		return p.answered.Occurrence
	default:
		return max(p.answered.Occurrence, 1)
	}
}

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
func (l *calls) pendingPark(p *plannedCall, e *spool.PendingError) *store.Park {
	park := l.newPark(p, wire.ParkToolPending, 0)
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

// begin fills in the times of a pending call that is about to be stored.
func (p *plannedCall) begin(now time.Time) {
	if p.park.CreatedAt.IsZero() {
		p.park.CreatedAt = now
	}
	if p.park.Pending.Until.IsZero() {
		p.park.Pending.Until = now.Add(cmp.Or(p.tool.PendingTimeout, spool.DefaultPendingTimeout))
	}
}

// pends reports whether the call has become pending and waits for its tool.
func (p *plannedCall) pends() bool { return p.park != nil && p.park.State == wire.ParkPending }

// savePending stores a call that has become pending while other calls of its step run.
func (l *calls) savePending(ctx context.Context, p *plannedCall) error {
	return l.update(ctx, func(tx *thread.Tx) error {
		p.begin(tx.Now)
		return tx.Write(store.Changes{Effects: []store.Effect{p.effect(wire.EffectVoid)}, Parks: []store.Park{*p.park}})
	})
}

// abandon ends a call that has no result: nobody waits for its work any more.
func (p *plannedCall) abandon(reason string) {
	p.abandoned = true
	outcome := toolresult.EffectOf(p.mayHaveEffect())
	if p.pends() {
		p.left = p.park
	}
	p.result, p.park, p.ran, p.waits = toolresult.Cancelled(reason, outcome), nil, false, false
}

// mayHaveEffect reports whether a call without a result has begun: this worker or an earlier one has called its tool,
// which has not answered with a question. A spawn call has no effect of its own.
func (p *plannedCall) mayHaveEffect() bool {
	switch {
	case p.spawns:
		return false
	case p.call.Pending != nil:
		return true
	case p.park != nil:
		return p.pends() || p.park.Reason == wire.ParkOutcomeUnknown
	default:
		return p.ran || p.begun
	}
}

// landPark notes in the call's park that the call has its result.
func (p *plannedCall) landPark(tx *thread.Tx, c *store.Changes) {
	from := cmp.Or(p.left, p.answered)
	if from == nil {
		return
	}
	park := *from
	park.Landed = true
	if park.CreatedAt.IsZero() {
		park.CreatedAt = tx.Now
	}
	gone := p.abandoned || !p.ran && !p.saved // the tool has not given the result
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
func (l *calls) planPending(park store.Park, effect store.Effect, now time.Time) *plannedCall {
	p := &plannedCall{call: l.toolCall(park.ToolCallID, park.ToolName, park.Args, park.Step), answered: &park, begun: true}
	tool, known := l.agent.Tool(park.ToolName)
	p.tool, p.call.Pending = tool, park.Pending.State
	p.overdue = !now.Before(park.Pending.Until)
	switch {
	case effect.State == wire.EffectDone:
		p.result, p.saved = effect.Result, true
	case !known:
		p.result = toolresult.LateError("Unknown tool: " + park.ToolName)
	}
	return p
}

// parkAgain parks a run that has nothing to do before calls are answered or their tools are done.
func (l *loop) parkAgain(ctx context.Context) error {
	if l.parent != nil { // an earlier worker parked it and died
		return nil
	}
	err := l.commit(ctx, func(tx *thread.Tx) error {
		if tx.Stopping() {
			return l.finishIn(tx, store.Ending{State: wire.Cancelled, Reason: wire.StopCancelled})
		}
		return thread.Park(tx)
	})
	switch {
	case err != nil:
		return err
	case l.run.State == wire.WaitingForInput:
		l.parked()
		return nil
	}
	return l.afterFinish(ctx)
}
