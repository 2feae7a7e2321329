// Package telemetry measures an engine: it makes the spans of segments, model calls and tool calls,
// and the metrics of runs, parks, tokens, jobs and the store.
//
// A nil [Recorder] measures nothing and allocates nothing. The package decides nothing: whatever it
// is handed goes on unchanged. It imports the root package, engine/internal/history for the text of
// an answer, and the API of OpenTelemetry.
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

// Recorder measures for an engine. A nil one measures nothing.
type Recorder struct {
	meters

	tracer   trace.Tracer
	contents bool
	links    links
	models   map[string]described
	agents   map[string]bool // the names that the configuration has
}

// described is what a model says of itself.
type described struct{ provider, model string }

// Settings say what is measured, and where it is sent.
type Settings struct {
	// TracerProvider takes the spans. Nil: none.
	TracerProvider trace.TracerProvider
	// MeterProvider takes the metrics. Nil: none.
	MeterProvider metric.MeterProvider
	// Contents puts what people, models and tools have written on spans.
	Contents bool
	// Models are the models by the names of the configuration.
	Models map[string]spool.Model
	// Agents are the names that the configuration has.
	Agents []string
}

// New makes the instruments. It returns nil for settings without a provider.
func New(o Settings) (*Recorder, error) {
	if o.TracerProvider == nil && o.MeterProvider == nil {
		return nil, nil //nolint:nilnil // a nil one measures nothing
	}
	if o.TracerProvider == nil {
		o.TracerProvider = tracenoop.NewTracerProvider()
	}
	if o.MeterProvider == nil {
		o.MeterProvider = metricnoop.NewMeterProvider()
	}
	t := &Recorder{tracer: o.TracerProvider.Tracer(scope), contents: o.Contents, models: describe(o.Models), agents: make(map[string]bool)}
	for _, name := range o.Agents {
		t.agents[name] = true
	}
	var err error
	t.meters, err = newMeters(o.MeterProvider.Meter(scope))
	return t, err
}

// describe asks models whose they are. What one does not say is its name here.
func describe(models map[string]spool.Model) map[string]described {
	out := make(map[string]described, len(models))
	for name, model := range models {
		d := described{provider: "unknown", model: name}
		if says, ok := model.(spool.Described); ok {
			if provider, its := says.Describe(); provider != "" && its != "" {
				d = described{provider, its}
			}
		}
		out[name] = d
	}
	return out
}

// model returns what the model of a name is, which the configuration may lack by now.
func (t *Recorder) model(name string) described {
	if d, ok := t.models[name]; ok {
		return d
	}
	return described{provider: "unknown", model: name}
}

// agentName returns the name of an agent as a label. A name that a model has made up is
// no label: there is no end to such names, and they are content.
func (t *Recorder) agentName(name string) string {
	if t.agents[name] {
		return name
	}
	return otherAgent
}

// spanAgent is agentName for spans, which may have contents.
func (t *Recorder) spanAgent(name string) string {
	if t.contents {
		return cut(name)
	}
	return t.agentName(name)
}

// failed marks a span whose operation has failed. What the error says is content: it may
// repeat what a person or a model wrote.
func (t *Recorder) failed(span trace.Span, err error) {
	span.SetAttributes(attrErrorType.String(errorType(err)))
	text := ""
	if t.contents {
		text = cut(err.Error())
	}
	span.SetStatus(codes.Error, text)
}

// word is what a provider's word for an error has to look like to become a label.
var word = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,63}$`)

// errorType returns a word for an error, of which there are few.
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

// labels returns the attributes of a measurement.
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
