package agent

import (
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/thread"
)

// newPark returns a park of the call, which lasts for ttl, or as long as the tool or else
// the engine says. What it counts from is the commit: see park.
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
		DistinctApprover: l.distinct(p, reason),
	}
	if p.answered != nil {
		park.Occurrence = max(p.answered.Occurrence, 1) + 1
	}
	return park
}

// distinct reports whether who started the run may not answer what the call waits for. What
// one park of a call has asked for holds for the next: its worker may know the tool otherwise.
// What an agent asks for holds for the runs that it spawns.
func (l *calls) distinct(p *plannedCall, reason string) bool {
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

// parkFor returns the park that a tool asked for. What it shows is the tool's payload;
// what the call resumes with is its own arguments.
func (l *calls) parkFor(call *plannedCall, r *spool.ParkRequest) *spool.Park {
	reason := r.Reason
	if reason == "" || reason == spool.ParkClientTool { // which is never the word of a tool that runs here
		reason = "input"
	}
	p := l.newPark(call, reason, r.TTL)
	if r.Payload != nil {
		if shown, err := json.Marshal(r.Payload); err == nil {
			p.Shown = shown
		}
	}
	return p
}

// park writes the parks of a step with it. With the dispatched run's, the parks of all the
// runs below it come into force.
func (l *calls) park(tx *thread.Tx) error {
	for _, p := range l.plan {
		if p.park == nil {
			continue
		}
		park := *p.park
		park.CreatedAt = tx.Now
		park.Digest = park.DigestOf(nil)
		if err := tx.Store.PutPark(park); err != nil {
			return err
		}
		if p.ran { // the tool has parked itself, and is called again with the answer
			if err := tx.Store.PutEffect(p.effect(spool.EffectVoid)); err != nil {
				return err
			}
		}
	}
	if tx.IsNested() {
		return thread.Wait(tx)
	}
	if l.late && l.parksBudget(spool.StopTimeBudget) {
		if err := thread.AskTimeIfAlone(tx, l.s.distinct()); err != nil {
			return err
		}
	}
	return thread.Park(tx)
}

// parked wakes workers for the times at which the parks expire.
func (l *runState) parked() {
	if l.parent == nil {
		l.s.runner.Bus.Wake(spool.JobsTopic, spool.WakeJobs)
	}
}
