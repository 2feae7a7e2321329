package calls

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/active"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/engine/internal/toolresult"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Outcome is what a tool's function returned, or what became of a nested run.
type Outcome struct {
	Result json.RawMessage
	Err    error
	// Waits and Stopped are true for a spawn call without a result: its nested run waits or was stopped.
	Waits, Stopped bool

	call *Call
}

// Place is the place of a spawn call among those of its step.
type Place struct {
	Before <-chan struct{} // closed when the nested run of the call before has begun, or cannot begin
	Done   chan<- struct{} // closed by the call
}

// ErrStepAbandoned ends the nested runs of a step that failed.
var ErrStepAbandoned = errors.New("the step was given up")

// AttemptError is the error of a failed attempt of a nested run that will have another attempt. The segment ends once
// its other calls are done.
type AttemptError struct {
	Attempts int // of the nested run, including this one; 0: it goes on with another model, at once
	Err      error
}

func (a *AttemptError) Error() string { return a.Err.Error() }
func (a *AttemptError) Unwrap() error { return a.Err }

// later returns the error with the longer delay.
func (a *AttemptError) later(b *AttemptError) *AttemptError {
	if b == nil || a.Attempts > b.Attempts {
		return a
	}
	return b
}

// Act makes the planned calls concurrently and saves the step. It announces a result only when the
// result is durable: the last one with the step, the others one by one. It returns the step's messages,
// and whether the run has parked or ended. Delegate executes the nested run of a spawn call.
//
// When ctx ends, Act does not wait for the tools. Their results are lost, and the outcome of their
// calls is unknown. Act does wait for nested runs, because they write to the same stream.
func (c *Calls) Act(
	ctx context.Context, delegate func(context.Context, *Call, Place) Outcome,
) (saved []spool.Message, done bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var nested sync.WaitGroup
	defer nested.Wait()
	defer cancel(ErrStepAbandoned)
	outcomes := make(chan Outcome, len(c.plan))
	running := 0
	begun := make(chan struct{})
	close(begun)
	for _, p := range c.plan {
		switch {
		case p.runs() && p.spawns:
			running++
			done := make(chan struct{})
			place := Place{Before: begun, Done: done}
			begun = done
			nested.Go(func() {
				o := delegate(ctx, p, place)
				o.call = p
				outcomes <- o
			})
		case p.runs():
			p.begin()
			running++
			called, span := c.run.Host().Telemetry.Tool(ctx, c.run.AtStart().Agent, p.call)
			go func() {
				result, err := run(called, p)
				span.Done(result, err)
				outcomes <- Outcome{call: p, Result: result, Err: err}
			}()
		}
	}
	c.announceInOrder(ctx)
	c.resultRoom = c.stepRoom()
	var again *AttemptError
	for ; running > 0; running-- {
		select {
		case <-ctx.Done():
			return nil, false, ctx.Err()
		case o := <-outcomes:
			if o.Err != nil && ctx.Err() != nil {
				return nil, false, ctx.Err()
			}
			if a, ok := errors.AsType[*AttemptError](o.Err); ok {
				again = a.later(again)
				continue
			}
			if err := c.accept(ctx, o, running == 1 && again == nil); err != nil {
				return nil, false, err
			}
			c.announceInOrder(ctx)
		}
	}
	if again != nil { // the other calls are done and saved, and the next segment continues from there
		return nil, false, again
	}
	return c.Save(ctx, false)
}

// run calls the tool, unless the worker may have lost the run. It turns a panic into an error.
func run(ctx context.Context, p *Call) (result json.RawMessage, err error) {
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
func (c *Calls) accept(ctx context.Context, o Outcome, last bool) error {
	p := o.call
	switch {
	case active.IsStoreError(o.Err):
		return o.Err
	case o.Waits:
		p.Wait()
		return nil
	case o.Stopped:
		return nil
	}
	if result := c.storeResult(ctx, p, o.Result); o.Err == nil {
		p.Finish(p.resultOf(result, ""))
	} else {
		c.failedCall(ctx, p, o.Err)
	}
	c.fitResult(p)
	switch {
	case p.spawns, last: // the nested run has the result, or the step will
		return nil
	}
	state := wire.EffectDone
	switch {
	case p.parks() && p.park.Reason == wire.ParkOutcomeUnknown:
		return nil // the ledger has the call as pending, which is what unknown means
	case p.pends():
		return c.savePending(ctx, p)
	case p.parks():
		state = wire.EffectVoid // the tool is called again with the answer
	}
	err := c.run.Update(ctx, func(tx *thread.Tx) error {
		return tx.Write(store.Changes{Effects: []store.Effect{p.effect(state)}})
	})
	if err != nil || p.parks() {
		return err
	}
	p.save(p.result)
	return nil
}

const panicked = "the tool panicked"

// maxQuestions bounds the questions of a call whose tool may ask again.
const maxQuestions = 20

// failedCall turns a tool's error into a result for the model, or into a park.
func (c *Calls) failedCall(ctx context.Context, p *Call, err error) {
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
		p.ask(c.pendingPark(p, later))
		return
	case pends:
		err = spool.Errorf(spool.Unavailable, "the work of the call was not done within %s, and was given up",
			cmp.Or(p.tool.PendingTimeout, spool.DefaultPendingTimeout))
	case parks && (!p.wasAsked() || wait.Resume != nil && p.answered.Occurrence < maxQuestions):
		p.ask(c.parkFor(p, wait))
		return
	case errors.As(err, &unknown) && !p.tool.Idempotent:
		c.run.Log().WarnContext(ctx, "outcome of a tool call is unknown", "tool", p.call.Name, "error", err)
		p.ask(c.lostWork(p))
		return
	case parks:
		err = errors.New("the tool parked again after it was answered")
	case spool.CodeOf(err) == spool.Internal:
		c.run.Log().WarnContext(ctx, "tool call failed", "tool", p.call.Name, "error", err)
	}
	result := toolresult.Error(toolMessage(err))
	if p.answered != nil {
		result = p.resultOf(nil, toolMessage(err))
	}
	if pends {
		p.overrun(result)
		return
	}
	p.Finish(result)
}

// toolMessage returns the text of a tool's error for the model. For a coded error this is its message.
// For any other error it is the whole text, which the tool's author wrote for the model.
func toolMessage(err error) string {
	if coded, ok := errors.AsType[*spool.Error](err); ok {
		return coded.Message
	}
	return err.Error()
}
