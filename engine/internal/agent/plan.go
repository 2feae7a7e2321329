package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/registry"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/engine/internal/toolresult"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// plannedCall is a tool call of the current step and the plan for it: either it has a result, or it
// parks, or it runs.
type plannedCall struct {
	call spool.ToolCall
	tool spool.Tool
	// result is what the model will read. Nil: not known yet.
	result json.RawMessage
	// park is the park to open for the call, or nil.
	park *store.Park
	// answered is the park whose answer lets the call continue. Nil: the call is new.
	answered *store.Park
	// begun is true once the effect ledger has the call as pending.
	begun bool
	// ran is true once the tool was called.
	ran bool
	// announced numbers the results of the plan as the stream has them, from 1. Zero: the stream does not have
	// the result yet.
	announced int
	// saved is true once the effect ledger has the result.
	saved bool
	// spawns is true for a spawn call.
	spawns bool
	// waits is true if the call's nested run waits.
	waits bool
	// overdue is true for a pending call whose time is over.
	overdue bool
	// abandoned is true if nobody waits for the work of the call any more.
	abandoned bool
	// left is the park of an abandoned call that became pending in this segment, or nil.
	left *store.Park
	// describes are the tools of the catalogue that the run can call after this call, in addition to those before it.
	describes []string
	// undescribed is true for a call of a tool of the catalogue that the run cannot call.
	undescribed bool
	// nested is the loop of the nested run in this segment, or nil.
	nested *loop
}

func (p *plannedCall) runs() bool { return p.result == nil && p.park == nil && !p.waits }

func (p *plannedCall) effect(state wire.EffectState) store.Effect {
	e := store.Effect{RunID: p.call.RunID, Step: p.call.Step, ToolCallID: p.call.ID, State: state}
	if state == wire.EffectDone {
		e.Result = p.result
	}
	return e
}

// pendingEffects returns the effects of the calls that are about to run.
func pendingEffects(plan []*plannedCall) (pending []store.Effect) {
	for _, p := range plan {
		if !p.runs() || p.begun || p.spawns {
			continue // a spawn's outcome is never unknown
		}
		pending = append(pending, p.effect(wire.EffectPending))
	}
	return pending
}

// voidUnrun voids the pending effects of calls that have not run.
func voidUnrun(tx *thread.Tx, plan []*plannedCall) error {
	var c store.Changes
	for _, p := range plan {
		if !p.runs() || p.ran || p.spawns {
			continue
		}
		c.Effects = append(c.Effects, p.effect(wire.EffectVoid))
	}
	return tx.Write(c)
}

// planCalls plans the calls of a step. If a worker died in the step, effects has the step's effect
// ledger, and pending the parks of its pending calls; otherwise they are nil.
func (l *calls) planCalls(ctx context.Context, calls []spool.Part, step int, effects []store.Effect, pending map[spool.ToolCallID]store.Park) []*plannedCall {
	plan := make([]*plannedCall, 0, len(calls))
	for _, c := range calls {
		p := &plannedCall{call: l.toolCall(c.ToolCallID, c.ToolName, c.Args, step)}
		plan = append(plan, p)
		tool, known := l.agent.Tool(c.ToolName)
		p.tool, p.spawns = tool, l.agent.Spawns(c.ToolName)
		l.planDescribed(p, plan[:len(plan)-1])
		effect := effectOf(effects, c.ToolCallID)
		waits, isPending := pending[c.ToolCallID]
		switch {
		case isPending:
			p.park = &waits
		case effect.State == wire.EffectDone:
			p.result, p.saved = effect.Result, true
		case effect.State == wire.EffectPending:
			l.planUnknown(p)
		case !known:
			p.result = toolresult.Error("unknown tool " + c.ToolName)
		case p.undescribed:
			p.result = l.agent.Catalogue.Undescribed(c.ToolName, slices.Concat(l.describedBefore(plan[:len(plan)-1]), p.describes))
		default:
			l.planFresh(ctx, p)
		}
		if p.result == nil && l.isTransfer(p) {
			p.result = l.refusedTransfer(plan)
		}
	}
	return plan
}

// planFresh plans a call that has not run. It checks the call's arguments, and whether the call needs
// approval.
func (l *calls) planFresh(ctx context.Context, p *plannedCall) {
	defer func() { // the check is application code, like the tool
		if r := recover(); r != nil {
			p.result, p.park = toolresult.Error(panicked), nil
			l.s.runner.Concerning(l.s.Key, l.run.ID).ErrorContext(ctx, "tool check panicked", "tool", p.call.Name, "panic", r, "stack", string(debug.Stack()))
		}
	}()
	if err := registry.CheckArgs(p.tool, p.call.Args); err != nil {
		p.result = toolresult.Error(err.Error())
		return
	}
	if p.spawns && l.run.Depth >= l.s.limits().MaxDepth {
		p.result = toolresult.Error(fmt.Sprintf("runs may not be nested deeper than %d", l.s.limits().MaxDepth))
		return
	}
	if l.agent.AtClient[p.call.Name] {
		p.park = l.newPark(p, wire.ParkClientTool, l.s.runner.Rules.ClientToolTTL)
		return
	}
	if p.tool.Approval == nil {
		return
	}
	switch needed, err := p.tool.Approval(ctx, p.call); {
	case err != nil:
		p.result = toolresult.Error(spool.MessageOf(err))
	case needed:
		p.park = l.newPark(p, wire.ParkApproval, 0)
	}
}

// planUnknown plans a call that was pending when its worker died. It repeats the call if the tool is
// idempotent, or if it is so for this answer to a question of its work. Otherwise it asks a person.
func (l *calls) planUnknown(p *plannedCall) {
	if p.tool.Idempotent || p.call.Pending != nil && p.tool.PendingIdempotent {
		p.begun = true
		return
	}
	p.park = l.unknownPark(p)
}

// planDraft resumes a step whose worker died or shut down while its tools ran.
func (l *loop) planDraft(ctx context.Context) (bool, error) {
	draft := l.run.Draft
	if draft == nil {
		return false, nil
	}
	step := l.run.Steps + 1
	var effects []store.Effect
	var parks []store.Park
	err := l.s.runner.Store.View(ctx, l.s.Key, func(v store.View) (err error) {
		if effects, err = v.Effects(l.run.ID, step); err != nil || len(effects) == 0 {
			return err
		}
		parks, err = v.Parks(l.run.Root())
		return err
	})
	if err != nil {
		return false, storeError{err}
	}
	l.replayDraft(ctx, draft)
	pending := make(map[spool.ToolCallID]store.Park)
	for _, p := range parks {
		if l.ofDraft(p) {
			pending[p.ToolCallID] = p
		}
	}
	l.plan = l.planCalls(ctx, draft.Message.ToolCalls(), step, effects, pending)
	return true, l.update(ctx, func(tx *thread.Tx) error { return tx.Write(store.Changes{Effects: pendingEffects(l.plan)}) })
}

// ofDraft reports whether a park is of a call that became pending in the step of the draft.
func (l *calls) ofDraft(p store.Park) bool {
	return l.run.Draft != nil && p.State == wire.ParkPending && !p.Landed && p.AgentID == l.run.AgentID() && p.Step > l.run.Steps
}

// planLanding resumes the last step's calls that waited: calls whose parks are resolved, and calls
// whose nested runs may continue. It counts the parks that are still open.
func (l *calls) planLanding(ctx context.Context) (bool, error) {
	if l.run.Segments <= 1 && l.run.Steps == 0 && l.run.Draft == nil { // no call can have waited
		return false, nil
	}
	var parks []store.Park
	var waiting []*plannedCall
	var now time.Time
	err := l.s.runner.Store.View(ctx, l.s.Key, func(v store.View) error {
		now = v.Now()
		all, err := v.Parks(l.run.Root())
		if err != nil {
			return err
		}
		parks, l.open = l.resolved(all)
		waiting, err = l.waitingCalls(v)
		return err
	})
	if err != nil {
		return false, storeError{err}
	}
	if len(parks)+len(waiting) == 0 {
		return false, nil
	}
	l.plan = waiting
	for _, park := range parks {
		effects, err := l.effects(ctx, park.Step)
		if err != nil {
			return false, err
		}
		effect := effectOf(effects, park.ToolCallID)
		if park.State == wire.ParkPending {
			l.plan = append(l.plan, l.planPending(park, effect, now))
			continue
		}
		l.plan = append(l.plan, l.planAnswered(park, effect))
	}
	if l.parent == nil && len(parks) == 0 {
		return true, nil // there is nothing to write
	}
	return true, l.update(ctx, func(tx *thread.Tx) error {
		if err := tx.Write(store.Changes{Effects: pendingEffects(l.plan)}); err != nil {
			return err
		}
		if !tx.IsNested() || tx.Run.State == wire.Running {
			return nil
		}
		return thread.ResumeNested(tx)
	})
}

// resolved returns the parks of the last step whose calls continue, and counts those that are still open.
func (l *calls) resolved(all []store.Park) (parks []store.Park, open int) {
	for _, p := range all {
		switch {
		case p.Landed || p.AgentID != l.run.AgentID() || p.Reason == wire.ParkBudget || l.ofDraft(p):
		case p.State == wire.ParkOpen, p.State == wire.ParkPending && !p.Pending.Ready:
			open++
		case p.State == wire.ParkAnswered || p.State == wire.ParkExpired || p.State == wire.ParkPending:
			parks = append(parks, p)
		}
	}
	return parks, open
}

// waitingCalls returns the last step's calls whose nested runs waited.
func (l *calls) waitingCalls(v store.View) ([]*plannedCall, error) {
	if l.run.Children == 0 && l.parent == nil {
		return nil, nil
	}
	effects, err := v.Effects(l.run.ID, l.run.Steps)
	if err != nil {
		return nil, err
	}
	var plan []*plannedCall
	for _, e := range effects {
		if e.State != wire.EffectWaiting {
			continue
		}
		tool, _ := l.agent.Tool(spool.SpawnTool)
		plan = append(plan, &plannedCall{call: l.toolCall(e.ToolCallID, spool.SpawnTool, nil, e.Step), tool: tool, spawns: true})
	}
	return plan, nil
}

// planAnswered plans a call whose park was answered or has expired.
func (l *calls) planAnswered(park store.Park, effect store.Effect) *plannedCall {
	p := &plannedCall{call: l.toolCall(park.ToolCallID, park.ToolName, park.Args, park.Step), answered: &park}
	tool, known := l.agent.Tool(park.ToolName)
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
		p.result, p.saved = effect.Result, true
	case park.State == wire.ParkExpired && resumes, park.Answer != nil && !park.Answer.Approved && resumes:
		if effect.State == wire.EffectPending {
			l.planUnknown(p)
		}
	case park.State == wire.ParkExpired:
		p.result = toolresult.Expired(park)
	case !park.Answer.Approved && unknown:
		p.result = toolresult.Reported(park.Answer)
	case !park.Answer.Approved:
		p.result = toolresult.Denied(park.Answer)
	case park.Digest != "" && park.Answer.Digest != park.DigestOf(p.call.Args):
		p.result = toolresult.LateError("this call is not the one that was approved")
	case park.Reason == wire.ParkClientTool: // the client executed the call, even if a tool has its name by now
		p.result = toolresult.Client(park.Answer)
	case effect.State == wire.EffectPending:
		l.planUnknown(p)
	case !known:
		p.result = toolresult.LateError("Unknown tool: " + park.ToolName)
	case registry.ArgsProblem(p.call.Args) != nil: // an older version of the engine let it park
		p.result = toolresult.LateError(registry.ArgsProblem(p.call.Args).Error())
	case park.Answer.Args != nil: // the process that took the answer may have another version of the tool
		if err := registry.CheckEdited(l.s.runner.Log, tool, park.Answer.Args); err != nil {
			p.result = toolresult.LateError(err.Error())
		}
	}
	return p
}

func (l *calls) toolCall(id spool.ToolCallID, name string, args json.RawMessage, step int) spool.ToolCall {
	return spool.ToolCall{
		Thread: l.s.Key, RunID: l.run.ID, Step: step, ID: id, Name: name, Args: args, HostState: l.run.HostState,
		Agent: l.run.Agent, Subject: l.run.StartedBy, Key: l.run.CallKey(step, id), Fence: l.s.Fence, LeaseFunc: l.s.checkLease,
		PublishFunc: l.publishFunc(name), SaveArtifactFunc: l.saveArtifactFunc(l.run.CallKey(step, id)),
		OpenArtifactFunc: l.openArtifactFunc(), StoresResults: l.s.runner.StoreResults,
	}
}

// publishFunc returns the function with which a tool of this run publishes events.
func (l *calls) publishFunc(tool string) func(context.Context, spool.Event) error {
	s, run := l.s, l.run.ID
	return func(ctx context.Context, event spool.Event) error {
		return s.runner.Publisher.FromTool(ctx, &s.Segment, event, run, tool)
	}
}

func (l *calls) effects(ctx context.Context, step int) (effects []store.Effect, err error) {
	err = l.s.runner.Store.View(ctx, l.s.Key, func(v store.View) error {
		effects, err = v.Effects(l.run.ID, step)
		return err
	})
	if err != nil {
		return nil, storeError{err}
	}
	return effects, nil
}

func effectOf(effects []store.Effect, id spool.ToolCallID) store.Effect {
	for _, e := range effects {
		if e.ToolCallID == id {
			return e
		}
	}
	return store.Effect{}
}

// replayDraft repeats a draft in this segment's stream, because readers have dropped the draft of the
// interrupted stream.
func (l *loop) replayDraft(ctx context.Context, d *store.Draft) {
	for _, p := range d.Message.Content {
		if p.Type != spool.PartToolCall && p.Type != spool.PartSource && p.Text == "" && p.Image == "" && p.File == "" { // only its provider understands it
			continue
		}
		switch p.Type {
		case spool.PartReasoning:
			l.events.Reasoning(ctx, p.Text)
		case spool.PartText:
			l.events.Text(ctx, p.Text)
		case spool.PartImage, spool.PartFile:
			l.events.EndBlock(ctx)
			l.events.Item(ctx, wire.ItemFile, wire.FileShown{Image: p.Image, File: p.File, MIMEType: p.MIMEType, FileName: p.FileName})
		case spool.PartToolCall:
			l.events.EndBlock(ctx)
			l.events.Item(ctx, wire.ItemToolStart, wire.ToolStarted{ToolCallID: p.ToolCallID, ToolName: p.ToolName})
			l.events.Item(ctx, wire.ItemToolEnd, wire.ToolEnded{ToolCallID: p.ToolCallID, ToolName: p.ToolName, Args: p.Args, SentArgs: p.SentArgs})
		case spool.PartSource:
			l.events.Source(ctx, spool.Source{URL: p.URL, Title: p.Title, Spans: p.Spans})
		}
	}
	l.events.EndBlock(ctx)
	l.s.Writer.Flush(ctx)
}
