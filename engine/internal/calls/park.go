package calls

import (
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// newPark returns a park of the call. It lasts for ttl or, if ttl is not positive, for the tool's or
// the engine's duration. Its time begins with the commit of [Calls.park].
func (c *Calls) newPark(p *Call, reason string, ttl time.Duration) *store.Park {
	call := p.call
	for _, or := range []time.Duration{p.tool.Expiry.TTL, c.run.Host().Rules.ParkTTL} {
		if ttl <= 0 {
			ttl = or
		}
	}
	park := &store.Park{
		RunID: c.run.Row().Root(), AgentID: c.run.Row().AgentID(), Frames: c.run.Frames(), ToolCallID: call.ID,
		ToolName: call.Name, Step: call.Step, Args: call.Args, Reason: reason, State: wire.ParkOpen,
		Expiry: p.tool.Expiry.Or(ttl), DistinctApprover: c.distinctApprover(p, reason), Revision: c.run.Dispatched().Revision,
	}
	if n := p.asked(); n > 0 {
		park.Occurrence = n + 1
	}
	if reason == wire.ParkApproval && c.run.Agent().FromSource[call.Name] { // a process that answers may not have the list
		park.Schema = p.tool.Parameters
	}
	return park
}

// distinctApprover reports whether the subject that started the run may not answer the call's park. If
// one park of a call requires another subject, the call's next park does too, because this worker may
// have another version of the tool. An agent's requirement also applies to the runs that it spawns.
func (c *Calls) distinctApprover(p *Call, reason string) bool {
	if p.tool.DistinctApprover || p.answered != nil && p.answered.DistinctApprover {
		return true
	}
	if reason != wire.ParkApproval && reason != wire.ParkOutcomeUnknown {
		return false
	}
	return c.run.DistinctApprover()
}

// maxParkState bounds the schema and the state of a tool's park, in bytes each. Every segment reads them, and clients
// get the schema.
const maxParkState = 2 << 20

// checkPark returns an error for a park that cannot be stored.
func checkPark(r *spool.ParkRequest) error {
	for name, text := range map[string]json.RawMessage{
		"the schema of the question": r.Schema, "the state of the question": r.Resume, "the state of the work": r.Pending,
	} {
		if len(text) > maxParkState {
			return spool.Errorf(spool.Limit, "%s has more than %d bytes", name, maxParkState)
		}
		if text == nil {
			continue
		}
		if err := spool.CheckJSON(name, text); err != nil {
			return err
		}
	}
	return nil
}

// parkFor returns the park that a tool asked for. A client sees the tool's payload; the call resumes
// with its own arguments.
func (c *Calls) parkFor(call *Call, r *spool.ParkRequest) *store.Park {
	reason := r.Reason
	if reason == "" || reason == wire.ParkClientTool { // a tool that runs here cannot claim this reason
		reason = "input"
	}
	p := c.newPark(call, reason, r.TTL)
	if r.Payload != nil {
		if shown, err := json.Marshal(r.Payload); err == nil {
			p.Shown = shown
		}
	}
	p.Schema, p.Resume = r.Schema, r.Resume
	// What the call goes on with, and what is to be cancelled if the run ends.
	if before := call.answered; before != nil {
		p.Pending = before.Pending
	}
	if r.Pending != nil {
		p.Pending = &wire.PendingCall{State: r.Pending}
	}
	return p
}

// unknownPark returns the park that asks for the outcome of a call.
func (c *Calls) unknownPark(p *Call) *store.Park {
	park := c.newPark(p, wire.ParkOutcomeUnknown, 0)
	park.Before, park.Resume = p.call.Answer, p.call.Resume
	switch before := p.answered; {
	case before == nil:
	case before.State == wire.ParkPending: // the call as it began the work
		park.Before, park.Resume = before.Before, before.Resume
	default:
		park.Pending = before.Pending
	}
	return park
}

// lostWork returns the park that asks for the outcome of a call whose tool does not know it. If its work had begun,
// an approval begins the work anew.
func (c *Calls) lostWork(p *Call) *store.Park {
	park := c.unknownPark(p)
	if park.Pending != nil {
		park.Before, park.Resume, park.Pending = nil, nil, nil
	}
	return park
}

// park writes the parks of a step. They become open with the transition of the dispatched run, for the
// whole tree at once.
func (c *Calls) park(tx *thread.Tx, outOfTime bool) error {
	var changes store.Changes
	for _, p := range c.plan {
		if !p.parks() {
			continue
		}
		if p.pends() {
			p.startTime(tx.Now)
		} else {
			p.park.CreatedAt = tx.Now
			p.park.Digest = p.park.DigestOf(nil)
		}
		park := *p.park
		changes.Parks = append(changes.Parks, park)
		// the tool parked itself and is called again with the answer
		if p.state == callParked && park.Reason != wire.ParkOutcomeUnknown {
			changes.Effects = append(changes.Effects, p.effect(wire.EffectVoid))
		}
	}
	if err := tx.Write(changes); err != nil {
		return err
	}
	if tx.IsNested() {
		return thread.ParkNested(tx)
	}
	if outOfTime && c.run.ParksForBudget(wire.StopTimeBudget) {
		if err := thread.AskForTime(tx, c.run.DistinctBudgetApprover()); err != nil {
			return err
		}
	}
	return thread.Park(tx)
}
