package engine

import (
	"context"
	"errors"

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
		attrOperation.String(operationAgent), attrProvider.String(model.provider), attrAgentName.String(t.spanAgent(run.Agent)),
		attrConversation.String(string(run.ThreadID)), attrRequestModel.String(model.model),
		attrTenant.String(string(run.Tenant)), attrRun.String(string(run.ID)), attrSegment.Int(run.Segments),
	}
	if run.ParentID != "" {
		attrs = append(attrs, attrAgentID.String(string(run.ID)))
	}
	key := runKey{run.Tenant, run.ID}
	options := []trace.SpanStartOption{trace.WithAttributes(attrs...), trace.WithLinks(t.links.of(key)...)}
	ctx, span := t.tracer.Start(ctx, operationAgent+" "+t.spanAgent(run.Agent), options...) //nolint:spancheck // done ends it
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
	case err == nil && run.State == spool.Queued: // it made room
		status = spool.SegmentLost
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
