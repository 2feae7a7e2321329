package calls

import (
	"encoding/json"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/toolresult"
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
	park *spool.Park
	// answered is the park whose answer lets the call continue. Nil: the call is new.
	answered *spool.Park
	// announced numbers the results of the plan as the stream has them, from 1. Zero: the stream does not have
	// the result yet.
	announced int
	// describes are the tools of the catalogue that the run can call after this call, in addition to those before it.
	describes []string
}

func (p *Call) effect(state spool.EffectState) spool.Effect {
	e := spool.Effect{RunID: p.call.RunID, Step: p.call.Step, ToolCallID: p.call.ID, State: state}
	if state == spool.EffectDone {
		e.Result = p.result
	}
	return e
}

// ToolCall returns what the tool gets.
func (p *Call) ToolCall() spool.ToolCall { return p.call }

func (p *Call) item() spool.ToolResulted {
	return toolresult.Landed(p.call.ID, p.call.Name, p.result)
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
	case p.answered.State == spool.ParkPending:
		return p.answered.Occurrence
	default:
		return max(p.answered.Occurrence, 1)
	}
}

// wasAsked reports whether the call has parked with a question of its own that was answered.
func (p *Call) wasAsked() bool {
	if p.answered != nil && p.answered.Reason == spool.ParkOutcomeUnknown {
		return p.answered.Before != nil
	}
	return p.asked() > 0
}
