package calls

import (
	"encoding/json"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/toolresult"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Call is a tool call of the current step and the plan for it: either it has a result, or it
// parks, or it runs.
type Call struct {
	call spool.ToolCall
	tool spool.Tool
	// spawns is true for a spawn call, overdue for a pending call whose time is over, and undescribed for a call of a
	// tool of the catalogue that the run cannot call.
	spawns, overdue, undescribed bool

	state callState
	// result is what the model will read. Nil: not known yet.
	result json.RawMessage
	// park is what the call parks with, or nil.
	park *store.Park
	// answered is the park whose answer lets the call continue. Nil: the call is new.
	answered *store.Park
	// announced numbers the results of the plan as the stream has them, from 1. Zero: the stream does not have
	// the result yet.
	announced int
	// describes are the tools of the catalogue that the run can call after this call, in addition to those before it.
	describes []string
}

// callState is how far a call is. Only the methods of this file change it.
type callState string

const (
	callNew       callState = "new"      // its tool was not called
	callRepeats   callState = "repeats"  // an earlier worker may have called its tool, which is called again
	callBegun     callState = "made"     // its tool was called, and has not returned
	callAsks      callState = "asks"     // it parks before its tool is called
	callParked    callState = "parked"   // its tool has parked it
	callWaits     callState = "waits"    // its nested run waits
	callDecided   callState = "decided"  // it has a result that its tool has not given
	callReturned  callState = "returned" // its tool or its nested run has given the result
	callOverdue   callState = "overdue"  // its tool was called, but its work was not done in time and is given up
	callCancelled callState = "given up" // nobody waits for its result any more
	callSaved     callState = "saved"    // the ledger of effects has its result
)

// runs reports whether the tool or the nested run of the call is, or will be, under way.
func (p *Call) runs() bool {
	return p.state == callNew || p.state == callRepeats || p.state == callBegun
}

// unmade reports whether the tool of the call will be called.
func (p *Call) unmade() bool { return p.state == callNew || p.state == callRepeats }

// parks reports whether the call waits for an answer, or for the work of its tool.
func (p *Call) parks() bool { return p.state == callAsks || p.state == callParked }

// decide gives the call a result in place of its tool's.
func (p *Call) decide(result json.RawMessage) { p.state, p.result = callDecided, result }

// repeat plans the call of a tool that an earlier worker may have called.
func (p *Call) repeat() { p.state = callRepeats }

// begin notes that the tool is called.
func (p *Call) begin() { p.state = callBegun }

// ask parks the call, before or after its tool was called.
func (p *Call) ask(park *store.Park) {
	before := p.unmade()
	if p.state, p.park, p.result = callParked, park, nil; before {
		p.state = callAsks
	}
}

// Wait notes that the nested run of the call waits.
func (p *Call) Wait() { p.state = callWaits }

// Finish gives the call the result of its tool or its nested run.
func (p *Call) Finish(result json.RawMessage) { p.state, p.result = callReturned, result }

// overrun gives the call the result for work that was not done in time.
func (p *Call) overrun(result json.RawMessage) { p.state, p.result = callOverdue, result }

// save notes that the ledger of effects has the result.
func (p *Call) save(result json.RawMessage) { p.state, p.result = callSaved, result }

// cancel cancels a call that has no result.
func (p *Call) cancel(reason string) {
	p.result = toolresult.Cancelled(reason, toolresult.EffectOf(p.mayHaveEffect()))
	p.state = callCancelled
}

// mayHaveEffect reports whether a call without a result has begun: this worker or an earlier one has called its tool,
// which has not answered with a question. A spawn call has no effect of its own.
func (p *Call) mayHaveEffect() bool {
	switch {
	case p.spawns:
		return false
	case p.call.Pending != nil:
		return true
	case p.parks():
		return p.pends() || p.park.Reason == wire.ParkOutcomeUnknown
	default:
		return p.state == callBegun || p.state == callRepeats
	}
}

func (p *Call) effect(state wire.EffectState) store.Effect {
	e := store.Effect{RunID: p.call.RunID, Step: p.call.Step, ToolCallID: p.call.ID, State: state}
	if state == wire.EffectDone {
		e.Result = p.result
	}
	return e
}

// ToolCall returns what the tool gets.
func (p *Call) ToolCall() spool.ToolCall { return p.call }

func (p *Call) item() wire.ToolResulted {
	return toolresult.Resulted(p.call.ID, p.call.Name, p.result)
}

// resultOf returns what the model reads about a call that returned or failed.
func (p *Call) resultOf(result json.RawMessage, failure string) json.RawMessage {
	if p.answered == nil {
		return toolresult.Ran(result, failure)
	}
	return toolresult.Ran(result, failure, p.call.Answer, p.answered.Before, p.answered.Answer)
}

// asked returns how many questions the call has asked.
func (p *Call) asked() int {
	switch {
	case p.answered == nil:
		return 0
	case p.answered.State == wire.ParkPending:
		return p.answered.Occurrence
	default:
		return max(p.answered.Occurrence, 1)
	}
}

// wasAsked reports whether the call has parked with a question of its own that was answered.
func (p *Call) wasAsked() bool {
	if p.answered != nil && p.answered.Reason == wire.ParkOutcomeUnknown {
		return p.answered.Before != nil
	}
	return p.asked() > 0
}
