package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// ToolSpan is the span of one tool call.
type ToolSpan struct {
	t     *Recorder
	ctx   context.Context //nolint:containedctx // of the span, which ends with the call
	span  trace.Span
	began time.Time
	attrs []attribute.KeyValue
}

// Tool begins the span of a call.
func (t *Recorder) Tool(ctx context.Context, agent string, call spool.ToolCall) (context.Context, *ToolSpan) {
	if t == nil {
		return ctx, nil
	}
	attrs := []attribute.KeyValue{
		attrOperation.String(operationTool), attrToolName.String(call.Name), attrToolType.String("function"),
		attrAgentName.String(t.agentName(agent)),
	}
	ctx, span := t.tracer.Start(ctx, operationTool+" "+call.Name, trace.WithAttributes(append(slices.Clip(attrs),
		attrToolCallID.String(string(call.ID)), attrConversation.String(string(call.Thread.ID)),
		attrRun.String(string(call.RunID)), attrStep.Int(call.Step),
	)...))
	if t.contents {
		span.SetAttributes(attrToolArgs.String(cut(string(call.Args))))
	}
	return ctx, &ToolSpan{t: t, ctx: ctx, span: span, began: time.Now(), attrs: attrs}
}

// outcomeParked is an outcome that only tool calls have.
const outcomeParked = "parked"

// Done ends the span. A parked tool call has not failed.
func (c *ToolSpan) Done(result json.RawMessage, err error) {
	if c == nil {
		return
	}
	defer c.span.End()
	outcome := string(wire.OutcomeFinished)
	var park *spool.ParkRequest
	var pending *spool.PendingError
	switch {
	case err == nil:
		if c.t.contents {
			c.span.SetAttributes(attrToolResult.String(cut(string(result))))
		}
	case errors.As(err, &park), errors.As(err, &pending):
		outcome = outcomeParked
	case c.ctx.Err() != nil:
		outcome = string(wire.OutcomeAborted)
		c.attrs = append(c.attrs, attrErrorType.String("canceled"))
		c.span.SetAttributes(attrErrorType.String("canceled"))
	default:
		outcome = string(wire.OutcomeError)
		c.attrs = append(c.attrs, attrErrorType.String(errorType(err)))
		c.t.failed(c.span, err)
	}
	c.span.SetAttributes(attrOutcome.String(outcome))
	c.t.tools.Record(c.ctx, time.Since(c.began).Seconds(), labels(append(c.attrs, attrOutcome.String(outcome))...))
}
