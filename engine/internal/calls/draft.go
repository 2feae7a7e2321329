package calls

import (
	"context"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/budget"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/engine/internal/toolresult"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// SaveDraft plans the calls of a step, and makes the model's answer durable before any of them runs. Charge writes what
// the answer has cost.
func (c *Calls) SaveDraft(ctx context.Context, draft store.Draft, charge func(tx *thread.Tx) error) error {
	c.run.Events().EndBlock(ctx)
	c.run.Segment().Writer.Flush(ctx)
	c.plan = c.planCalls(ctx, draft.Message.ToolCalls(), c.run.Row().Steps+1, nil, nil)
	var refused []*Call
	err := c.run.Update(ctx, func(tx *thread.Tx) error {
		tx.Run.Draft = &draft
		if err := charge(tx); err != nil {
			return err
		}
		refused = allowCalls(tx, c.plan)
		var changes store.Changes
		for _, p := range refused {
			done := p.effect(wire.EffectDone)
			done.Result = toolresult.Refused()
			changes.Effects = append(changes.Effects, done)
		}
		allowed := slices.DeleteFunc(slices.Clone(c.plan), func(p *Call) bool { return slices.Contains(refused, p) })
		changes.Effects = append(changes.Effects, pendingEffects(allowed)...)
		if err := tx.Write(changes); err != nil {
			return err
		}
		return tx.PutUnseen()
	})
	for _, p := range refused {
		p.save(toolresult.Refused())
	}
	return err
}

// allowCalls counts the planned calls that are about to run or park against the tool-call budget.
// It returns the calls beyond the budget.
func allowCalls(tx *thread.Tx, plan []*Call) (refused []*Call) {
	for _, p := range plan {
		if p.result == nil && !budget.AllowCall(tx.Root().Run.Allowance) {
			refused = append(refused, p)
		}
	}
	return refused
}

// PlanDraft resumes a step whose worker died or shut down while its tools ran.
func (c *Calls) PlanDraft(ctx context.Context) (bool, error) {
	draft := c.run.Row().Draft
	if draft == nil {
		return false, nil
	}
	step := c.run.Row().Steps + 1
	var effects []store.Effect
	var parks []store.Park
	err := c.run.View(ctx, func(v store.View) (err error) {
		if effects, err = v.Effects(c.run.Row().ID, step); err != nil || len(effects) == 0 {
			return err
		}
		parks, err = v.Parks(c.run.Row().Root())
		return err
	})
	if err != nil {
		return false, err
	}
	c.replayDraft(ctx, draft)
	pending := make(map[spool.ToolCallID]store.Park)
	for _, p := range parks {
		if c.ofDraft(p) {
			pending[p.ToolCallID] = p
		}
	}
	c.plan = c.planCalls(ctx, draft.Message.ToolCalls(), step, effects, pending)
	return true, c.run.Update(ctx, func(tx *thread.Tx) error {
		return tx.Write(store.Changes{Effects: pendingEffects(c.plan)})
	})
}

// ofDraft reports whether a park is of a call that became pending in the step of the draft.
func (c *Calls) ofDraft(p store.Park) bool {
	return c.run.Row().Draft != nil && p.State == wire.ParkPending && !p.Landed && p.AgentID == c.run.Row().AgentID() &&
		p.Step > c.run.Row().Steps
}

// replayDraft repeats a draft in this segment's stream, because readers have dropped the draft of the
// interrupted stream.
func (c *Calls) replayDraft(ctx context.Context, d *store.Draft) {
	for _, p := range d.Message.Content {
		// only its provider understands it
		if p.Type != spool.PartToolCall && p.Type != spool.PartSource && p.Text == "" && p.Image == "" && p.File == "" {
			continue
		}
		switch p.Type {
		case spool.PartReasoning:
			c.run.Events().Reasoning(ctx, p.Text)
		case spool.PartText:
			c.run.Events().Text(ctx, p.Text)
		case spool.PartImage, spool.PartFile:
			c.run.Events().EndBlock(ctx)
			c.run.Events().Item(ctx, wire.ItemFile,
				wire.FileShown{Image: p.Image, File: p.File, MIMEType: p.MIMEType, FileName: p.FileName})
		case spool.PartToolCall:
			c.run.Events().EndBlock(ctx)
			c.run.Events().Item(ctx, wire.ItemToolStart, wire.ToolStarted{ToolCallID: p.ToolCallID, ToolName: p.ToolName})
			c.run.Events().Item(ctx, wire.ItemToolEnd,
				wire.ToolEnded{ToolCallID: p.ToolCallID, ToolName: p.ToolName, Args: p.Args, SentArgs: p.SentArgs})
		case spool.PartSource:
			c.run.Events().Source(ctx, spool.Source{URL: p.URL, Title: p.Title, Spans: p.Spans})
		}
	}
	c.run.Events().EndBlock(ctx)
	c.run.Segment().Writer.Flush(ctx)
}
