package agent

import (
	"context"
	"encoding/json"
	"runtime/debug"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/chat"
	"github.com/spoolhq/spool/engine/internal/history"
	"github.com/spoolhq/spool/engine/internal/pricing"
	"github.com/spoolhq/spool/engine/internal/registry"
	"github.com/spoolhq/spool/wire"
)

// ask asks the model for the next turn and streams it. If an interrupted answer to the same request can be
// asked for again, ask does that. If the provider no longer has that answer, ask charges it and makes the request
// anew.
func (l *asker) ask(ctx context.Context, past *history.Messages, asked weightedRequest) (chat.Turn, error) {
	resume, err := l.resumed(ctx, asked.ModelRequest)
	if err != nil {
		return chat.Turn{}, err
	}
	t, err := l.askFrom(ctx, past, asked, resume)
	if resume == nil || !t.Gone(err) {
		return t, err
	}
	l.s.runner.Concerning(l.s.Key, l.run.ID).WarnContext(ctx, "the provider no longer has the answer", "step", l.run.Steps+1, "error", err)
	if err := l.chargeGone(ctx, err); err != nil {
		return t, err
	}
	return l.askFrom(ctx, past, asked, nil)
}

func (l *asker) askFrom(ctx context.Context, past *history.Messages, asked weightedRequest, resume json.RawMessage) (chat.Turn, error) {
	request, err := l.inline(ctx, asked.ModelRequest)
	if err != nil {
		return chat.Turn{}, err
	}
	request.Resume = resume
	row := l.stepRow()
	prompt := history.NewMeter(l.run.Context).Of(asked.weight)
	return l.s.runner.Chat.Ask(ctx, chat.Question{
		Thread: l.s.Key, Run: l.run, Model: l.model, Request: request, Weight: asked.weight, Past: past, Events: &l.events,
		Row: row,
		Reserve: func(ctx context.Context, r *spool.ModelRequest) (wire.StopReason, error) {
			return l.reserve(ctx, row, l.model, r, prompt)
		},
		Arguments: l.arguments, SaveFile: l.saveAnswerFile,
		Withheld: func(ctx context.Context, text string) error {
			return l.recordDropped(ctx, wire.FileDropped{Text: text})
		},
		SaveResume: func(ctx context.Context, data json.RawMessage) error {
			return l.saveResume(ctx, asked, row, prompt, data)
		},
	})
}

// arguments returns the arguments of a call, and those that the model has sent if they were repaired.
func (l *asker) arguments(ctx context.Context, name, text string) (args, sent json.RawMessage) {
	log := l.s.runner.Concerning(l.s.Key, l.run.ID)
	defer func() { // the check of a tool and the hook are application code
		if r := recover(); r != nil {
			args, sent = registry.CallArgs(text), nil
			log.ErrorContext(ctx, "repair of arguments panicked", "tool", name, "panic", r, "stack", string(debug.Stack()))
		}
	}()
	return l.agent.Repair(name, text, func(args json.RawMessage, problem error) json.RawMessage {
		if l.agent.RepairArguments == nil {
			return nil
		}
		fixed, err := l.agent.RepairArguments(ctx, spool.ToolCall{
			Thread: l.s.Key, RunID: l.run.ID, Step: l.run.Steps + 1, Name: name, Args: args, HostState: l.run.HostState, Agent: l.run.Agent, Subject: l.run.StartedBy,
		}, problem)
		if err != nil {
			log.WarnContext(ctx, "repair arguments", "tool", name, "error", err)
			return nil
		}
		return fixed
	})
}

// stepRow returns the ledger row of the next step's question, without its usage.
func (l *asker) stepRow() wire.UsageRow {
	return wire.UsageRow{
		RunID: l.run.Root(), AgentID: l.run.AgentID(), Agent: l.run.Agent, Kind: spool.UsageStep, Step: l.run.Steps + 1, Model: l.run.ModelInUse(),
		Requested: pricing.RequestedOf(l.model),
	}
}
