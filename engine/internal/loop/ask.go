package loop

import (
	"context"
	"encoding/json"
	"errors"
	"runtime/debug"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/chat"
	"github.com/spoolhq/spool/engine/internal/history"
	"github.com/spoolhq/spool/engine/internal/registry"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/wire"
)

// ask asks the model for the next turn and streams it. If an interrupted answer to the same request can be
// asked for again, ask does that. If the provider no longer has that answer, ask charges it and makes the request
// anew.
func (a *asker) ask(ctx context.Context, past *history.Messages, asked weightedRequest) (chat.Turn, error) {
	resume, err := a.resumeData(ctx, asked.ModelRequest)
	if err != nil {
		return chat.Turn{}, err
	}
	t, err := a.askFrom(ctx, past, asked, resume)
	if resume == nil || !t.Gone(err) {
		return t, err
	}
	a.run.Log().WarnContext(ctx, "the provider no longer has the answer", "step", a.run.Row().Steps+1, "error", err)
	if err := a.chargeGone(ctx, err); err != nil {
		return t, err
	}
	return a.askFrom(ctx, past, asked, nil)
}

func (a *asker) askFrom(
	ctx context.Context, past *history.Messages, asked weightedRequest, resume json.RawMessage,
) (chat.Turn, error) {
	request, err := a.inline(ctx, asked.ModelRequest)
	if err != nil {
		return chat.Turn{}, err
	}
	request.Resume = resume
	row := a.stepRow()
	prompt := history.NewMeter(a.run.Row().Context).Of(asked.weight)
	return a.models.Chat.Ask(ctx, chat.Question{
		Thread: a.run.Key(), Run: a.run.Row(), Model: a.model, Request: request, Weight: asked.weight, Past: past,
		Events: a.run.Events(),
		Row:    row,
		Reserve: func(ctx context.Context, r *spool.ModelRequest) (wire.StopReason, error) {
			return a.reserve(ctx, row, a.model, r, prompt)
		},
		Arguments: a.arguments, SaveFile: a.saveAnswerFile,
		Withheld: func(ctx context.Context, text string) error {
			return a.recordDropped(ctx, wire.FileDropped{Text: text})
		},
		SaveResume: func(ctx context.Context, data json.RawMessage) error {
			return a.saveResume(ctx, asked, row, prompt, data)
		},
	})
}

// arguments returns the arguments of a call, and those that the model has sent if they were repaired.
func (a *asker) arguments(ctx context.Context, name, text string) (args, sent json.RawMessage) {
	log := a.run.Log()
	defer func() { // the check of a tool and the hook are application code
		if r := recover(); r != nil {
			args, sent = registry.CallArgs(text), nil
			log.ErrorContext(ctx, "repair of arguments panicked", "tool", name, "panic", r, "stack", string(debug.Stack()))
		}
	}()
	return a.run.Agent().Repair(name, text, func(args json.RawMessage, problem error) json.RawMessage {
		if a.run.Agent().RepairArguments == nil {
			return nil
		}
		fixed, err := a.run.Agent().RepairArguments(ctx, spool.ToolCall{
			Thread: a.run.Key(), RunID: a.run.Row().ID, Step: a.run.Row().Steps + 1, Name: name, Args: args,
			HostState: a.run.Row().HostState, Agent: a.run.Row().Agent, Subject: a.run.Row().StartedBy,
		}, problem)
		if err != nil {
			log.WarnContext(ctx, "repair arguments", "tool", name, "error", err)
			return nil
		}
		return fixed
	})
}

// stepRow returns the ledger row of the next step's question, without its usage.
func (a *asker) stepRow() wire.UsageRow {
	return wire.UsageRow{
		RunID: a.run.Row().Root(), AgentID: a.run.Row().AgentID(), Agent: a.run.Row().Agent, Kind: spool.UsageStep,
		Step: a.run.Row().Steps + 1, Model: a.run.Row().ModelInUse(), Requested: spool.InfoOf(a.model).Model,
	}
}

// askSpeaking asks the model for the next turn. If the turn has neither text nor calls, askSpeaking
// asks once more, in the same stream. It puts the reasoning of the first turn before the second turn,
// because clients have already seen it.
func (a *asker) askSpeaking(ctx context.Context, past *history.Messages) (chat.Turn, error) {
	first, err := a.askFitting(ctx, past)
	if err != nil || !first.Empty() {
		return first, err
	}
	a.run.Log().WarnContext(ctx, "the model's answer is empty", "step", a.run.Row().Steps+1, "finish_reason", first.Reason)
	a.run.Events().EndBlock(ctx)
	err = a.run.Update(ctx, func(tx *thread.Tx) error {
		tx.Add(first.Usage.Count())
		if err := first.Charge(tx, wire.OutcomeError); err != nil {
			return err
		}
		return tx.Put()
	})
	if err != nil {
		return first, err
	}
	thought := first.Message.Content.Shown() // the provider's data belongs to another answer
	second, err := a.askFitting(ctx, past)
	second.Message.Content = slices.Concat(thought, second.Message.Content)
	if cut, ok := errors.AsType[*chat.CutOffError](err); ok {
		cut.Turn.Message.Content = second.Message.Content
	}
	return second, err
}

// finalText asks for the answer behind the last step. It also stops models whose servers ignore
// [spool.ModelRequest.NoCalls].
const finalText = "You have used all your steps, so you cannot call a tool any more. Answer now with what you know, and say what is missing."

// request returns the request for a history.
func (a *asker) request(messages []spool.Message) spool.ModelRequest {
	r := a.run.Agent().Request(a.run.Row(), messages)
	r.NoCalls = a.final
	return r
}

// withPrompts returns the messages with the prompts that only the model sees: that of a repair, and that for the answer
// behind the last step. Every worker adds the same ones. An answer that its provider has paused or a budget has cut
// goes on without a prompt: its parts become one message, and may be signed together.
func (a *asker) withPrompts(messages []spool.Message) ([]spool.Message, history.Weight) {
	messages, w := a.withRepair(messages)
	if !a.final || len(messages) > 0 && messages[len(messages)-1].Role == spool.RoleAssistant {
		return messages, w
	}
	last := spool.Message{Role: spool.RoleUser, Content: spool.TextContent(finalText)}
	w.Add(history.Weigh(spool.ModelRequest{Messages: []spool.Message{last}}))
	return append(slices.Clip(messages), last), w
}
