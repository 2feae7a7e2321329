package command

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
)

const scope = "github.com/spoolhq/spool/cmd/spool"

// requests makes the spans and the metric of requests, by OpenTelemetry's conventions for HTTP. The
// span of a request links to the trace in its traceparent header, or continues that trace if the peer
// is trusted.
type requests struct {
	next     http.Handler
	parents  traceParents
	tracer   trace.Tracer
	duration metric.Float64Histogram
}

// requests wraps next to measure its requests, if telemetry is on.
func (t *telemetry) requests(next http.Handler, parents traceParents) (http.Handler, error) {
	if t.traces == nil && t.metrics == nil {
		return next, nil
	}
	r := &requests{next: next, parents: parents, tracer: tracenoop.NewTracerProvider().Tracer(scope)}
	meter := metricnoop.NewMeterProvider().Meter(scope)
	if t.traces != nil {
		r.tracer = t.traces.Tracer(scope)
	}
	if t.metrics != nil {
		meter = t.metrics.Meter(scope)
	}
	var err error
	r.duration, err = meter.Float64Histogram("http.server.request.duration", metric.WithUnit("s"),
		metric.WithDescription("Of a request, until its answer has ended. An event stream lasts as long as it is read."),
		metric.WithExplicitBucketBoundaries(0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10))
	return r, err
}

// methods are the known methods. Clients may send others, which are not used as labels.
var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
	http.MethodOptions,
}

// probes are too frequent to be worth a span.
var probes = []string{"/healthz", "/readyz"}

// ServeHTTP implements [http.Handler].
func (h *requests) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	method := r.Method
	if !slices.Contains(methods, method) {
		method = "_OTHER"
	}
	began := time.Now()
	attrs := []attribute.KeyValue{attribute.String("http.request.method", method)}
	ctx, options := h.parents.begin(r.Context(), r)
	tracer := h.tracer
	if slices.Contains(probes, r.URL.Path) {
		tracer = tracenoop.Tracer{}
	}
	options = append(options, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attrs...))
	ctx, span := tracer.Start(ctx, method, options...) //nolint:spancheck // measured ends it, or what outlives the handler does
	out := &statusWriter{
		ResponseWriter: w, request: r.WithContext(ctx), measured: measured{h, ctx, span, method, began, attrs},
	}
	defer func() {
		switch {
		case out.outlived:
		case out.status == 0: // the handler has cut the connection, and did not say why
			out.measured.span.End()
		default:
			out.measured.end(out.request.Pattern, out.status)
		}
	}()
	h.next.ServeHTTP(out, out.request)
	out.status = cmp.Or(out.status, http.StatusOK)
} //nolint:spancheck // as above

// measured is what is known about a request before its answer.
type measured struct {
	by     *requests
	ctx    context.Context //nolint:containedctx // the request's
	span   trace.Span
	method string
	began  time.Time
	attrs  []attribute.KeyValue
}

// end records a request whose answer has ended. Zero as the status means 200.
func (m *measured) end(route string, status int) {
	defer m.span.End()
	if status == 0 {
		status = http.StatusOK
	}
	attrs := append(slices.Clone(m.attrs), attribute.Int("http.response.status_code", status))
	if route != "" {
		m.span.SetName(m.method + " " + route)
		attrs = append(attrs, attribute.String("http.route", route))
	}
	if status >= http.StatusInternalServerError {
		attrs = append(attrs, attribute.String("error.type", strconv.Itoa(status)))
		m.span.SetStatus(codes.Error, "")
	}
	m.span.SetAttributes(attrs...)
	m.by.duration.Record(m.ctx, time.Since(m.began).Seconds(), metric.WithAttributeSet(attribute.NewSet(attrs...)))
}

// statusWriter remembers the status. It implements [stream.Outlived].
type statusWriter struct {
	http.ResponseWriter

	request  *http.Request
	measured measured
	status   int
	// outlived says that an event stream ends the measurement, and not the handler.
	outlived bool
}

// Outlive implements [stream.Outlived].
func (w *statusWriter) Outlive() (ended func()) {
	w.outlived = true
	m, route, status := w.measured, w.request.Pattern, w.status
	return func() { m.end(route, status) }
}

// WriteHeader implements [http.ResponseWriter].
func (w *statusWriter) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets [http.ResponseController] find the connection.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// traced adds the ids of the current span to log lines.
type traced struct{ slog.Handler }

// Handle implements [slog.Handler].
func (h traced) Handle(ctx context.Context, r slog.Record) error {
	if span := trace.SpanContextFromContext(ctx); span.IsValid() {
		r.AddAttrs(slog.String("trace_id", span.TraceID().String()), slog.String("span_id", span.SpanID().String()))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs keeps the handler when a logger is made of another.
func (h traced) WithAttrs(attrs []slog.Attr) slog.Handler { return traced{h.Handler.WithAttrs(attrs)} }

// WithGroup keeps the handler when a logger is made of another.
func (h traced) WithGroup(name string) slog.Handler { return traced{h.Handler.WithGroup(name)} }
