package agent

import (
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/thread"
)

// newPark returns a park of the call. It lasts for ttl or, if ttl is not positive, for the tool's or
// the engine's duration. Its time begins with the commit of [calls.park].
func (l *calls) newPark(p *plannedCall, reason string, ttl time.Duration) *spool.Park {
	call := p.call
	for _, or := range []time.Duration{p.tool.Expiry.TTL, l.s.runner.Rules.ParkTTL} {
		if ttl <= 0 {
			ttl = or
		}
	}
	park := &spool.Park{
		RunID: l.run.Root(), AgentID: l.run.AgentID(), Frames: l.frames(), ToolCallID: call.ID, ToolName: call.Name, Step: call.Step, Args: call.Args,
		Reason: reason, State: spool.ParkOpen, Expiry: p.tool.Expiry.Or(ttl),
		DistinctApprover: l.distinctApprover(p, reason), Revision: l.s.main.self.Revision,
	}
	if n := p.asked(); n > 0 {
		park.Occurrence = n + 1
	}
	if reason == spool.ParkApproval && l.agent.FromSource[call.Name] { // a process that answers may not have the list
		park.Schema = p.tool.Parameters
	}
	return park
}

// distinctApprover reports whether the subject that started the run may not answer the call's park. If
// one park of a call requires another subject, the call's next park does too, because this worker may
// have another version of the tool. An agent's requirement also applies to the runs that it spawns.
func (l *calls) distinctApprover(p *plannedCall, reason string) bool {
	if p.tool.DistinctApprover || p.answered != nil && p.answered.DistinctApprover {
		return true
	}
	if reason != spool.ParkApproval && reason != spool.ParkOutcomeUnknown {
		return false
	}
	for above := l.runState; above != nil; above = above.parent {
		if above.agent.DistinctApprover {
			return true
		}
	}
	return false
}

// maxParkState bounds the schema and the state of a tool's park, in bytes each. Every segment reads them, and clients
// get the schema.
const maxParkState = 2 << 20

// checkPark returns an error for a park that cannot be stored.
func checkPark(r *spool.ParkRequest) error {
	for name, text := range map[string]json.RawMessage{"the schema of the question": r.Schema, "the state of the question": r.Resume, "the state of the work": r.Pending} {
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
func (l *calls) parkFor(call *plannedCall, r *spool.ParkRequest) *spool.Park {
	reason := r.Reason
	if reason == "" || reason == spool.ParkClientTool { // a tool that runs here cannot claim this reason
		reason = "input"
	}
	p := l.newPark(call, reason, r.TTL)
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
		p.Pending = &spool.PendingCall{State: r.Pending}
	}
	return p
}

// unknownPark returns the park that asks for the outcome of a call.
func (l *calls) unknownPark(p *plannedCall) *spool.Park {
	park := l.newPark(p, spool.ParkOutcomeUnknown, 0)
	park.Before, park.Resume = p.call.Answer, p.call.Resume
	switch before := p.answered; {
	case before == nil:
	case before.State == spool.ParkPending: // the call as it began the work
		park.Before, park.Resume = before.Before, before.Resume
	default:
		park.Pending = before.Pending
	}
	return park
}

// lostWork returns the park that asks for the outcome of a call whose tool does not know it. If its work had begun,
// an approval begins the work anew.
func (l *calls) lostWork(p *plannedCall) *spool.Park {
	park := l.unknownPark(p)
	if park.Pending != nil {
		park.Before, park.Resume, park.Pending = nil, nil, nil
	}
	return park
}

// park writes the parks of a step. They become open with the transition of the dispatched run, for the
// whole tree at once.
func (l *calls) park(tx *thread.Tx) error {
	var c spool.Changes
	for _, p := range l.plan {
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
		c.Parks = append(c.Parks, park)
		if p.state == callParked && park.Reason != spool.ParkOutcomeUnknown { // the tool parked itself and is called again with the answer
			c.Effects = append(c.Effects, p.effect(spool.EffectVoid))
		}
	}
	if err := tx.Write(c); err != nil {
		return err
	}
	if tx.IsNested() {
		return thread.ParkNested(tx)
	}
	if l.late && l.parksForBudget(spool.StopTimeBudget) {
		if err := thread.AskForTime(tx, l.s.distinctBudgetApprover()); err != nil {
			return err
		}
	}
	return thread.Park(tx)
}

// parked wakes the workers, so that they learn when the parks expire.
func (l *runState) parked() {
	if l.parent == nil {
		l.s.runner.Live.Wake(spool.JobsTopic, spool.WakeJobs, nil)
	}
}
