package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/spoolhq/spool/engine/internal/telemetry"
)

// Telemetry says where an engine sends spans and metrics. The zero value measures nothing and costs
// nothing.
type Telemetry struct {
	// TracerProvider takes the spans: invoke_agent for each segment of a run, with children chat for
	// each answer of a model and execute_tool for each call of a tool. A segment is a trace of its own,
	// unless the context of [Engine.HandleJob] has a span. The trace links to the start of its run and
	// to the previous segment, if this process has seen them. Defaults to none.
	TracerProvider trace.TracerProvider
	// MeterProvider takes the metrics. They have no labels for tenants, threads, runs or subjects.
	// Defaults to none.
	MeterProvider metric.MeterProvider
	// Contents puts instructions, prompts, answers, arguments, results and error texts on spans, each
	// cut to 4 KiB. Defaults to false.
	Contents bool
}

// recorder returns the instruments of an engine, or nil if the configuration has no provider.
func (c Config) recorder() (*telemetry.Recorder, error) {
	o := telemetry.Settings{
		TracerProvider: c.Telemetry.TracerProvider, MeterProvider: c.Telemetry.MeterProvider,
		Contents: c.Telemetry.Contents, Models: c.Models,
	}
	for _, agent := range c.Agents {
		o.Agents = append(o.Agents, agent.Name)
		if agent.Spawn != nil {
			o.Agents = slices.AppendSeq(o.Agents, maps.Keys(agent.Spawn.Profiles))
		}
	}
	recorder, err := telemetry.New(o)
	if err != nil {
		return nil, fmt.Errorf("make the instruments of Config.Telemetry: %w", err)
	}
	return recorder, nil
}

// observe registers the instruments that are read on collection.
func (e *parts) observe() (err error) {
	e.unobserved, err = e.telemetry.Observe(telemetry.Sources{
		Active: e.runner.ActiveSegments, Followers: e.live.Clients, Store: e.store,
	})
	if err != nil {
		return fmt.Errorf("register the instruments of Config.Telemetry: %w", err)
	}
	return nil
}

// CountFailedLogin counts a request with refused credentials in the metrics of the process. The kind of
// credentials must come from a small set of words, such as bearer.
func (a *Admin) CountFailedLogin(ctx context.Context, kind string) {
	a.telemetry.FailedLogin(ctx, kind)
}
