package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/history"
	"github.com/spoolhq/spool/engine/internal/registry"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/engine/internal/toolresult"
	"github.com/spoolhq/spool/store"
)

// maxHandovers bounds how often a run changes its agent: two agents could hand a thread to each other forever.
const maxHandovers = 8

// offerTransfer gives the agent of a dispatched run the tool by which it hands the thread over.
func (l *loop) offerTransfer() {
	if l.parent != nil {
		return
	}
	if tool, some := l.s.runner.Registry.TransferTool(l.agent, l.run); some {
		l.agent = l.agent.WithTool(tool)
	}
}

// isTransfer reports whether a call hands the thread over.
func (l *runState) isTransfer(p *plannedCall) bool {
	return p.call.Name == spool.TransferTool && l.parent == nil && len(l.agent.Transfers) > 0
}

// refusedTransfer returns the error of the plan's last call, which hands the thread over, or nil if it may.
func (l *calls) refusedTransfer(plan []*plannedCall) json.RawMessage {
	before := plan[:len(plan)-1]
	switch {
	case len(l.run.Handovers) >= maxHandovers:
		return toolresult.Error(fmt.Sprintf("the conversation was handed over %d times in this turn: answer the user yourself", maxHandovers))
	case slices.ContainsFunc(before, func(p *plannedCall) bool { return l.isTransfer(p) && (p.result == nil || transferredTo(p.result)) }):
		return toolresult.Error("another call of this step has handed the conversation over")
	default:
		return nil
	}
}

// handOver hands the thread to another agent if the last step says so, and reports whether it did. The segment then has
// nothing left to do. All calls of the step have their results, also those that have waited.
func (l *loop) handOver(ctx context.Context, past *history.Messages) (bool, error) {
	if l.parent != nil || len(l.agent.Transfers) == 0 || l.run.HandedOverIn(l.run.Steps) {
		return false, nil
	}
	args, called := transferOf(past.All, l.run.ID)
	if !called {
		return false, nil
	}
	agent, sees := l.s.runner.Registry.Successor(l.agent, l.run, args.Agent)
	if agent == nil { // the configuration has changed since the call
		l.s.runner.Concerning(l.s.Key, l.run.ID).WarnContext(ctx, "the run may not hand its thread over any more", "agent", args.Agent)
		return false, nil
	}
	last, _ := past.Last()
	err := l.commit(ctx, func(tx *thread.Tx) error {
		if tx.Stopping() {
			return thread.ErrUnchanged // the segment notices the stop and ends the run
		}
		return thread.HandOver(tx, thread.Successor{
			Agent: agent.Name, Model: agent.Model, History: sees, Brief: args.Brief, Last: last.ID, Messages: past.Len(),
		})
	})
	switch {
	case errors.Is(err, thread.ErrUnchanged):
		return false, nil
	case err != nil:
		return true, err
	}
	l.s.runner.Live.Wake(store.JobsTopic, store.WakeJobs, nil)
	return true, nil
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
			if p.Type == spool.PartToolResult && p.ToolName == spool.TransferTool && transferredTo(p.Result) {
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

// transferredTo reports whether a result is one of the transfer tool, and no error.
func transferredTo(result json.RawMessage) bool {
	var r registry.Transferred
	return json.Unmarshal(result, &r) == nil && r.Agent != ""
}
