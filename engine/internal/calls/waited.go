package calls

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/registry"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/engine/internal/toolresult"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// PlanWaited resumes the last step's calls that waited: calls whose parks are resolved, and calls
// whose nested runs may continue. It counts the parks that are still open.
func (c *Calls) PlanWaited(ctx context.Context) (bool, error) {
	if c.run.Row().Segments <= 1 && c.run.Row().Steps == 0 && c.run.Row().Draft == nil { // no call can have waited
		return false, nil
	}
	var parks int
	err := c.run.View(ctx, func(v store.View) error {
		all, err := v.Parks(c.run.Row().Root())
		if err != nil {
			return err
		}
		var resolved []store.Park
		resolved, c.open = c.resolved(all)
		parks = len(resolved)
		if c.plan, err = c.waitingCalls(v); err != nil {
			return err
		}
		for _, park := range resolved {
			effects, err := v.Effects(c.run.Row().ID, park.Step)
			if err != nil {
				return err
			}
			if effect := effectOf(effects, park.ToolCallID); park.State == wire.ParkPending {
				c.plan = append(c.plan, c.planPending(park, effect, v.Now()))
			} else {
				c.plan = append(c.plan, c.planAnswered(park, effect))
			}
		}
		return nil
	})
	if err != nil {
		c.plan = nil // a part of it
	}
	if len(c.plan) == 0 {
		return false, err
	}
	if !c.run.Nested() && parks == 0 {
		return true, nil // there is nothing to write
	}
	return true, c.run.Update(ctx, func(tx *thread.Tx) error {
		if err := tx.Write(store.Changes{Effects: pendingEffects(c.plan)}); err != nil {
			return err
		}
		if !tx.IsNested() || tx.Run.State == wire.Running {
			return nil
		}
		return thread.ResumeNested(tx)
	})
}

// resolved returns the parks of the last step whose calls continue, and counts those that are still open.
func (c *Calls) resolved(all []store.Park) (parks []store.Park, open int) {
	for _, p := range all {
		switch {
		case p.Landed || p.AgentID != c.run.Row().AgentID() || p.Reason == wire.ParkBudget || c.ofDraft(p):
		case p.State == wire.ParkOpen, p.State == wire.ParkPending && !p.Pending.Ready:
			open++
		case p.State == wire.ParkAnswered || p.State == wire.ParkExpired || p.State == wire.ParkPending:
			parks = append(parks, p)
		}
	}
	return parks, open
}

// waitingCalls returns the last step's calls whose nested runs waited.
func (c *Calls) waitingCalls(v store.View) ([]*Call, error) {
	if c.run.Row().Children == 0 && !c.run.Nested() {
		return nil, nil
	}
	effects, err := v.Effects(c.run.Row().ID, c.run.Row().Steps)
	if err != nil {
		return nil, err
	}
	var plan []*Call
	for _, e := range effects {
		if e.State != wire.EffectWaiting {
			continue
		}
		tool, _ := c.run.Agent().Tool(spool.SpawnTool)
		plan = append(plan, &Call{
			call: c.toolCall(e.ToolCallID, spool.SpawnTool, nil, e.Step), tool: tool, spawns: true, state: callNew,
		})
	}
	return plan, nil
}

// planAnswered plans a call whose park was answered or has expired.
func (c *Calls) planAnswered(park store.Park, effect store.Effect) *Call {
	p := &Call{call: c.toolCall(park.ToolCallID, park.ToolName, park.Args, park.Step), answered: &park, state: callNew}
	tool, known := c.run.Agent().Tool(park.ToolName)
	p.tool, p.call.Answer, p.call.Resume = tool, park.Answer, park.Resume
	if park.Answer != nil && park.Answer.Args != nil {
		p.call.Args = park.Answer.Args
	}
	unknown := park.Reason == wire.ParkOutcomeUnknown
	if unknown { // the question was about the outcome, so the call's earlier answer still applies
		p.call.Answer = park.Before
	}
	if park.Pending != nil { // the work of the call has begun
		p.call.Pending = park.Pending.State
	}
	resumes := park.Resume != nil && !unknown && known
	switch {
	case effect.State == wire.EffectDone:
		p.save(effect.Result)
	case park.State == wire.ParkExpired && resumes, park.Answer != nil && !park.Answer.Approved && resumes:
		if effect.State == wire.EffectPending {
			c.planUnknown(p)
		}
	case park.State == wire.ParkExpired:
		p.decide(toolresult.Expired(park))
	case !park.Answer.Approved && unknown:
		p.decide(toolresult.Reported(park.Answer))
	case !park.Answer.Approved:
		p.decide(toolresult.Denied(park.Answer))
	case park.Digest != "" && park.Answer.Digest != park.DigestOf(p.call.Args):
		p.decide(toolresult.LateError("this call is not the one that was approved"))
	case park.Reason == wire.ParkClientTool: // the client executed the call, even if a tool has its name by now
		p.decide(toolresult.Client(park.Answer))
	case effect.State == wire.EffectPending:
		c.planUnknown(p)
	case !known:
		p.decide(toolresult.LateError("Unknown tool: " + park.ToolName))
	case registry.ArgsProblem(p.call.Args) != nil: // an older version of the engine let it park
		p.decide(toolresult.LateError(registry.ArgsProblem(p.call.Args).Error()))
	case park.Answer.Args != nil: // the process that took the answer may have another version of the tool
		if err := registry.CheckEdited(c.run.Host().Log, tool, park.Answer.Args); err != nil {
			p.decide(toolresult.LateError(err.Error()))
		}
	}
	return p
}
