package engine

import (
	"context"
	"errors"
	"fmt"
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

// Telemetry says where an engine sends what it measures. The zero value measures nothing
// and costs nothing.
type Telemetry struct {
	// TracerProvider takes the spans: invoke_agent for each segment of a run, and in it chat
	// for each answer of a model and execute_tool for each call of a tool. A segment is a
	// trace of its own, unless ctx of [Engine.HandleJob] has a span. It links to the start
	// of its run and to the segment before, where this process has seen them. Defaults to
	// none.
	TracerProvider trace.TracerProvider
	// MeterProvider takes the metrics. None is labelled with a tenant, thread, run or
	// subject. Defaults to none.
	MeterProvider metric.MeterProvider
	// Contents puts instructions, prompts, answers, arguments, results and texts of errors
	// on spans, each text cut to 4 KiB. Defaults to leaving all of them out.
	Contents bool
}

// telemetry measures for an engine. A nil one measures nothing.
type telemetry struct {
	meters

	tracer   trace.Tracer
	contents bool
	links    links
	models   map[string]described
	agents   map[string]bool // the names that the configuration has
}

// described is what a model says of itself.
type described struct{ provider, model string }

// none reports whether nothing is to be measured.
func (o Telemetry) none() bool { return o.TracerProvider == nil && o.MeterProvider == nil }

func newTelemetry(c Config) (*telemetry, error) {
	o := c.Telemetry
	if o.TracerProvider == nil {
		o.TracerProvider = tracenoop.NewTracerProvider()
	}
	if o.MeterProvider == nil {
		o.MeterProvider = metricnoop.NewMeterProvider()
	}
	t := &telemetry{tracer: o.TracerProvider.Tracer(scope), contents: o.Contents, models: describe(c.Models), agents: make(map[string]bool)}
	for _, agent := range c.Agents {
		t.agents[agent.Name] = true
		if agent.Spawn != nil {
			for name := range agent.Spawn.Profiles {
				t.agents[name] = true
			}
		}
	}
	var err error
	t.meters, err = newMeters(o.MeterProvider.Meter(scope))
	return t, err
}

// measure makes the instruments of an engine, where it is to have some.
func (e *Engine) measure() error {
	e.unobserved = func() {}
	if e.config.Telemetry.none() {
		return nil
	}
	t, err := newTelemetry(e.config)
	if err != nil {
		return fmt.Errorf("make the instruments of Config.Telemetry: %w", err)
	}
	e.telemetry = t
	e.store = &measuredStore{e.store, t}
	if e.unobserved, err = t.observe(e); err != nil {
		return fmt.Errorf("register the instruments of Config.Telemetry: %w", err)
	}
	return nil
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
func (t *telemetry) model(name string) described {
	if d, ok := t.models[name]; ok {
		return d
	}
	return described{provider: "unknown", model: name}
}

// agentName returns the name of an agent as a label. Where models may make names up, those
// are not labels: there is no end to them, and they are content.
func (t *telemetry) agentName(name string) string {
	if t.agents[name] {
		return name
	}
	return otherAgent
}

// spanAgent is agentName for spans, which may have contents.
func (t *telemetry) spanAgent(name string) string {
	if t.contents {
		return cut(name)
	}
	return t.agentName(name)
}

// failed marks a span whose operation has failed. What the error says is content: it may
// repeat what a person or a model wrote.
func (t *telemetry) failed(span trace.Span, err error) {
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
