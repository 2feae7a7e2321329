package telemetry

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/history"
	"github.com/spoolhq/spool/wire"
)

// ChatSpan is the span of one answer of a model.
type ChatSpan struct {
	t     *Recorder
	ctx   context.Context //nolint:containedctx // of the span, which ends with the answer
	span  trace.Span
	model described
	began time.Time
	first time.Duration // zero: no event yet

	// What the span has of the answer so far.
	text    history.Gathered
	usage   spool.Usage
	modelID string
	reason  spool.FinishReason
}

// Chat begins the span of an answer. Use is the answer's ledger row. The thread may be empty.
func (t *Recorder) Chat(
	ctx context.Context, thread spool.ThreadID, use wire.UsageRow, r spool.ModelRequest,
) (context.Context, *ChatSpan) {
	if t == nil {
		return ctx, nil
	}
	model := t.model(use.Model)
	attrs := []attribute.KeyValue{
		attrOperation.String(operationChat), attrProvider.String(model.provider), attrRequestModel.String(model.model),
		attrAgentName.String(t.spanAgent(use.Agent)), attrRun.String(string(use.RunID)), attrStep.Int(use.Step),
	}
	if thread != "" {
		attrs = append(attrs, attrConversation.String(string(thread)))
	}
	if use.Kind != "" && use.Kind != spool.UsageStep {
		attrs = append(attrs, attrUsageKind.String(string(use.Kind)))
	}
	if r.MaxOutputTokens > 0 {
		attrs = append(attrs, attrMaxTokens.Int(r.MaxOutputTokens))
	}
	ctx, span := t.tracer.Start(ctx, operationChat+" "+model.model,
		trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attrs...))
	if t.contents && span.IsRecording() {
		span.SetAttributes(requestContents(r)...)
	}
	return ctx, &ChatSpan{t: t, ctx: ctx, span: span, model: model, began: time.Now()}
}

// ProviderWait notes that a call of a model waits for a limit of its provider, until done is called.
func (t *Recorder) ProviderWait(ctx context.Context, model string) (done func()) {
	if t == nil {
		return func() {}
	}
	described, began := t.model(model), time.Now()
	set := labels(attrProvider.String(described.provider), attrRequestModel.String(described.model))
	t.providerWaits.Add(ctx, 1, set)
	return func() {
		t.providerWaits.Add(ctx, -1, set)
		t.providerWait.Record(ctx, time.Since(began).Seconds(), set)
	}
}

// Fallback counts a move of a run to another model, by the model that has failed and the class of its failure.
func (t *Recorder) Fallback(ctx context.Context, moved wire.ModelFallback) {
	if t == nil {
		return
	}
	from := t.model(moved.From)
	t.fallbacks.Add(ctx, 1, labels(attrProvider.String(from.provider), attrRequestModel.String(from.model),
		attrErrorType.String(string(moved.Cause))))
}

// Watch yields the events of an answer unchanged. It notes them for the span, with the time of the
// first event.
func (c *ChatSpan) Watch(answer iter.Seq2[spool.ModelEvent, error]) iter.Seq2[spool.ModelEvent, error] {
	if c == nil {
		return answer
	}
	return func(yield func(spool.ModelEvent, error) bool) {
		for event, err := range answer {
			if err == nil {
				c.note(event)
			}
			if !yield(event, err) {
				return
			}
		}
	}
}

func (c *ChatSpan) note(event spool.ModelEvent) {
	if c.first == 0 {
		c.first = max(time.Since(c.began), 1)
	}
	switch ev := event.(type) {
	case spool.UsageSeen:
		c.usage = ev.Usage
	case spool.Finish:
		c.usage, c.modelID, c.reason = ev.Usage, ev.ModelID, cmp.Or(ev.Reason, spool.FinishStop)
	case spool.TextDelta:
		if c.t.contents {
			c.text.AddText(spool.PartText, ev.Text)
		}
	case spool.ReasoningDelta:
		if c.t.contents {
			c.text.AddText(spool.PartReasoning, ev.Text)
		}
	case spool.ToolCallEnd:
		if c.t.contents {
			c.text.Add(spool.Part{
				Type: spool.PartToolCall, ToolCallID: ev.ID, ToolName: ev.Name, Args: json.RawMessage(ev.Args),
			})
		}
	}
}

// Cut notes that the engine has cut the answer.
func (c *ChatSpan) Cut() {
	if c != nil {
		c.reason = spool.FinishLength
	}
}

func (c *ChatSpan) Done(err error) {
	if c == nil {
		return
	}
	defer c.span.End()
	if err == nil && c.reason == "" {
		err = errors.New("the answer ended without a finish")
		if cause := c.ctx.Err(); cause != nil {
			err = cause
		}
	}
	outcome := wire.OutcomeFinished
	metrics := []attribute.KeyValue{
		attrOperation.String(operationChat), attrProvider.String(c.model.provider), attrRequestModel.String(c.model.model),
	}
	if c.modelID != "" {
		metrics = append(metrics, attrResponseModel.String(c.modelID))
	}
	switch {
	case err == nil:
	case c.ctx.Err() != nil:
		outcome = wire.OutcomeAborted
		metrics = append(metrics, attrErrorType.String("canceled"))
		c.span.SetAttributes(attrErrorType.String("canceled"))
	default:
		outcome = wire.OutcomeError
		metrics = append(metrics, attrErrorType.String(errorType(err)))
		c.t.failed(c.span, err)
	}
	c.describe(outcome)
	set := labels(metrics...)
	c.t.chats.Record(c.ctx, time.Since(c.began).Seconds(), set)
	if c.first > 0 {
		c.t.firstChunks.Record(c.ctx, c.first.Seconds(), set)
	}
}

// describe adds the answer's attributes to the span.
func (c *ChatSpan) describe(outcome wire.Outcome) {
	if !c.span.IsRecording() {
		return
	}
	attrs := []attribute.KeyValue{attrOutcome.String(string(outcome))}
	if c.modelID != "" {
		attrs = append(attrs, attrResponseModel.String(c.modelID))
	}
	if c.reason != "" {
		attrs = append(attrs, attrFinishReasons.StringSlice([]string{string(c.reason)}))
	}
	if c.first > 0 {
		attrs = append(attrs, attrFirstChunk.Float64(c.first.Seconds()))
	}
	for _, count := range []struct {
		key attribute.Key
		n   *int64
	}{
		{attrInputTokens, c.usage.Input},
		{attrOutputTokens, c.usage.Output},
		{attrCacheRead, c.usage.CacheRead},
		{attrCacheWrite, c.usage.CacheWrite},
		{attrReasoning, c.usage.Reasoning},
	} {
		if count.n != nil {
			attrs = append(attrs, count.key.Int64(*count.n))
		}
	}
	if c.t.contents {
		attrs = append(attrs, answered(c.text.Content(), c.reason))
	}
	c.span.SetAttributes(attrs...)
}
