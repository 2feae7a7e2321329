package engine

import (
	"context"
	"encoding/json"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/registry"
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
			agent, err := e.registry.OfRun(v, p.CallerID())
			if err != nil {
				return err
			}
			if agent != nil {
				tool, known = agent.Tool(p.ToolName)
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
	return registry.CheckEdited(e.config.Log, tool, r.Args)
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
