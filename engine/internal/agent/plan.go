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
)

// plannedCall is a tool call of the current step and the plan for it: either it has a result, or it
// parks, or it runs.
type plannedCall struct {
	call spool.ToolCall
	tool spool.Tool
	// spawns is true for a spawn call, overdue for a pending call whose time is over, and undescribed for a call of a
	// tool of the catalogue that the run cannot call.
	spawns, overdue, undescribed bool

	state callState
	// result is what the model will read. Nil: not known yet.
	result json.RawMessage
	// park is what the call parks with, or nil.
	park *spool.Park
	// answered is the park whose answer lets the call continue. Nil: the call is new.
	answered *spool.Park
	// announced numbers the results of the plan as the stream has them, from 1. Zero: the stream does not have
	// the result yet.
	announced int
	// describes are the tools of the catalogue that the run can call after this call, in addition to those before it.
	describes []string
	// nested is the loop of the nested run in this segment, or nil.
	nested *loop
}

func (p *plannedCall) effect(state spool.EffectState) spool.Effect {
	e := spool.Effect{RunID: p.call.RunID, Step: p.call.Step, ToolCallID: p.call.ID, State: state}
	if state == spool.EffectDone {
		e.Result = p.result
	}
	return e
}

// pendingEffects returns the effects of the calls that are about to run.
func pendingEffects(plan []*plannedCall) (pending []spool.Effect) {
	for _, p := range plan {
		if p.state == callNew && !p.spawns { // a spawn's outcome is never unknown
			pending = append(pending, p.effect(spool.EffectPending))
		}
	}
	return pending
}

// voidUnrun voids the pending effects of calls that have not run.
func voidUnrun(tx *thread.Tx, plan []*plannedCall) error {
	var c spool.Changes
	for _, p := range plan {
		if p.unmade() && !p.spawns {
			c.Effects = append(c.Effects, p.effect(spool.EffectVoid))
		}
	}
	return tx.Write(c)
}

// planCalls plans the calls of a step. If a worker died in the step, effects has the step's effect
// ledger, and pending the parks of its pending calls; otherwise they are nil.
func (l *calls) planCalls(ctx context.Context, calls []spool.Part, step int, effects []spool.Effect, pending map[spool.ToolCallID]spool.Park) []*plannedCall {
	plan := make([]*plannedCall, 0, len(calls))
	for _, c := range calls {
		p := &plannedCall{call: l.toolCall(c.ToolCallID, c.ToolName, c.Args, step), state: callNew}
		plan = append(plan, p)
		tool, known := l.agent.Tool(c.ToolName)
		p.tool, p.spawns = tool, l.agent.Spawns(c.ToolName)
		l.planDescribed(p, plan[:len(plan)-1])
		effect := effectOf(effects, c.ToolCallID)
		waits, isPending := pending[c.ToolCallID]
		switch {
		case isPending:
			p.ask(&waits)
		case effect.State == spool.EffectDone:
			p.save(effect.Result)
		case effect.State == spool.EffectPending:
			l.planUnknown(p)
		case !known:
			p.decide(toolresult.Error("unknown tool " + c.ToolName))
		case p.undescribed:
			p.decide(l.agent.Catalogue.Undescribed(c.ToolName, slices.Concat(l.describedBefore(plan[:len(plan)-1]), p.describes)))
		default:
			l.planFresh(ctx, p)
		}
		if p.result == nil && l.isTransfer(p) {
			if refused := l.refusedTransfer(plan); refused != nil {
				p.decide(refused)
			}
		}
	}
	return plan
}

// planFresh plans a call that has not run. It checks the call's arguments, and whether the call needs
// approval.
func (l *calls) planFresh(ctx context.Context, p *plannedCall) {
	defer func() { // the check is application code, like the tool
		if r := recover(); r != nil {
			p.decide(toolresult.Error(panicked))
			l.s.runner.Concerning(l.s.Key, l.run.ID).ErrorContext(ctx, "tool check panicked", "tool", p.call.Name, "panic", r, "stack", string(debug.Stack()))
		}
	}()
	if err := registry.CheckArgs(p.tool, p.call.Args); err != nil {
		p.decide(toolresult.Error(err.Error()))
		return
	}
	if p.spawns && l.run.Depth >= l.s.limits().MaxDepth {
		p.decide(toolresult.Error(fmt.Sprintf("runs may not be nested deeper than %d", l.s.limits().MaxDepth)))
		return
	}
	if l.agent.AtClient[p.call.Name] {
		p.ask(l.newPark(p, spool.ParkClientTool, l.s.runner.Rules.ClientToolTTL))
		return
	}
	if p.tool.Approval == nil {
		return
	}
	switch needed, err := p.tool.Approval(ctx, p.call); {
	case err != nil:
		p.decide(toolresult.Error(spool.MessageOf(err)))
	case needed:
		p.ask(l.newPark(p, spool.ParkApproval, 0))
	}
}

// planUnknown plans a call that was pending when its worker died. It repeats the call if the tool is
// idempotent, or if it is so for this answer to a question of its work. Otherwise it asks a person.
func (l *calls) planUnknown(p *plannedCall) {
	if p.tool.Idempotent || p.call.Pending != nil && p.tool.PendingIdempotent {
		p.repeat()
		return
	}
	p.ask(l.unknownPark(p))
}

// planDraft resumes a step whose worker died or shut down while its tools ran.
func (l *loop) planDraft(ctx context.Context) (bool, error) {
	draft := l.run.Draft
	if draft == nil {
		return false, nil
	}
	step := l.run.Steps + 1
	var effects []spool.Effect
	var parks []spool.Park
	err := l.s.runner.Store.View(ctx, l.s.Key, func(v spool.View) (err error) {
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
	pending := make(map[spool.ToolCallID]spool.Park)
	for _, p := range parks {
		if l.ofDraft(p) {
			pending[p.ToolCallID] = p
		}
	}
	l.plan = l.planCalls(ctx, draft.Message.ToolCalls(), step, effects, pending)
	return true, l.update(ctx, func(tx *thread.Tx) error { return tx.Write(spool.Changes{Effects: pendingEffects(l.plan)}) })
}

// ofDraft reports whether a park is of a call that became pending in the step of the draft.
func (l *calls) ofDraft(p spool.Park) bool {
	return l.run.Draft != nil && p.State == spool.ParkPending && !p.Landed && p.AgentID == l.run.AgentID() && p.Step > l.run.Steps
}

// planLanding resumes the last step's calls that waited: calls whose parks are resolved, and calls
// whose nested runs may continue. It counts the parks that are still open.
func (l *calls) planLanding(ctx context.Context) (bool, error) {
	if l.run.Segments <= 1 && l.run.Steps == 0 && l.run.Draft == nil { // no call can have waited
		return false, nil
	}
	var parks []spool.Park
	var waiting []*plannedCall
	var now time.Time
	err := l.s.runner.Store.View(ctx, l.s.Key, func(v spool.View) error {
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
		if park.State == spool.ParkPending {
			l.plan = append(l.plan, l.planPending(park, effect, now))
			continue
		}
		l.plan = append(l.plan, l.planAnswered(park, effect))
	}
	if l.parent == nil && len(parks) == 0 {
		return true, nil // there is nothing to write
	}
	return true, l.update(ctx, func(tx *thread.Tx) error {
		if err := tx.Write(spool.Changes{Effects: pendingEffects(l.plan)}); err != nil {
			return err
		}
		if !tx.IsNested() || tx.Run.State == spool.Running {
			return nil
		}
		return thread.ResumeNested(tx)
	})
}

// resolved returns the parks of the last step whose calls continue, and counts those that are still open.
func (l *calls) resolved(all []spool.Park) (parks []spool.Park, open int) {
	for _, p := range all {
		switch {
		case p.Landed || p.AgentID != l.run.AgentID() || p.Reason == spool.ParkBudget || l.ofDraft(p):
		case p.State == spool.ParkOpen, p.State == spool.ParkPending && !p.Pending.Ready:
			open++
		case p.State == spool.ParkAnswered || p.State == spool.ParkExpired || p.State == spool.ParkPending:
			parks = append(parks, p)
		}
	}
	return parks, open
}

// waitingCalls returns the last step's calls whose nested runs waited.
func (l *calls) waitingCalls(v spool.View) ([]*plannedCall, error) {
	if l.run.Children == 0 && l.parent == nil {
		return nil, nil
	}
	effects, err := v.Effects(l.run.ID, l.run.Steps)
	if err != nil {
		return nil, err
	}
	var plan []*plannedCall
	for _, e := range effects {
		if e.State != spool.EffectWaiting {
			continue
		}
		tool, _ := l.agent.Tool(spool.SpawnTool)
		plan = append(plan, &plannedCall{call: l.toolCall(e.ToolCallID, spool.SpawnTool, nil, e.Step), tool: tool, spawns: true, state: callNew})
	}
	return plan, nil
}

// planAnswered plans a call whose park was answered or has expired.
func (l *calls) planAnswered(park spool.Park, effect spool.Effect) *plannedCall {
	p := &plannedCall{call: l.toolCall(park.ToolCallID, park.ToolName, park.Args, park.Step), answered: &park, state: callNew}
	tool, known := l.agent.Tool(park.ToolName)
	p.tool, p.call.Answer, p.call.Resume = tool, park.Answer, park.Resume
	if park.Answer != nil && park.Answer.Args != nil {
		p.call.Args = park.Answer.Args
	}
	unknown := park.Reason == spool.ParkOutcomeUnknown
	if unknown { // the question was about the outcome, so the call's earlier answer still applies
		p.call.Answer = park.Before
	}
	if park.Pending != nil { // the work of the call has begun
		p.call.Pending = park.Pending.State
	}
	resumes := park.Resume != nil && !unknown && known
	switch {
	case effect.State == spool.EffectDone:
		p.save(effect.Result)
	case park.State == spool.ParkExpired && resumes, park.Answer != nil && !park.Answer.Approved && resumes:
		if effect.State == spool.EffectPending {
			l.planUnknown(p)
		}
	case park.State == spool.ParkExpired:
		p.decide(toolresult.Expired(park))
	case !park.Answer.Approved && unknown:
		p.decide(toolresult.Reported(park.Answer))
	case !park.Answer.Approved:
		p.decide(toolresult.Denied(park.Answer))
	case park.Digest != "" && park.Answer.Digest != park.DigestOf(p.call.Args):
		p.decide(toolresult.LateError("this call is not the one that was approved"))
	case park.Reason == spool.ParkClientTool: // the client executed the call, even if a tool has its name by now
		p.decide(toolresult.Client(park.Answer))
	case effect.State == spool.EffectPending:
		l.planUnknown(p)
	case !known:
		p.decide(toolresult.LateError("Unknown tool: " + park.ToolName))
	case registry.ArgsProblem(p.call.Args) != nil: // an older version of the engine let it park
		p.decide(toolresult.LateError(registry.ArgsProblem(p.call.Args).Error()))
	case park.Answer.Args != nil: // the process that took the answer may have another version of the tool
		if err := registry.CheckEdited(l.s.runner.Log, tool, park.Answer.Args); err != nil {
			p.decide(toolresult.LateError(err.Error()))
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

func (l *calls) effects(ctx context.Context, step int) (effects []spool.Effect, err error) {
	err = l.s.runner.Store.View(ctx, l.s.Key, func(v spool.View) error {
		effects, err = v.Effects(l.run.ID, step)
		return err
	})
	if err != nil {
		return nil, storeError{err}
	}
	return effects, nil
}

func effectOf(effects []spool.Effect, id spool.ToolCallID) spool.Effect {
	for _, e := range effects {
		if e.ToolCallID == id {
			return e
		}
	}
	return spool.Effect{}
}

// replayDraft repeats a draft in this segment's stream, because readers have dropped the draft of the
// interrupted stream.
func (l *loop) replayDraft(ctx context.Context, d *spool.Draft) {
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
			l.events.Item(ctx, spool.ItemFile, spool.FileShown{Image: p.Image, File: p.File, MIMEType: p.MIMEType, FileName: p.FileName})
		case spool.PartToolCall:
			l.events.EndBlock(ctx)
			l.events.Item(ctx, spool.ItemToolStart, spool.ToolStarted{ToolCallID: p.ToolCallID, ToolName: p.ToolName})
			l.events.Item(ctx, spool.ItemToolEnd, spool.ToolEnded{ToolCallID: p.ToolCallID, ToolName: p.ToolName, Args: p.Args, SentArgs: p.SentArgs})
		case spool.PartSource:
			l.events.Source(ctx, spool.Source{URL: p.URL, Title: p.Title, Spans: p.Spans})
		}
	}
	l.events.EndBlock(ctx)
	l.s.Writer.Flush(ctx)
}
