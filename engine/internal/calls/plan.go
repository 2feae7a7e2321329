// Package calls makes the tool calls of a step: it plans them, makes them, parks those that wait, and saves their
// results. A [Call] has one state, and call.go has all its transitions. Package active draws the rooms above and below.
package calls

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/active"
	"github.com/spoolhq/spool/engine/internal/registry"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/engine/internal/toolresult"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Calls are the tool calls of the current step of a run.
type Calls struct {
	run *active.Run

	plan []*Call
	open int // the last step's open parks
	// resultRoom is how many bytes are left for results.
	resultRoom int
}

// New returns the calls of a run. No call is planned yet.
func New(run *active.Run) *Calls { return &Calls{run: run} }

// Planned reports whether calls are planned and not saved.
func (c *Calls) Planned() bool { return c.plan != nil }

// Open reports whether calls of the last step wait for answers or for the work of their tools.
func (c *Calls) Open() bool { return c.open > 0 }

// Spawning returns the planned spawn calls that have no result.
func (c *Calls) Spawning() (open []*Call) {
	for _, p := range c.plan {
		if p.spawns && p.result == nil {
			open = append(open, p)
		}
	}
	return open
}

// pendingEffects returns the effects of the calls that are about to run.
func pendingEffects(plan []*Call) (pending []store.Effect) {
	for _, p := range plan {
		if p.state == callNew && !p.spawns { // a spawn's outcome is never unknown
			pending = append(pending, p.effect(wire.EffectPending))
		}
	}
	return pending
}

// VoidUnmade voids the pending effects of calls that were not made.
func (c *Calls) VoidUnmade(tx *thread.Tx) error {
	var changes store.Changes
	for _, p := range c.plan {
		if p.unmade() && !p.spawns {
			changes.Effects = append(changes.Effects, p.effect(wire.EffectVoid))
		}
	}
	return tx.Write(changes)
}

// planCalls plans the calls of a step. If a worker died in the step, effects has the step's effect
// ledger, and pending the parks of its pending calls; otherwise they are nil.
func (c *Calls) planCalls(
	ctx context.Context, parts []spool.Part, step int, effects []store.Effect, pending map[spool.ToolCallID]store.Park,
) []*Call {
	plan := make([]*Call, 0, len(parts))
	for _, part := range parts {
		p := &Call{call: c.toolCall(part.ToolCallID, part.ToolName, part.Args, step), state: callNew}
		plan = append(plan, p)
		tool, known := c.run.Agent().Tool(part.ToolName)
		p.tool, p.spawns = tool, c.run.Agent().Spawns(part.ToolName)
		c.planDescribed(p, plan[:len(plan)-1])
		effect := effectOf(effects, part.ToolCallID)
		waits, isPending := pending[part.ToolCallID]
		switch {
		case isPending:
			p.ask(&waits)
		case effect.State == wire.EffectDone:
			p.save(effect.Result)
		case effect.State == wire.EffectPending:
			c.planUnknown(p)
		case !known:
			p.decide(toolresult.Error("unknown tool " + part.ToolName))
		case p.undescribed:
			p.decide(c.run.Agent().Catalogue.Undescribed(part.ToolName,
				slices.Concat(c.describedBefore(plan[:len(plan)-1]), p.describes)))
		default:
			c.planFresh(ctx, p)
		}
		if p.result == nil && c.isTransfer(p) {
			if refused := c.refusedTransfer(plan); refused != nil {
				p.decide(refused)
			}
		}
	}
	return plan
}

// planFresh plans a call that has not run. It checks the call's arguments, and whether the call needs
// approval.
func (c *Calls) planFresh(ctx context.Context, p *Call) {
	defer func() { // the check is application code, like the tool
		if r := recover(); r != nil {
			p.decide(toolresult.Error(panicked))
			c.run.Log().ErrorContext(ctx, "tool check panicked", "tool", p.call.Name, "panic", r, "stack", string(debug.Stack()))
		}
	}()
	if err := registry.CheckArgs(p.tool, p.call.Args); err != nil {
		p.decide(toolresult.Error(err.Error()))
		return
	}
	if p.spawns && c.run.Row().Depth >= c.run.SpawnLimits().MaxDepth {
		p.decide(toolresult.Error(fmt.Sprintf("runs may not be nested deeper than %d", c.run.SpawnLimits().MaxDepth)))
		return
	}
	if c.run.Agent().AtClient[p.call.Name] {
		p.ask(c.newPark(p, wire.ParkClientTool, c.run.Host().Rules.ClientToolTTL))
		return
	}
	if p.tool.Approval == nil {
		return
	}
	switch needed, err := p.tool.Approval(ctx, p.call); {
	case err != nil:
		p.decide(toolresult.Error(spool.MessageOf(err)))
	case needed:
		p.ask(c.newPark(p, wire.ParkApproval, 0))
	}
}

// planUnknown plans a call that was pending when its worker died. It repeats the call if the tool is
// idempotent, or if it is so for this answer to a question of its work. Otherwise it asks a person.
func (c *Calls) planUnknown(p *Call) {
	if p.tool.Idempotent || p.call.Pending != nil && p.tool.PendingIdempotent {
		p.repeat()
		return
	}
	p.ask(c.unknownPark(p))
}

func (c *Calls) toolCall(id spool.ToolCallID, name string, args json.RawMessage, step int) spool.ToolCall {
	row, segment := c.run.Row(), c.run.Segment()
	run, key := row.ID, row.CallKey(step, id)
	return spool.ToolCall{
		Thread: segment.Key, RunID: run, Step: step, ID: id, Name: name, Args: args, HostState: row.HostState,
		Agent: row.Agent, Subject: row.StartedBy, Key: key, Fence: segment.Fence, LeaseFunc: segment.CheckLease,
		PublishFunc: func(ctx context.Context, event spool.Event) error {
			return segment.Host.Publisher.FromTool(ctx, &segment.Segment, event, run, name)
		},
		SaveArtifactFunc: c.saveArtifactFunc(key),
		OpenArtifactFunc: c.openArtifactFunc(), StoresResults: segment.Host.StoreResults,
	}
}

func effectOf(effects []store.Effect, id spool.ToolCallID) store.Effect {
	for _, e := range effects {
		if e.ToolCallID == id {
			return e
		}
	}
	return store.Effect{}
}

// maxHandovers bounds how often a run changes its agent: two agents could hand a thread to each other forever.
const maxHandovers = 8

// isTransfer reports whether a call hands the thread over.
func (c *Calls) isTransfer(p *Call) bool {
	return p.call.Name == spool.TransferTool && !c.run.Nested() && len(c.run.Agent().Transfers) > 0
}

// refusedTransfer returns the error of the plan's last call, which hands the thread over, or nil if it may.
func (c *Calls) refusedTransfer(plan []*Call) json.RawMessage {
	before := plan[:len(plan)-1]
	switch {
	case len(c.run.Row().Handovers) >= maxHandovers:
		return toolresult.Error(
			fmt.Sprintf("the conversation was handed over %d times in this turn: answer the user yourself", maxHandovers),
		)
	case slices.ContainsFunc(before, func(p *Call) bool {
		return c.isTransfer(p) && (p.result == nil || registry.TransferredTo(p.result))
	}):
		return toolresult.Error("another call of this step has handed the conversation over")
	default:
		return nil
	}
}
