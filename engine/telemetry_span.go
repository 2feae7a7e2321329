package engine

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/spoolhq/spool"
)

// agentSpan is the span of an agent at work.
type agentSpan struct {
	t    *telemetry
	span trace.Span
}

// agent begins the span of a loop's work.
func (t *telemetry) agent(ctx context.Context, l *loop) (context.Context, *agentSpan) {
	if t == nil {
		return ctx, nil
	}
	run, model := l.run, t.model(l.run.Model)
	attrs := []attribute.KeyValue{
		attrOperation.String(operationAgent), attrProvider.String(model.provider), attrAgentName.String(run.Agent),
		attrConversation.String(string(run.ThreadID)), attrRequestModel.String(model.model),
		attrTenant.String(string(run.Tenant)), attrRun.String(string(run.ID)), attrSegment.Int(run.Segments),
	}
	if run.ParentID != "" {
		attrs = append(attrs, attrAgentID.String(string(run.ID)))
	}
	key := runKey{run.Tenant, run.ID}
	options := []trace.SpanStartOption{trace.WithAttributes(attrs...), trace.WithLinks(t.links.of(key)...)}
	ctx, span := t.tracer.Start(ctx, operationAgent+" "+run.Agent, options...) //nolint:spancheck // done ends it
	t.links.add(key, span.SpanContext())
	return ctx, &agentSpan{t: t, span: span} //nolint:spancheck // done ends it
}

// done ends the span. err is why the loop could not go on, which is no error where it was
// told to end.
func (a *agentSpan) done(ctx context.Context, run spool.Run, err error) {
	if a == nil {
		return
	}
	defer a.span.End()
	status := spool.SegmentFinished
	switch cause := context.Cause(ctx); {
	case err == nil && run.State == spool.WaitingForInput:
		status = spool.SegmentParked
	case err == nil && run.State == spool.Cancelled, err != nil && errors.Is(cause, errStopped):
		status = spool.SegmentStopped
	case err == nil && run.State == spool.Failed:
		status = spool.SegmentError
		a.t.failed(a.span, errors.New(run.Error))
	case err == nil:
	case cause != nil:
		status = spool.SegmentLost
	default:
		status = spool.SegmentError
		a.t.failed(a.span, err)
	}
	a.span.SetAttributes(attrSegmentStatus.String(string(status)), attrRunState.String(string(run.State)))
	if run.State.Terminal() {
		a.t.links.forget(runKey{run.Tenant, run.ID})
	}
}

// chatSpan is the span of one answer of a model.
type chatSpan struct {
	t     *telemetry
	ctx   context.Context //nolint:containedctx // of the span, which ends with the answer
	span  trace.Span
	model described
	began time.Time
	first time.Duration // zero: nothing came
}

// chat begins the span of an answer.
func (t *telemetry) chat(ctx context.Context, l *loop, r spool.ModelRequest) (context.Context, *chatSpan) {
	if t == nil {
		return ctx, nil
	}
	model := t.model(l.run.Model)
	attrs := []attribute.KeyValue{
		attrOperation.String(operationChat), attrProvider.String(model.provider), attrRequestModel.String(model.model),
		attrAgentName.String(l.run.Agent), attrConversation.String(string(l.run.ThreadID)),
		attrRun.String(string(l.run.ID)), attrStep.Int(l.run.Steps + 1),
	}
	if r.MaxOutputTokens > 0 {
		attrs = append(attrs, attrMaxTokens.Int(r.MaxOutputTokens))
	}
	ctx, span := t.tracer.Start(ctx, operationChat+" "+model.model,
		trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attrs...))
	if t.contents && span.IsRecording() {
		span.SetAttributes(asked(r)...)
	}
	return ctx, &chatSpan{t: t, ctx: ctx, span: span, model: model, began: time.Now()}
}

// watch passes an answer on, and notes when its first event came.
func (c *chatSpan) watch(answer iter.Seq2[spool.ModelEvent, error]) iter.Seq2[spool.ModelEvent, error] {
	if c == nil {
		return answer
	}
	return func(yield func(spool.ModelEvent, error) bool) {
		for event, err := range answer {
			if c.first == 0 && err == nil {
				c.first = max(time.Since(c.began), 1)
			}
			if !yield(event, err) {
				return
			}
		}
	}
}

// done ends the span with what has come of the answer.
func (c *chatSpan) done(t *turn, err error) {
	if c == nil {
		return
	}
	defer c.span.End()
	if err == nil && t.reason == "" {
		err = errors.New("the answer ended without a finish")
		if cause := c.ctx.Err(); cause != nil {
			err = cause
		}
	}
	outcome := spool.OutcomeFinished
	metrics := []attribute.KeyValue{
		attrOperation.String(operationChat), attrProvider.String(c.model.provider), attrRequestModel.String(c.model.model),
	}
	if t.modelID != "" {
		metrics = append(metrics, attrResponseModel.String(t.modelID))
	}
	switch {
	case err == nil:
	case c.ctx.Err() != nil:
		outcome = spool.OutcomeAborted
		metrics = append(metrics, attrErrorType.String("canceled"))
		c.span.SetAttributes(attrErrorType.String("canceled"))
	default:
		outcome = spool.OutcomeError
		metrics = append(metrics, attrErrorType.String(errorType(err)))
		c.t.failed(c.span, err)
	}
	c.describe(t, outcome)
	set := labels(metrics...)
	c.t.chats.Record(c.ctx, time.Since(c.began).Seconds(), set)
	if c.first > 0 {
		c.t.firstChunks.Record(c.ctx, c.first.Seconds(), set)
	}
}

// describe puts on the span what is known of the answer.
func (c *chatSpan) describe(t *turn, outcome spool.Outcome) {
	if !c.span.IsRecording() {
		return
	}
	attrs := []attribute.KeyValue{attrOutcome.String(string(outcome))}
	if t.modelID != "" {
		attrs = append(attrs, attrResponseModel.String(t.modelID))
	}
	if t.reason != "" {
		attrs = append(attrs, attrFinishReasons.StringSlice([]string{string(t.reason)}))
	}
	if c.first > 0 {
		attrs = append(attrs, attrFirstChunk.Float64(c.first.Seconds()))
	}
	for _, count := range []struct {
		key attribute.Key
		n   *int64
	}{
		{attrInputTokens, t.usage.Input},
		{attrOutputTokens, t.usage.Output},
		{attrCacheRead, t.usage.CacheRead},
		{attrCacheWrite, t.usage.CacheWrite},
		{attrReasoning, t.usage.Reasoning},
	} {
		if count.n != nil {
			attrs = append(attrs, count.key.Int64(*count.n))
		}
	}
	if c.t.contents {
		attrs = append(attrs, answered(t)...)
	}
	c.span.SetAttributes(attrs...)
}

// toolSpan is the span of one call of a tool.
type toolSpan struct {
	t     *telemetry
	ctx   context.Context //nolint:containedctx // of the span, which ends with the call
	span  trace.Span
	began time.Time
	attrs []attribute.KeyValue
}

// tool begins the span of a call.
func (t *telemetry) tool(ctx context.Context, l *loop, call spool.ToolCall) (context.Context, *toolSpan) {
	if t == nil {
		return ctx, nil
	}
	attrs := []attribute.KeyValue{
		attrOperation.String(operationTool), attrToolName.String(call.Name), attrToolType.String("function"),
		attrAgentName.String(l.run.Agent),
	}
	ctx, span := t.tracer.Start(ctx, operationTool+" "+call.Name, trace.WithAttributes(append(slices.Clip(attrs),
		attrToolCallID.String(string(call.ID)), attrConversation.String(string(call.Thread.ID)),
		attrRun.String(string(call.RunID)), attrStep.Int(call.Step),
	)...))
	if t.contents {
		span.SetAttributes(attrToolArgs.String(cut(string(call.Args))))
	}
	return ctx, &toolSpan{t: t, ctx: ctx, span: span, began: time.Now(), attrs: attrs}
}

// The outcomes of a call besides those of a model's answer.
const outcomeParked = "parked"

// done ends the span. A tool that parks has not failed.
func (c *toolSpan) done(result json.RawMessage, err error) {
	if c == nil {
		return
	}
	defer c.span.End()
	outcome := string(spool.OutcomeFinished)
	var park *spool.ParkRequest
	switch {
	case err == nil:
		if c.t.contents {
			c.span.SetAttributes(attrToolResult.String(cut(string(result))))
		}
	case errors.As(err, &park):
		outcome = outcomeParked
	case c.ctx.Err() != nil:
		outcome = string(spool.OutcomeAborted)
		c.attrs = append(c.attrs, attrErrorType.String("canceled"))
		c.span.SetAttributes(attrErrorType.String("canceled"))
	default:
		outcome = string(spool.OutcomeError)
		c.attrs = append(c.attrs, attrErrorType.String(errorType(err)))
		c.t.failed(c.span, err)
	}
	c.span.SetAttributes(attrOutcome.String(outcome))
	c.t.tools.Record(c.ctx, time.Since(c.began).Seconds(), labels(append(c.attrs, attrOutcome.String(outcome))...))
}
