package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// telemetry receives the spans and metrics of the process.
type telemetry struct {
	traces  *sdktrace.TracerProvider // nil: spans are not exported
	metrics *sdkmetric.MeterProvider // nil: metrics are not exported
	scraped http.Handler             // nil: metrics cannot be scraped
}

// exporters has the exporters that OpenTelemetry's variables ask for.
type exporters struct{ traces, metrics string }

const (
	exportOTLP    = "otlp"
	exportConsole = "console"
	exportNone    = "none"
)

// readExporters reads which exporters to use. A variable with an endpoint is enough to turn an exporter
// on. A variable with an exporter's name has priority.
func readExporters(lookup func(string) (string, bool)) (exporters, error) {
	get := func(name string) string {
		value, _ := lookup(name)
		return value
	}
	if strings.EqualFold(get("OTEL_SDK_DISABLED"), "true") {
		return exporters{exportNone, exportNone}, nil
	}
	var problems []error
	read := func(signal string, known ...string) string {
		endpoint := get("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || get("OTEL_EXPORTER_OTLP_"+signal+"_ENDPOINT") != ""
		name := "OTEL_" + signal + "_EXPORTER"
		switch value := get(name); {
		case value == "" && endpoint:
			return exportOTLP
		case value == "":
			return exportNone
		default:
			if slices.Contains(known, value) {
				return value
			}
			problems = append(problems, usagef("%s: %q must be %s", name, value, strings.Join(known, ", ")))
			return exportNone
		}
	}
	for _, name := range []string{
		"OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL",
	} {
		if value := get(name); value != "" && value != "http/protobuf" {
			problems = append(problems, usagef("%s: %q must be http/protobuf", name, value))
		}
	}
	out := exporters{
		traces:  read("TRACES", exportOTLP, exportConsole, exportNone),
		metrics: read("METRICS", exportOTLP, exportNone),
	}
	return out, errors.Join(problems...)
}

// newTelemetry makes the exporters that flags and environment ask for; by default none. Spans for the
// console go to w.
func newTelemetry(ctx context.Context, o options, e exporters, w io.Writer) (*telemetry, error) {
	t := &telemetry{}
	if e.traces == exportNone && e.metrics == exportNone && o.metrics == "" {
		return t, nil
	}
	about, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "spool"), attribute.String("service.version", version())),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("describe the process to OpenTelemetry: %w", err)
	}
	return t, errors.Join(t.trace(ctx, e.traces, about, w), t.measure(ctx, o.metrics != "", e.metrics, about))
}

func (t *telemetry) trace(ctx context.Context, to string, about *resource.Resource, w io.Writer) error {
	var exporter sdktrace.SpanExporter
	var err error
	switch to {
	case exportOTLP:
		exporter, err = otlptracehttp.New(ctx)
	case exportConsole:
		exporter, err = stdouttrace.New(stdouttrace.WithWriter(w))
	default:
		return nil
	}
	if err != nil {
		return fmt.Errorf("export spans: %w", err)
	}
	t.traces = sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))
	return nil
}

func (t *telemetry) measure(ctx context.Context, scraped bool, to string, about *resource.Resource) error {
	options := []sdkmetric.Option{sdkmetric.WithResource(about)}
	if scraped {
		registry := prometheus.NewRegistry()
		registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
		exporter, err := otelprometheus.New(otelprometheus.WithRegisterer(registry), otelprometheus.WithoutScopeInfo())
		if err != nil {
			return fmt.Errorf("export metrics to Prometheus: %w", err)
		}
		t.scraped = promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
		options = append(options, sdkmetric.WithReader(exporter))
	}
	if to == exportOTLP {
		exporter, err := otlpmetrichttp.New(ctx)
		if err != nil {
			return fmt.Errorf("export metrics: %w", err)
		}
		options = append(options, sdkmetric.WithReader(sdkmetric.NewPeriodicReader(exporter)))
	}
	if len(options) > 1 {
		t.metrics = sdkmetric.NewMeterProvider(options...)
	}
	return nil
}

// log sends failures of exporters to the log of the process. Otherwise they would go to stderr without
// formatting.
func (t *telemetry) log(log *slog.Logger) {
	if t.traces != nil || t.metrics != nil {
		otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("export telemetry", "error", err) }))
	}
}

// close sends the remaining data.
func (t *telemetry) close(ctx context.Context) error {
	var problems []error
	if t.traces != nil {
		problems = append(problems, t.traces.Shutdown(ctx))
	}
	if t.metrics != nil {
		problems = append(problems, t.metrics.Shutdown(ctx))
	}
	return errors.Join(problems...)
}
