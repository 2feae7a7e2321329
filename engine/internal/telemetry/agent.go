package telemetry

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/spoolhq/spool/wire"
)

// AgentSpan is the span of an agent's work in one segment.
type AgentSpan struct {
	t    *Recorder
	span trace.Span
}

// Agent begins the span of an agent's work.
func (t *Recorder) Agent(ctx context.Context, run wire.Run) (context.Context, *AgentSpan) {
	if t == nil {
		return ctx, nil
	}
	model := t.model(run.Model)
	attrs := []attribute.KeyValue{
		attrOperation.String(operationAgent), attrProvider.String(model.provider),
		attrAgentName.String(t.spanAgent(run.Agent)), attrConversation.String(string(run.ThreadID)),
		attrRequestModel.String(model.model), attrTenant.String(string(run.Tenant)), attrRun.String(string(run.ID)),
		attrSegment.Int(run.Segments),
	}
	if run.ParentID != "" {
		attrs = append(attrs, attrAgentID.String(string(run.ID)))
	}
	key := runKey{run.Tenant, run.ID}
	options := []trace.SpanStartOption{trace.WithAttributes(attrs...), trace.WithLinks(t.links.of(key)...)}
	ctx, span := t.tracer.Start(ctx, operationAgent+" "+t.spanAgent(run.Agent), options...) //nolint:spancheck // done ends it
	t.links.add(key, span.SpanContext())
	return ctx, &AgentSpan{t: t, span: span} //nolint:spancheck // done ends it
}

// Done ends the span. Err is why the agent could not continue. A stopped run has not failed.
func (a *AgentSpan) Done(ctx context.Context, run wire.Run, stopped bool, err error) {
	if a == nil {
		return
	}
	defer a.span.End()
	status := wire.SegmentFinished
	switch cause := context.Cause(ctx); {
	case err == nil && run.State == wire.WaitingForInput:
		status = wire.SegmentParked
	case err == nil && run.State == wire.Cancelled, err != nil && stopped:
		status = wire.SegmentStopped
	case err == nil && run.State == wire.Failed:
		status = wire.SegmentError
		a.t.failed(a.span, errors.New(run.Error))
	case err == nil && run.State == wire.Queued: // it yielded its slot
		status = wire.SegmentLost
	case err == nil:
	case cause != nil:
		status = wire.SegmentLost
	default:
		status = wire.SegmentError
		a.t.failed(a.span, err)
	}
	a.span.SetAttributes(attrSegmentStatus.String(string(status)), attrRunState.String(string(run.State)))
	if run.State.Terminal() {
		a.t.links.forget(runKey{run.Tenant, run.ID})
	}
}
