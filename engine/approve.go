package engine

import (
	"context"
	"encoding/json"
	"runtime/debug"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/toolresult"
)

// checkEdit checks the arguments of a response by the tool that would run with them. It
// is the application's code, and so not a part of the transaction that answers. What
// waits for no such answer is left to that.
func (e *Engine) checkEdit(ctx context.Context, key spool.ThreadKey, r Response) error {
	if r.Args == nil {
		return nil
	}
	var tool spool.Tool
	found, known := false, false
	err := e.store.View(ctx, key, func(v spool.View) error {
		thread, err := v.Thread()
		if err != nil || thread.RunID == "" {
			return err
		}
		run, err := v.Run(thread.RunID)
		if err != nil {
			return err
		}
		parks, err := v.Parks(run.ID)
		for _, p := range parks {
			if p.ToolCallID != r.ToolCallID || p.State != spool.ParkOpen {
				continue
			}
			found = true
			agent, err := e.agentOf(v, p.CallerID())
			if err != nil {
				return err
			}
			if agent != nil {
				tool, known = agent.tool(p.ToolName)
			}
		}
		return err
	})
	switch {
	case record.Missing(err), err == nil && !found:
		return nil
	case err != nil:
		return err
	case !known:
		return spool.Errorf(spool.Invalid, "arguments cannot be edited: this server does not have the tool")
	}
	return e.checkEdited(tool, r.Args)
}

// agentOf returns the agent of a run, which for a nested one depends on those above. Nil:
// this process does not have it.
func (e *Engine) agentOf(v spool.View, id spool.RunID) (*Agent, error) {
	run, err := v.Run(id)
	if err != nil || run.ParentID == "" {
		return e.agents[run.Agent].permitted(run), err
	}
	above, err := e.agentOf(v, run.ParentID)
	if above == nil || err != nil {
		return nil, err
	}
	return above.nested(run.Agent).permitted(run), nil
}

// checkEdited is [checkArgs] for arguments that a person has written.
func (e *Engine) checkEdited(tool spool.Tool, args json.RawMessage) (err error) {
	defer func() {
		if p := recover(); p != nil {
			e.config.Log.Error("tool check panicked", "tool", tool.Name, "panic", p, "stack", string(debug.Stack()))
			err = spool.Errorf(spool.Invalid, "the arguments could not be checked")
		}
	}()
	if err := checkArgs(tool, args); err != nil {
		return &spool.Error{Code: spool.Invalid, Message: err.Error()}
	}
	return nil
}

// told returns what the model reads of a call that ran, or failed with a text. It is the
// tool's own result, unless a person has edited the call or said why it may run: the model
// has to know that.
func (p *plannedCall) told(result json.RawMessage, failure string) json.RawMessage {
	said := struct {
		Approved  bool            `json:"approved"`
		Arguments json.RawMessage `json:"arguments,omitempty"`
		Reason    string          `json:"reason,omitempty"`
		Error     string          `json:"error,omitempty"`
		Result    json.RawMessage `json:"result,omitempty"`
	}{Approved: true, Error: failure, Result: result}
	if p.answered != nil {
		for _, a := range []*spool.Answer{p.call.Answer, p.answered.Answer} {
			if a == nil || !a.Approved {
				continue
			}
			if a.Args != nil {
				said.Arguments = a.Args
			}
			if a.Reason != "" {
				said.Reason = a.Reason
			}
		}
	}
	switch {
	case said.Arguments != nil, said.Reason != "":
		return toolresult.JSON(said)
	case failure != "":
		return toolresult.LateError(failure)
	default:
		return result
	}
}
