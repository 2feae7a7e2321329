package engine

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/registry"
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
