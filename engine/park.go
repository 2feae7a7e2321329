package engine

import (
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
)

// newPark returns a park of the call, which lasts for ttl, or as long as the tool or else
// the engine says. What it counts from is the commit: see park.
func (l *loop) newPark(p *plannedCall, reason string, ttl time.Duration) *spool.Park {
	call := p.call
	for _, or := range []time.Duration{p.tool.Expiry.TTL, l.s.e.config.ParkTTL} {
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
func (l *loop) distinct(p *plannedCall, reason string) bool {
	if p.tool.DistinctApprover || p.answered != nil && p.answered.DistinctApprover {
		return true
	}
	if reason != spool.ParkApproval && reason != spool.ParkOutcomeUnknown {
		return false
	}
	for above := l; above != nil; above = above.parent {
		if above.agent.DistinctApprover {
			return true
		}
	}
	return false
}

// parkFor returns the park that a tool asked for. What it shows is the tool's payload;
// what the call resumes with is its own arguments.
func (l *loop) parkFor(call *plannedCall, r *spool.ParkRequest) *spool.Park {
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
// runs below it come into force, which nobody could answer before.
func (l *loop) park(h *held) error {
	for _, p := range l.plan {
		if p.park == nil {
			continue
		}
		park := *p.park
		park.CreatedAt = h.now
		park.Digest = park.DigestOf(nil)
		if err := h.PutPark(park); err != nil {
			return err
		}
		if p.ran { // the tool has parked itself, and is called again with the answer
			if err := h.PutEffect(p.effect(spool.EffectVoid)); err != nil {
				return err
			}
		}
	}
	if h.root != nil {
		h.run.State = spool.WaitingForInput
		return h.put()
	}
	if err := l.askIfAlone(h); err != nil {
		return err
	}
	return l.s.park(h)
}

// park is the transition to WAITING_FOR_INPUT. The entries that tell of the parks and the
// jobs by which they expire are written with the step; the lease is given up. The stream has an
// item for each entry, behind all of them, and then ends.
func (s *segment) park(h *held) error {
	parks, err := h.parks()
	if err != nil {
		return err
	}
	var entries []*spool.Entry
	for _, park := range parks {
		if park.State != spool.ParkOpen || !park.ExpiresAt.IsZero() {
			continue
		}
		park.CreatedAt = h.now
		park.ExpiresAt = h.now.Add(park.Expiry.TTL)
		if err := h.PutPark(park); err != nil {
			return err
		}
		if err := h.Enqueue(h.expiryJob(park)); err != nil {
			return err
		}
		required, err := s.e.inputRequired(h, park)
		if err != nil {
			return err
		}
		entries = append(entries, spool.NewEntry(spool.EntryInputRequired, h.run.ID, required))
	}
	if err := h.entries(entries...); err != nil {
		return err
	}
	for _, entry := range entries {
		h.item(spool.ItemInputRequired, entry.Payload)
	}
	err = h.closeSegment(spool.ItemRunFinished, spool.StreamFinished{Status: spool.SegmentParked}, spool.RunEnded{Status: spool.SegmentParked})
	if err != nil {
		return err
	}
	if err := h.move(spool.WaitingForInput); err != nil {
		return err
	}
	h.letGo()
	return h.save()
}

// parked wakes workers for the times at which the parks expire.
func (l *loop) parked() {
	if l.parent == nil {
		l.s.e.bus.Wake(spool.JobsTopic, spool.WakeJobs)
	}
}

// inputRequired returns what the record tells of an open park.
func (e *Engine) inputRequired(v spool.View, p spool.Park) (spool.InputRequired, error) {
	shown := p.Args
	if p.Shown != nil {
		shown = p.Shown
	}
	required := spool.InputRequired{
		ToolCallID: p.ToolCallID, ToolName: p.ToolName, Arguments: shown, Frames: record.NonNil(p.Frames),
		Reason: p.Reason, Digest: p.Digest, Occurrence: p.Occurrence, ExpiresAt: p.ExpiresAt, OnExpiry: onExpiry(p),
		DistinctApprover: p.DistinctApprover,
	}
	var err error
	if required.InputSchema, err = e.editableBy(v, p); err != nil || p.AgentID == "" {
		return required, err
	}
	run, err := v.Run(p.CallerID())
	if err != nil {
		return required, err
	}
	required.AgentID = &p.AgentID
	required.Nested = &spool.NestedCaller{AgentID: p.AgentID, Name: run.Agent, Model: run.Model, Depth: run.Depth}
	return required, nil
}

// editableBy returns the schema of the arguments with which an answer may replace those of
// the park. Nil: there is none, or they cannot be replaced.
func (e *Engine) editableBy(v spool.View, p spool.Park) (json.RawMessage, error) {
	if p.Reason != spool.ParkApproval {
		return nil, nil
	}
	agent, err := e.agentOf(v, p.CallerID())
	if err != nil || agent == nil {
		return nil, err
	}
	tool, _ := agent.tool(p.ToolName)
	return tool.Parameters, nil
}

// onExpiry is what the wire says of a park's end. The usual one goes without saying.
func onExpiry(p spool.Park) spool.ExpiryAction {
	if p.Expiry.Then == spool.ExpireDeny {
		return ""
	}
	return p.Expiry.Then
}

// warnAt returns when an open park is to be warned of, which is zero for never.
func warnAt(p spool.Park) time.Time {
	if p.Warned || p.Expiry.Warn <= 0 || p.Expiry.Warn >= p.Expiry.TTL {
		return time.Time{}
	}
	return p.ExpiresAt.Add(-p.Expiry.Warn)
}

// expiryJob returns the job by which something becomes of an open park: its warning, and
// then its end.
func (h *held) expiryJob(p spool.Park) spool.Job {
	due := p.ExpiresAt
	if warn := warnAt(p); !warn.IsZero() {
		due = warn
	}
	j := h.job(spool.JobExpiry, due.Sub(h.now))
	j.Key = expiryKey(p)
	return j
}

func expiryKey(p spool.Park) string {
	return "hitl-expiry:" + string(p.RunID) + ":" + string(p.ToolCallID)
}
