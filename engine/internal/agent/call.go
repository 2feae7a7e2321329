package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/budget"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/engine/internal/toolresult"
)

// outcome is what a tool's function returned.
type outcome struct {
	planned *plannedCall
	result  json.RawMessage
	err     error
	// waits and stopped say that a spawn call has no result: its nested run waits or was stopped.
	waits, stopped bool
}

// act runs the planned calls concurrently and saves the step. It announces a result only when the
// result is durable: the last one with the step, the others one by one. It returns the step's messages,
// and whether the run has parked or ended.
//
// When ctx ends, act does not wait for the tools. Their results are lost, and the outcome of their
// calls is unknown. act does wait for nested runs, because they write to the same stream.
func (l *loop) act(ctx context.Context) (saved []spool.Message, done bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var nested sync.WaitGroup
	defer nested.Wait()
	defer cancel(errStepAbandoned)
	outcomes := make(chan outcome, len(l.plan))
	running := 0
	begun := make(chan struct{})
	close(begun)
	for _, p := range l.plan {
		switch {
		case p.runs() && p.spawns:
			running++
			at, done := turn{before: begun}, make(chan struct{})
			at.done, begun = done, done
			nested.Go(func() { outcomes <- l.delegate(ctx, p, at) })
		case p.runs():
			p.begin()
			running++
			called, span := l.s.runner.Telemetry.Tool(ctx, l.self.Agent, p.call)
			go func() {
				result, err := run(called, p)
				span.Done(result, err)
				outcomes <- outcome{planned: p, result: result, err: err}
			}()
		}
	}
	l.announceInOrder(ctx)
	l.resultRoom = l.stepRoom()
	var again *attemptError
	for ; running > 0; running-- {
		select {
		case <-ctx.Done():
			return nil, false, ctx.Err()
		case o := <-outcomes:
			if o.err != nil && ctx.Err() != nil {
				return nil, false, ctx.Err()
			}
			if a, ok := errors.AsType[*attemptError](o.err); ok {
				again = a.later(again)
				continue
			}
			if err := l.accept(ctx, o, running == 1 && again == nil); err != nil {
				return nil, false, err
			}
			l.announceInOrder(ctx)
		}
	}
	if again != nil { // the other calls are done and saved, and the next segment continues from there
		return nil, false, again
	}
	return l.saveCalls(ctx)
}

// run calls the tool, unless the worker may have lost the run. It turns a panic into an error.
func run(ctx context.Context, p *plannedCall) (result json.RawMessage, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &spool.Error{Code: spool.Internal, Message: panicked, Err: fmt.Errorf("panic: %v\n%s", r, debug.Stack())}
		}
	}()
	if err := p.call.CheckLease(ctx); err != nil {
		return nil, err
	}
	result, err = p.tool.Call(ctx, p.call)
	if result == nil {
		result = json.RawMessage("null")
	}
	if err == nil {
		result = storableJSON(result)
	}
	return result, err
}

// storableJSON returns JSON from a tool or a model unchanged, or as a JSON string of its text if
// [spool.CheckJSON] refuses it.
func storableJSON(text json.RawMessage) json.RawMessage {
	if spool.CheckJSON("", text) != nil {
		return toolresult.JSON(string(text))
	}
	return text
}

// accept stores an outcome. The step's last outcome is saved with the step.
func (l *calls) accept(ctx context.Context, o outcome, last bool) error {
	p := o.planned
	switch {
	case isStoreError(o.err):
		return o.err
	case o.waits:
		p.wait()
		return nil
	case o.stopped:
		return nil
	}
	if result := l.storeResult(ctx, p, o.result); o.err == nil {
		p.give(p.resultOf(result, ""))
	} else {
		l.failedCall(ctx, p, o.err)
	}
	l.fitResult(p)
	switch {
	case p.spawns, last: // the nested run has the result, or the step will
		return nil
	}
	state := spool.EffectDone
	switch {
	case p.parks() && p.park.Reason == spool.ParkOutcomeUnknown:
		return nil // the ledger has the call as pending, which is what unknown means
	case p.pends():
		return l.savePending(ctx, p)
	case p.parks():
		state = spool.EffectVoid // the tool is called again with the answer
	}
	err := l.update(ctx, func(tx *thread.Tx) error { return tx.Write(spool.Changes{Effects: []spool.Effect{p.effect(state)}}) })
	if err != nil || p.parks() {
		return err
	}
	p.save(p.result)
	return nil
}

const panicked = "the tool panicked"

// maxQuestions bounds the questions of a call whose tool may ask again.
const maxQuestions = 20

// wasAsked reports whether the call has parked with a question of its own that was answered.
func (p *plannedCall) wasAsked() bool {
	if p.answered != nil && p.answered.Reason == spool.ParkOutcomeUnknown {
		return p.answered.Before != nil
	}
	return p.asked() > 0
}

// failedCall turns a tool's error into a result for the model, or into a park.
func (l *calls) failedCall(ctx context.Context, p *plannedCall, err error) {
	var wait *spool.ParkRequest
	var unknown *spool.OutcomeUnknownError
	var later *spool.PendingError
	pends := errors.As(err, &later)
	if pends {
		if wrong := checkPending(later); wrong != nil {
			err, pends = wrong, false
		}
	}
	parks := errors.As(err, &wait)
	if parks {
		if wrong := checkPark(wait); wrong != nil {
			err, parks = wrong, false
		}
	}
	switch {
	case pends && !p.overdue:
		p.ask(l.pendingPark(p, later))
		return
	case pends:
		err = spool.Errorf(spool.Unavailable, "the work of the call was not done within %s, and was given up", cmp.Or(p.tool.PendingTimeout, spool.DefaultPendingTimeout))
	case parks && (!p.wasAsked() || wait.Resume != nil && p.answered.Occurrence < maxQuestions):
		p.ask(l.parkFor(p, wait))
		return
	case errors.As(err, &unknown) && !p.tool.Idempotent:
		l.s.runner.Concerning(l.s.Key, l.run.ID).WarnContext(ctx, "outcome of a tool call is unknown", "tool", p.call.Name, "error", err)
		p.ask(l.lostWork(p))
		return
	case parks:
		err = errors.New("the tool parked again after it was answered")
	case spool.CodeOf(err) == spool.Internal:
		l.s.runner.Concerning(l.s.Key, l.run.ID).WarnContext(ctx, "tool call failed", "tool", p.call.Name, "error", err)
	}
	result := toolresult.Error(toolMessage(err))
	if p.answered != nil {
		result = p.resultOf(nil, toolMessage(err))
	}
	if pends {
		p.overrun(result)
		return
	}
	p.give(result)
}

// toolMessage returns the text of a tool's error for the model. For a coded error this is its message.
// For any other error it is the whole text, which the tool's author wrote for the model.
func toolMessage(err error) string {
	if coded, ok := errors.AsType[*spool.Error](err); ok {
		return coded.Message
	}
	return err.Error()
}

// announceInOrder announces the durable results up to the first call whose result comes later in this step, so that
// the results stand live in the order in which they are saved. A call that waits has no result in this step.
func (l *calls) announceInOrder(ctx context.Context) {
	for _, p := range l.plan {
		durable := p.state == callSaved || p.spawns && p.result != nil
		switch {
		case p.announced > 0, p.result == nil && !p.runs():
		case !durable:
			return
		default:
			p.announced = lastAnnounced(l.plan) + 1
			l.events.Item(ctx, spool.ItemToolResult, p.item())
		}
	}
}

func (p *plannedCall) item() spool.ToolResulted {
	return toolresult.Landed(p.call.ID, p.call.Name, p.result)
}

// saveCalls saves the step, or the results of calls whose parks were answered. In the same transaction
// it parks or ends the run if necessary.
func (l *calls) saveCalls(ctx context.Context) (saved []spool.Message, done bool, err error) {
	step := l.openStep()
	err = l.commit(ctx, func(tx *thread.Tx) error {
		if step.draft != nil {
			l.answer = cmp.Or(step.draft.Message.Text(), l.answer)
		}
		stopped := tx.Stopping()
		switch {
		case stopped:
			cancelUnfinished(l.plan, "stopped")
		case l.late:
			cancelUnfinished(slices.DeleteFunc(slices.Clone(l.plan), func(p *plannedCall) bool { return p.state == callWaits }), string(l.s.timeReason()))
		}
		for _, p := range l.plan {
			if p.result != nil && p.announced == 0 {
				tx.Item(spool.ItemToolResult, p.item())
			}
		}
		noteDescribed(tx, l.plan)
		if saved, err = saveCalls(tx, l.plan, step); err != nil {
			return err
		}
		switch {
		case stopped:
			return l.finishIn(tx, spool.Ending{State: spool.Cancelled, Reason: spool.StopCancelled})
		case countWaiting(l.plan) > 0 || l.open > 0:
			return l.park(tx)
		case tx.Run.Steps >= l.maxSteps() && (l.late || l.agent.NoFinalAnswer) && budget.UsedUp(tx.Root().Run.Allowance, tx.Now) == "":
			return l.finishIn(tx, allSteps)
		default:
			return tx.PutUnseen()
		}
	})
	if err != nil {
		return nil, false, err
	}
	l.plan = nil
	switch {
	case l.run.State == spool.WaitingForInput:
		l.parked()
		return saved, true, nil
	case l.run.State.Terminal() || l.run.Ending != nil:
		return saved, true, l.afterFinish(ctx)
	default:
		return saved, false, nil
	}
}

// openStep is the step that the planned calls belong to. Its draft is nil if the step was saved and its
// calls parked.
type openStep struct {
	draft *spool.Draft
	usage spool.TokenCount
}

func (l *calls) openStep() openStep {
	if d := l.run.Draft; d != nil {
		return openStep{draft: d, usage: d.Usage}
	}
	return openStep{}
}

// saveCalls writes the results of a plan: together with their draft as a whole step, or, after parks,
// as a separate message.
func saveCalls(tx *thread.Tx, plan []*plannedCall, step openStep) ([]spool.Message, error) {
	results := make(spool.Content, 0, len(plan))
	var c spool.Changes
	for _, p := range plan {
		if p.state == callWaits {
			c.Effects = append(c.Effects, p.effect(spool.EffectWaiting))
		}
		if p.result != nil {
			landed(tx, &c, p)
		}
	}
	for _, p := range asAnnounced(plan) {
		if p.result != nil {
			results = append(results, toolresult.Parts(p.call.ID, p.call.Name, p.result)...)
		}
	}
	if err := tx.Write(c); err != nil {
		return nil, err
	}
	if step.draft != nil {
		return thread.SaveStep(tx, step.draft.Message.Content, results, step.usage, string(spool.FinishToolCalls))
	}
	return thread.SaveResults(tx, results)
}

// asAnnounced returns the plan in the order in which the stream has the results, in which they are saved. That is the
// order of the calls, unless a call was to wait and was then stopped. The results that the stream gets with the step
// come last.
func asAnnounced(plan []*plannedCall) []*plannedCall {
	last := lastAnnounced(plan) + 1
	place := func(p *plannedCall) int {
		if p.announced == 0 {
			return last
		}
		return p.announced
	}
	return slices.SortedStableFunc(slices.Values(plan), func(a, b *plannedCall) int { return cmp.Compare(place(a), place(b)) })
}

// lastAnnounced returns the number of results that the stream has.
func lastAnnounced(plan []*plannedCall) (n int) {
	for _, p := range plan {
		n = max(n, p.announced)
	}
	return n
}

// landed notes in the effect ledger, and in the call's park, that a call has its result.
func landed(tx *thread.Tx, c *spool.Changes, p *plannedCall) {
	if p.state == callReturned || p.state == callOverdue || p.spawns && p.state != callSaved {
		c.Effects = append(c.Effects, p.effect(spool.EffectDone))
	}
	p.landPark(tx, c)
}

// cancelUnfinished gives every call without a result the result of a cancelled call.
func cancelUnfinished(plan []*plannedCall, reason string) {
	for _, p := range plan {
		if p.result == nil {
			p.giveUp(reason)
		}
	}
}

func countWaiting(plan []*plannedCall) (n int) {
	for _, p := range plan {
		if p.parks() || p.state == callWaits {
			n++
		}
	}
	return n
}

// resultOf returns what the model reads about a call that returned or failed.
func (p *plannedCall) resultOf(result json.RawMessage, failure string) json.RawMessage {
	if p.answered == nil {
		return toolresult.Ran(result, failure)
	}
	return toolresult.Ran(result, failure, p.call.Answer, p.answered.Before, p.answered.Answer)
}
