package loop

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/history"
	"github.com/spoolhq/spool/engine/internal/registry"
	"github.com/spoolhq/spool/engine/internal/thread"
)

// offerTransfer gives the agent of a dispatched run the tool by which it hands the thread over.
func (l *Loop) offerTransfer() {
	if l.run.Nested() {
		return
	}
	if tool, some := l.run.Host().Registry.TransferTool(l.run.Agent(), l.run.Row()); some {
		l.run.SetAgent(l.run.Agent().WithTool(tool))
	}
}

// handOver hands the thread to another agent if the last step says so, and reports whether it did. The segment then has
// nothing left to do. All calls of the step have their results, also those that have waited.
func (l *Loop) handOver(ctx context.Context, past *history.Messages) (bool, error) {
	if l.run.Nested() || len(l.run.Agent().Transfers) == 0 || l.run.Row().HandedOverIn(l.run.Row().Steps) {
		return false, nil
	}
	args, called := transferOf(past.All, l.run.Row().ID)
	if !called {
		return false, nil
	}
	agent, sees := l.run.Host().Registry.Successor(l.run.Agent(), l.run.Row(), args.Agent)
	if agent == nil { // the configuration has changed since the call
		l.run.Log().WarnContext(ctx, "the run may not hand its thread over any more", "agent", args.Agent)
		return false, nil
	}
	last, _ := past.Last()
	err := l.run.Commit(ctx, func(tx *thread.Tx) error {
		if tx.Stopping() {
			return thread.ErrUnchanged // the segment notices the stop and ends the run
		}
		return thread.HandOver(tx, thread.Successor{
			Agent: agent.Name, Model: agent.Model, History: sees, Brief: args.Brief, Last: last.ID, Messages: past.Len(),
		})
	})
	if errors.Is(err, thread.ErrUnchanged) {
		return false, nil
	}
	return true, err
}

// transferOf returns the arguments of the call with which the last step of a run has handed the thread over. It reports
// false if there is none.
func transferOf(messages []spool.Message, run spool.RunID) (registry.TransferArgs, bool) {
	var over registry.TransferArgs
	done := make(map[spool.ToolCallID]bool)
	for _, m := range slices.Backward(messages) {
		if m.RunID != run || m.Role != spool.RoleTool && m.Role != spool.RoleAssistant {
			return over, false
		}
		for _, p := range m.Content {
			if p.Type == spool.PartToolResult && p.ToolName == spool.TransferTool && registry.TransferredTo(p.Result) {
				done[p.ToolCallID] = true
			}
		}
		if m.Role == spool.RoleTool {
			continue
		}
		for _, p := range m.ToolCalls() {
			if done[p.ToolCallID] && json.Unmarshal(p.Args, &over) == nil {
				return over, true
			}
		}
		return over, false
	}
	return over, false
}
