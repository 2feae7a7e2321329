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
	if p.answered != nil {
		park.Occurrence = max(p.answered.Occurrence, 1) + 1
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
	return p
}

// park writes the parks of a step. They become open with the transition of the dispatched run, for the
// whole tree at once.
func (l *calls) park(tx *thread.Tx) error {
	var c spool.Changes
	for _, p := range l.plan {
		if p.park == nil {
			continue
		}
		park := *p.park
		park.CreatedAt = tx.Now
		park.Digest = park.DigestOf(nil)
		c.Parks = append(c.Parks, park)
		if p.ran { // the tool parked itself and is called again with the answer
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
