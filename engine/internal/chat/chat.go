// Package chat asks a model one question and reads its answer: it streams, bounds and prices the
// answer, and gives its tool calls ids. It touches the model, the stream, the pricer and the limits of the
// provider. The caller saves the usage, in a transition.
package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/history"
	"github.com/spoolhq/spool/engine/internal/pricing"
	"github.com/spoolhq/spool/engine/internal/quota"
	"github.com/spoolhq/spool/engine/internal/random"
	"github.com/spoolhq/spool/engine/internal/stream"
	"github.com/spoolhq/spool/engine/internal/telemetry"
	"github.com/spoolhq/spool/engine/internal/toolresult"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Client contains the dependencies of all questions.
type Client struct {
	pricing.Prices

	Telemetry *telemetry.Recorder
	Log       *slog.Logger
	Random    random.Source
	// MaxAnswerBytes bounds an answer's text, reasoning and call arguments.
	MaxAnswerBytes int
	// Limits are those of the models' providers. Nil: there are none.
	Limits *quota.Limiter
}

// Question is one request to a model.
type Question struct {
	Thread  spool.ThreadKey
	Run     store.RunRow
	Model   spool.Model
	Request spool.ModelRequest
	// Weight is the request's size.
	Weight history.Weight
	// Past has the messages from which the request was made.
	Past   *history.Messages
	Events *stream.Emitter
	// Row is the call's ledger row without the usage.
	Row wire.UsageRow
	// Reserve reserves budget for the request, and returns the budget that limits the answer, or "". It is
	// called directly before the model.
	Reserve func(ctx context.Context, r *spool.ModelRequest) (wire.StopReason, error)
	// Arguments returns the arguments of a call in their canonical form, and those that the model has sent if they are
	// others. It returns within the answer.
	Arguments func(ctx context.Context, name, text string) (args, sent json.RawMessage)
	// SaveFile saves a file of the answer, the n-th from 1, and returns its part of the message. It returns within the
	// answer. Nil: files are not saved.
	SaveFile func(ctx context.Context, n int, file spool.FileMade) (spool.Part, error)
	// Withheld records that the request has no files of results, and what the model reads in their place.
	Withheld func(ctx context.Context, text string) error
	// SaveResume saves the data of a resume point.
	SaveResume func(ctx context.Context, data json.RawMessage) error
}

type call struct {
	*Client
	Question
}

// Ask sends the question and streams the answer. It first waits for the limits of the provider. If the answer
// is incomplete, the error is a [CutOffError]. With any other error, the model was not called.
func (c *Client) Ask(ctx context.Context, q Question) (Turn, error) {
	var capped wire.StopReason
	turn := c.turn(quota.Call{
		Model: q.Row.Model, Tenant: q.Thread.Tenant, Run: q.Run.ID, Root: q.Run.Root(),
		Tokens: estimate(history.NewMeter(q.Run.Context).Of(q.Weight), q.Request),
		OnWait: func(why quota.Reason) {
			q.Events.Item(ctx, wire.ItemProviderWait, waitOf(q.Run, why))
		},
	}, func(ctx context.Context) (err error) {
		capped, err = q.Reserve(ctx, &q.Request)
		return err
	})
	calling, permit, err := turn.wait(ctx)
	if err != nil {
		return Turn{}, err
	}
	newest, _ := q.Past.Last()
	t := Turn{
		Message: spool.Message{Role: spool.RoleAssistant}, Capped: capped, past: q.Past, messages: q.Past.Len(),
		newest: newest.ID, weight: q.Weight, run: q.Run, ids: make(map[spool.ToolCallID]*openCall), row: q.Row,
		bound: bound{left: c.MaxAnswerBytes}, random: c.Random, resumable: q.Request.Resume != nil, final: q.Request.NoCalls,
	}
	asked := call{Client: c, Question: q}
	err = asked.listen(calling, q.Request, &t)
	if t.Message.Content = t.gathered.Content(); t.bound.exceeded { // what the data signs may be missing
		t.Message.Content = t.Message.Content.Shown()
	}
	if cause := ctx.Err(); cause != nil && err == nil && t.Reason == "" {
		err = cause
	}
	if err == nil && t.Reason == "" {
		err = cmp.Or[error](lapsed(ctx, calling), &spool.ModelError{Message: "the answer ended without a finish"})
	}
	permit.Done(quota.Usage{Tokens: reported(t.Usage), Err: err})
	asked.completeLedgerRow(ctx, &t, err != nil || t.bound.exceeded)
	if err != nil {
		return t, &CutOffError{Turn: t, Err: err}
	}
	return t, nil
}

func (c *call) logger() *slog.Logger {
	return c.Log.With("tenant", string(c.Thread.Tenant), "thread", string(c.Thread.ID), "run", string(c.Run.ID))
}

// listen copies an answer to the stream and into t. It turns a panic of the model into an error.
func (c *call) listen(ctx context.Context, request spool.ModelRequest, t *Turn) (err error) {
	ctx, span := c.Telemetry.Chat(ctx, c.Thread.ID, wire.UsageRow{
		RunID: c.Run.ID, Agent: c.Run.Agent, Step: c.Run.Steps + 1, Model: c.Row.Model,
	}, request)
	defer func() { span.Done(err) }()
	defer func() {
		if p := recover(); p != nil {
			err = &spool.ModelError{
				Status: 400, Message: "the model adapter panicked", Err: fmt.Errorf("panic: %v\n%s", p, debug.Stack()),
			}
		}
	}()
	for event, err := range span.Watch(c.Model.Stream(ctx, request)) {
		if err != nil {
			return err
		}
		if event, err = withData(event); err != nil {
			return err
		}
		if saved, err := c.saved(ctx, event, t); err != nil {
			return err
		} else if saved {
			continue
		}
		event, whole := t.fit(event)
		if event != nil {
			c.apply(ctx, event, t)
		}
		if !whole {
			c.cutShort(ctx, t)
			span.Cut()
		}
		if t.Reason != "" {
			c.cite(ctx, t)
			return nil
		}
	}
	return nil
}

// saved saves an event that is no part of the answer. It returns false for one that is.
func (c *call) saved(ctx context.Context, event spool.ModelEvent, t *Turn) (bool, error) {
	switch ev := event.(type) {
	case spool.ResumePoint:
		return true, c.saveResume(ctx, ev, t)
	case spool.FilesWithheld:
		return true, c.Withheld(ctx, ev.Text)
	default:
		return false, nil
	}
}

// fit returns the part of an event that fits into the answer.
func (t *Turn) fit(event spool.ModelEvent) (spool.ModelEvent, bool) {
	streamed := 0
	if end, ok := event.(spool.ToolCallEnd); ok {
		if c := t.ids[end.ID]; c != nil {
			streamed = len(c.args)
		}
	}
	return t.bound.fit(event, streamed)
}

func (c *call) apply(ctx context.Context, event spool.ModelEvent, t *Turn) {
	w := c.Events
	switch ev := event.(type) {
	case spool.TextDelta:
		if ev.Text != "" {
			w.Text(ctx, ev.Text)
			t.gathered.AddText(spool.PartText, ev.Text)
		}
	case spool.ReasoningDelta:
		if ev.Text != "" {
			w.Reasoning(ctx, ev.Text)
			t.gathered.AddText(spool.PartReasoning, ev.Text)
		}
	case spool.TextEnd:
		if t.gathered.End(spool.PartText, ev.Provider) {
			w.EndBlock(ctx)
		}
	case spool.ReasoningEnd:
		if t.gathered.End(spool.PartReasoning, ev.Provider) {
			w.EndBlock(ctx)
		}
	case spool.ProviderPart:
		if ev.Provider != nil {
			w.EndBlock(ctx)
			t.gathered.Add(spool.Part{Type: spool.PartProvider, Provider: ev.Provider})
		}
	case spool.FileMade:
		w.EndBlock(ctx)
		c.file(ctx, ev, t)
	case spool.Source:
		t.sources.Add(ev)
	case spool.ToolCallStart:
		if ev.Name == "" { // a call without a name cannot be executed
			return
		}
		w.EndBlock(ctx)
		w.Item(ctx, wire.ItemToolStart, wire.ToolStarted{ToolCallID: t.beginCall(ev.ID, ev.Name).id, ToolName: ev.Name})
	case spool.ToolCallDelta:
		begun := t.ids[ev.ID]
		if begun == nil {
			return
		}
		begun.args = append(begun.args, ev.Args...)
		w.Item(ctx, wire.ItemToolArgs, wire.ToolArgs{ToolCallID: begun.id, Delta: ev.Args})
	case spool.ToolCallEnd:
		if ev.Name == "" {
			return
		}
		part := spool.Part{
			Type: spool.PartToolCall, ToolCallID: t.beginCall(ev.ID, ev.Name).id, ToolName: ev.Name, Provider: ev.Provider,
		}
		part.Args, part.SentArgs = c.Arguments(ctx, ev.Name, ev.Args)
		w.Item(ctx, wire.ItemToolEnd, wire.ToolEnded{
			ToolCallID: part.ToolCallID, ToolName: ev.Name, Args: part.Args, SentArgs: part.SentArgs,
		})
		t.gathered.Add(part)
		delete(t.ids, ev.ID) // the provider may use the id again for another call
	case spool.UsageSeen:
		t.Usage, t.receipt = possible(ev.Usage), ev.Cost
	case spool.Finish:
		t.Reason, t.Usage, t.modelID, t.receipt = ev.Reason, possible(ev.Usage), ev.ModelID, ev.Cost
		if t.Reason == "" {
			t.Reason = spool.FinishStop
		}
	}
}

// cutShort ends an answer that exceeds its bound. It closes the open calls and keeps their partial
// arguments as a text. These calls do not run.
func (c *call) cutShort(ctx context.Context, t *Turn) {
	t.Reason = spool.FinishLength
	for _, open := range slices.SortedFunc(maps.Values(t.ids), func(a, b *openCall) int { return a.nth - b.nth }) {
		part := spool.Part{
			Type: spool.PartToolCall, ToolCallID: open.id, ToolName: open.name, Args: toolresult.JSON(string(open.args)),
		}
		c.Events.Item(ctx, wire.ItemToolEnd,
			wire.ToolEnded{ToolCallID: part.ToolCallID, ToolName: part.ToolName, Args: part.Args})
		t.gathered.Add(part)
	}
	clear(t.ids)
	c.logger().WarnContext(ctx, "the model's answer is cut: it is too long",
		"step", c.Run.Steps+1, "max_answer_bytes", c.MaxAnswerBytes)
}

// cite ends the answer with its sources. The spans of those of an answer that was cut are those within it.
func (c *call) cite(ctx context.Context, t *Turn) {
	for _, s := range t.sources.Of(t.gathered.Content().Text()) {
		c.Events.Source(ctx, s)
		t.gathered.Add(spool.SourcePart(s, ""))
	}
}

// completeLedgerRow completes the turn's ledger row, including its price. It does so before the transaction that
// writes the row, because pricing may take too long for a transaction.
func (c *call) completeLedgerRow(ctx context.Context, t *Turn, cut bool) {
	t.row.ModelID, t.row.Usage = t.modelID, t.Usage
	if !cut || ctx.Err() != nil || len(t.Message.Content) > 0 || t.resumable {
		c.guess(ctx, t)
	}
	t.row.Cost = c.Price(ctx, c.Model, c.Request, t.row, t.receipt)
}

// guess estimates the usage that the provider did not report, or reported as less than it can be. A refused
// request has no answer and used nothing.
func (c *call) guess(ctx context.Context, t *Turn) {
	switch {
	case t.Usage.Input == nil:
		t.row.Guess.Input = new(history.NewMeter(c.Run.Context).Of(t.weight))
	case t.weight.Denies(*t.Usage.Input):
		t.row.Guess.Input = new(history.NewMeter(nil).Of(t.weight))
		c.logger().WarnContext(ctx, "the provider's count of the prompt cannot be true: an estimate counts",
			"model", c.Row.Model, "counted", *t.Usage.Input, "estimate", *t.row.Guess.Input)
	}
	if t.Usage.Output == nil {
		t.row.Guess.Output = new(guessTokens(t.gathered.Content()))
	}
}

// maxTokens is more than any model call uses. Ledgers and tallies add counts up, and must not overflow.
const maxTokens = 1_000_000_000

// possible returns a provider's counts without those that no model call can have. They count as not reported: a
// negative one would make room in a budget, and a huge one would keep every later run of the tenant from being saved.
func possible(u spool.Usage) spool.Usage {
	for _, n := range []**int64{&u.Input, &u.CacheRead, &u.CacheWrite, &u.Output, &u.Reasoning} {
		if *n != nil && (**n < 0 || **n > maxTokens) {
			*n = nil
		}
	}
	return u
}
