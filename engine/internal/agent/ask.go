package agent

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/chat"
	"github.com/spoolhq/spool/engine/internal/history"
)

// ask asks the model for the next turn and streams it.
func (l *asker) ask(ctx context.Context, past *history.Messages, asked weightedRequest) (chat.Turn, error) {
	request, err := l.s.runner.Attachments.Inline(ctx, asked.ModelRequest, l.run.Root(), l.images)
	if err != nil {
		return chat.Turn{}, err
	}
	row := spool.UsageRow{
		RunID: l.run.Root(), AgentID: l.run.AgentID(), Agent: l.run.Agent, Kind: spool.UsageStep, Step: l.run.Steps + 1, Model: l.run.Model,
		Requested: chat.RequestedOf(l.model),
	}
	reserve := func(ctx context.Context, r *spool.ModelRequest) (spool.StopReason, error) {
		return l.reserve(ctx, row, l.model, r, history.NewMeter(l.run.Context).Of(asked.weight))
	}
	return l.s.runner.Chat.Ask(ctx, chat.Question{
		Thread: l.s.Key, Run: l.run, Model: l.model, Request: request, Weight: asked.weight, Past: past, Events: &l.events,
		Row: row, Reserve: reserve,
	})
}
