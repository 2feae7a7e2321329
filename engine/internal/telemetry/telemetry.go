// Package telemetry measures an engine: it makes the spans of segments, model calls and tool calls, and
// the metrics of runs, parks, tokens, jobs and the store.
//
// A nil [Recorder] measures nothing and allocates nothing. The package makes no decisions and changes
// none of its arguments. It imports the root package, engine/internal/history for the text of an
// answer, and the API of OpenTelemetry.
package telemetry

import (
	"context"
	"errors"
	"regexp"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/spoolhq/spool"
)

// Recorder measures an engine. A nil Recorder measures nothing.
type Recorder struct {
	meters

	tracer   trace.Tracer
	contents bool
	links    links
	models   map[string]described
	agents   map[string]bool // the configured names
}

// described is what a model says about itself.
type described struct{ provider, model string }

// Settings say what is measured and where the results go.
type Settings struct {
	// TracerProvider takes the spans, or is nil.
	TracerProvider trace.TracerProvider
	// MeterProvider takes the metrics, or is nil.
	MeterProvider metric.MeterProvider
	// Contents is true if spans have the texts of people, models and tools.
	Contents bool
	// Models maps names to the configured models.
	Models map[string]spool.Model
	// Agents has the names of the configured agents.
	Agents []string
}

// New returns a recorder, or nil if the settings have no provider.
func New(o Settings) (*Recorder, error) {
	if o.TracerProvider == nil && o.MeterProvider == nil {
		return nil, nil //nolint:nilnil // a nil Recorder measures nothing
	}
	if o.TracerProvider == nil {
		o.TracerProvider = tracenoop.NewTracerProvider()
	}
	if o.MeterProvider == nil {
		o.MeterProvider = metricnoop.NewMeterProvider()
	}
	t := &Recorder{
		tracer: o.TracerProvider.Tracer(scope), contents: o.Contents, models: describe(o.Models),
		agents: make(map[string]bool),
	}
	for _, name := range o.Agents {
		t.agents[name] = true
	}
	var err error
	t.meters, err = newMeters(o.MeterProvider.Meter(scope))
	return t, err
}

// describe returns the models' descriptions. A model that does not describe itself is described by its
// configured name.
func describe(models map[string]spool.Model) map[string]described {
	out := make(map[string]described, len(models))
	for name, model := range models {
		d := described{provider: "unknown", model: name}
		if info := spool.InfoOf(model); info.Provider != "" && info.Model != "" {
			d = described{info.Provider, info.Model}
		}
		out[name] = d
	}
	return out
}

// model returns the description of a model. The configuration may no longer have the model.
func (t *Recorder) model(name string) described {
	if d, ok := t.models[name]; ok {
		return d
	}
	return described{provider: "unknown", model: name}
}

// agentName returns an agent's name for a label. A name that a model has made up is replaced, because
// such names are unbounded and may contain content.
func (t *Recorder) agentName(name string) string {
	if t.agents[name] {
		return name
	}
	return otherAgent
}

// spanAgent returns an agent's name for a span. It is the real name if spans have contents.
func (t *Recorder) spanAgent(name string) string {
	if t.contents {
		return cut(name)
	}
	return t.agentName(name)
}

// failed marks a span as failed. Without contents, it leaves out the error's text, which may repeat
// content.
func (t *Recorder) failed(span trace.Span, err error) {
	span.SetAttributes(attrErrorType.String(errorType(err)))
	text := ""
	if t.contents {
		text = cut(err.Error())
	}
	span.SetStatus(codes.Error, text)
}

// word matches a provider's error word that may become a label.
var word = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,63}$`)

// errorType returns a label for an error, from a small set of words.
func errorType(err error) string {
	if model, ok := errors.AsType[*spool.ModelError](err); ok {
		switch {
		case word.MatchString(model.Type):
			return model.Type
		case model.Status != 0:
			return strconv.Itoa(model.Status)
		}
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(err, context.Canceled):
		return "canceled"
	}
	if coded, ok := errors.AsType[*spool.Error](err); ok {
		return string(coded.Code)
	}
	return "_OTHER"
}

func labels(attrs ...attribute.KeyValue) metric.MeasurementOption {
	return metric.WithAttributeSet(attribute.NewSet(attrs...))
}

// Started notes the span in which a run was started.
func (t *Recorder) Started(ctx context.Context, tenant spool.Tenant, run spool.RunID) {
	if t == nil {
		return
	}
	if span := trace.SpanContextFromContext(ctx); span.IsValid() {
		t.links.put(runKey{tenant, run}, func(l *linked) { l.start = span })
	}
}
