package agent

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/history"
	"github.com/spoolhq/spool/engine/internal/random"
	"github.com/spoolhq/spool/engine/internal/registry"
	"github.com/spoolhq/spool/engine/internal/thread"
)

// turn is one answer of the model, or the part of it that came.
type turn struct {
	message spool.Message
	reason  spool.FinishReason
	usage   spool.Usage
	modelID string
	receipt *spool.Cost // what the provider says that it cost
	// capped is the budget that made the answer shorter than it could be. Empty: none.
	capped spool.StopReason

	row spool.UsageRow // of the ledger, but for its outcome

	past     *history.Messages
	messages int             // how many there were when the model was asked
	newest   spool.MessageID // of them
	weight   history.Weight  // of the prompt
	run      spool.Run
	ids      map[spool.ToolCallID]*openCall // by the provider's ids
	calls    int                            // how many have begun
	came     history.Gathered               // until the message has it
	random   random.Source
	bound    bound
}

// id returns the id of a call that the provider has named: one that is unique in its thread
// and fit for the wire, as some providers count from zero in each answer, or do not count.
func (t *turn) id(id spool.ToolCallID) spool.ToolCallID {
	fit := t.past.Unlike(id, t.run)
	if spool.CheckID("toolCallId", string(fit)) != nil || len(fit) > spool.MaxIDLen-8 {
		fit = spool.ToolCallID(t.random.ID("call"))
	}
	fit += spool.ToolCallID(callSuffix(t.run))
	here := func(p spool.Part) bool { return p.ToolCallID == fit }
	if t.past.Has(fit) || slices.ContainsFunc(t.came.Parts, here) {
		fit = spool.ToolCallID(t.random.ID("call"))
	}
	return fit
}

// begin returns a call that begins, or that has begun before.
func (t *turn) begin(id spool.ToolCallID, name string) *openCall {
	c := t.ids[id]
	if c == nil {
		c = &openCall{id: t.id(id), name: name, nth: t.calls}
		t.ids[id] = c
		t.calls++
	}
	return c
}

// counted keeps in the run what its provider has counted of the prompt.
func (t *turn) counted(tx *thread.Tx) {
	if t.usage.Input == nil || *t.usage.Input <= 0 {
		return
	}
	counts := t.usage.Count()
	tx.Run.Context = &spool.ContextCount{
		Tokens: counts.InputTokens, Answer: counts.OutputTokens, Bytes: t.weight.Bytes, Images: t.weight.Images,
		Messages: t.messages, LastMessageID: t.newest,
	}
}

// cutOffError is the error of an answer that did not come to its end. It keeps what came.
type cutOffError struct {
	turn turn
	err  error
}

func (c *cutOffError) Error() string { return c.err.Error() }
func (c *cutOffError) Unwrap() error { return c.err }

// ask asks the model for the next turn and streams it.
func (l *loop) ask(ctx context.Context, past *history.Messages, asked weighed) (turn, error) {
	request, err := l.s.runner.Attachments.Inline(ctx, asked.ModelRequest, l.run.Root(), l.images)
	if err != nil {
		return turn{}, err
	}
	newest, _ := past.Last()
	t := turn{
		message: spool.Message{Role: spool.RoleAssistant}, past: past, messages: past.Len(), newest: newest.ID,
		weight: asked.weight, run: l.run, ids: make(map[spool.ToolCallID]*openCall),
		bound: bound{left: l.s.runner.MaxAnswerBytes}, random: l.s.runner.Rules.Random,
	}
	row := spool.UsageRow{
		RunID: l.run.Root(), AgentID: l.run.AgentID(), Agent: l.run.Agent, Kind: spool.UsageStep, Step: l.run.Steps + 1, Model: l.run.Model,
		Requested: requestedOf(l.model),
	}
	if t.capped, err = l.reserve(ctx, row, l.model, &request, history.NewMeter(l.run.Context).Of(t.weight)); err != nil {
		return t, err
	}
	t.row = row
	err = l.listen(ctx, request, &t)
	t.message.Content = t.came.Content()
	if cause := ctx.Err(); cause != nil && err == nil && t.reason == "" {
		err = cause
	}
	if err == nil && t.reason == "" {
		err = &spool.ModelError{Message: "the answer ended without a finish"}
	}
	l.account(ctx, &t, err != nil || t.bound.exceeded)
	if err != nil {
		return t, &cutOffError{turn: t, err: err}
	}
	return t, nil
}

// listen copies an answer to the stream and into t. A panic of the model is an error.
func (l *loop) listen(ctx context.Context, request spool.ModelRequest, t *turn) (err error) {
	ctx, span := l.s.runner.Telemetry.Chat(ctx, l.s.key.ID, spool.UsageRow{
		RunID: l.run.ID, Agent: l.run.Agent, Step: l.run.Steps + 1, Model: l.run.Model,
	}, request)
	defer func() { span.Done(err) }()
	defer func() {
		if p := recover(); p != nil {
			err = &spool.ModelError{Status: 400, Message: "the model adapter panicked", Err: fmt.Errorf("panic: %v\n%s", p, debug.Stack())}
		}
	}()
	for event, err := range span.Watch(l.model.Stream(ctx, request)) {
		if err != nil {
			return err
		}
		event, whole := t.take(event)
		if event != nil {
			l.hear(ctx, event, t)
		}
		if !whole {
			l.cutShort(ctx, t)
			span.Cut()
		}
		if t.reason != "" {
			return nil
		}
	}
	return nil
}

// take returns what of an event has room in the answer.
func (t *turn) take(event spool.ModelEvent) (spool.ModelEvent, bool) {
	streamed := 0
	if end, ok := event.(spool.ToolCallEnd); ok {
		if c := t.ids[end.ID]; c != nil {
			streamed = len(c.args)
		}
	}
	return t.bound.take(event, streamed)
}

func (l *loop) hear(ctx context.Context, event spool.ModelEvent, t *turn) {
	w := &l.events
	switch ev := event.(type) {
	case spool.TextDelta:
		if ev.Text != "" {
			w.Text(ctx, ev.Text)
			t.came.AddText(spool.PartText, ev.Text)
		}
	case spool.ReasoningDelta:
		if ev.Text != "" {
			w.Reasoning(ctx, ev.Text)
			t.came.AddText(spool.PartReasoning, ev.Text)
		}
	case spool.ReasoningEnd:
		t.came.EndReasoning(spool.Part{Type: spool.PartReasoning, Provider: ev.Provider})
	case spool.ToolCallStart:
		if ev.Name == "" { // nobody could be called
			return
		}
		w.EndBlock(ctx)
		w.Item(ctx, spool.ItemToolStart, spool.ToolStarted{ToolCallID: t.begin(ev.ID, ev.Name).id, ToolName: ev.Name})
	case spool.ToolCallDelta:
		c := t.ids[ev.ID]
		if c == nil {
			return
		}
		c.args = append(c.args, ev.Args...)
		w.Item(ctx, spool.ItemToolArgs, spool.ToolArgs{ToolCallID: c.id, Delta: ev.Args})
	case spool.ToolCallEnd:
		if ev.Name == "" {
			return
		}
		part := spool.Part{
			Type: spool.PartToolCall, ToolCallID: t.begin(ev.ID, ev.Name).id, ToolName: ev.Name, Args: registry.CallArgs(ev.Args), Provider: ev.Provider,
		}
		w.Item(ctx, spool.ItemToolEnd, spool.ToolEnded{ToolCallID: part.ToolCallID, ToolName: ev.Name, Args: part.Args})
		t.came.Add(part)
		delete(t.ids, ev.ID) // another call of the same id is another call
	case spool.UsageSeen:
		t.usage, t.receipt = ev.Usage, ev.Cost
	case spool.Finish:
		t.reason, t.usage, t.modelID, t.receipt = ev.Reason, ev.Usage, ev.ModelID, ev.Cost
		if t.reason == "" {
			t.reason = spool.FinishStop
		}
	}
}

// callSuffix ends the ids of a nested run's calls, so that they differ from those of every
// other run of the tree: a person's answer names nothing but the call.
func callSuffix(run spool.Run) string {
	if run.RootID == "" {
		return ""
	}
	return "-" + string(run.ID[len(run.ID)-6:])
}
