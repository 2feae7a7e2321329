package command

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlptrace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// eventually asks until the answer is good, and returns it.
func eventually(t *testing.T, ask func() string, good func(string) bool) string {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); ; <-tick.C {
		got := ask()
		if good(got) {
			return got
		}
		if time.Now().After(deadline) {
			t.Fatalf("it stays:\n%s", got)
		}
	}
}

// answered asks for a run of t1 and waits until it has completed.
func (p *process) answered(t *testing.T, body string) {
	t.Helper()
	p.post(t, "/api/agent/run", body)
	var w watcher
	if !w.watch(t, p, hasCompleted) {
		t.Fatal("the stream has ended")
	}
}

// Metrics are scraped from a port of their own, name nobody, and are not on the server's.
func TestMetricsAreScraped(t *testing.T) {
	t.Parallel()

	p := start(t, t.TempDir(), "--metrics-addr", "127.0.0.1:0")
	at := regexp.MustCompile(`metrics (http://\S+)/metrics`).FindStringSubmatch(p.banner)
	if at == nil {
		t.Fatalf("the banner does not say where:\n%s", p.banner)
	}
	p.answered(t, `{"threadId":"t1","runId":"MARKrun","prompt":"MARKprompt"}`)
	scrape := func() string { return (&process{url: at[1]}).get(t, "/metrics") }
	// The stream tells of the end before the worker is done with the run.
	scraped := eventually(t, scrape, func(got string) bool { return strings.Contains(got, "spool_runs_active 0\n") })
	for _, want := range []string{
		`spool_runs_started_total{gen_ai_agent_name="assistant"} 1`,
		`spool_run_duration_seconds_count{gen_ai_agent_name="assistant",spool_run_state="COMPLETED",spool_run_stop_reason="completed"} 1`,
		`gen_ai_client_token_usage_count{gen_ai_agent_name="assistant",gen_ai_operation_name="chat",gen_ai_provider_name="spool",gen_ai_request_model="demo",gen_ai_response_model="demo",gen_ai_token_type="input"} 1`,
		`http_server_request_duration_seconds_count{http_request_method="POST",http_response_status_code="202",http_route="/api/agent/run"} 1`,
		`spool_queue_jobs{spool_job_state="ready"} 0`,
		"go_goroutines ",
	} {
		if !strings.Contains(scraped, want) {
			t.Errorf("there is no %s in\n%s", want, scraped)
		}
	}
	for _, secret := range []string{"MARK", "t1", "tenant"} {
		if strings.Contains(scraped, secret) {
			t.Errorf("the metrics have %q", secret)
		}
	}
	if got := p.get(t, "/metrics"); !strings.Contains(got, "no such path") {
		t.Errorf("the server has metrics: %s", got)
	}
}

// collector is a place that OTLP goes to.
type collector struct {
	*httptest.Server

	mu      sync.Mutex
	spans   []*otlptrace.Span
	metrics []string
	raw     strings.Builder
}

func collect(t *testing.T) *collector {
	t.Helper()
	c := &collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.raw.Write(body)
		switch r.URL.Path {
		case "/v1/traces":
			var request collectortrace.ExportTraceServiceRequest
			if err := proto.Unmarshal(body, &request); err != nil {
				t.Error(err)
			}
			for _, from := range request.GetResourceSpans() {
				for _, scope := range from.GetScopeSpans() {
					c.spans = append(c.spans, scope.GetSpans()...)
				}
			}
		case "/v1/metrics":
			var request collectormetrics.ExportMetricsServiceRequest
			if err := proto.Unmarshal(body, &request); err != nil {
				t.Error(err)
			}
			for _, from := range request.GetResourceMetrics() {
				for _, scope := range from.GetScopeMetrics() {
					for _, m := range scope.GetMetrics() {
						c.metrics = append(c.metrics, m.GetName())
					}
				}
			}
		default:
			t.Errorf("something went to %s", r.URL.Path)
		}
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *collector) span(t *testing.T, name string) *otlptrace.Span {
	t.Helper()
	for _, s := range c.spans {
		if s.GetName() == name {
			return s
		}
	}
	t.Fatalf("there is no span %q among %d", name, len(c.spans))
	return nil
}

// What the environment asks for is exported, to the last span when the process ends. A
// request goes on with the trace that it came with, as its peer is trusted, and the run links to it.
func TestExportToOTLP(t *testing.T) {
	t.Parallel()

	c := collect(t)
	p := startWith(t, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + c.URL, "OTEL_SERVICE_NAME=agents"}, t.TempDir(),
		"--log-level", "debug", "--log-format", "json", "--trace-parents", "127.0.0.1")
	r, err := http.NewRequestWithContext(patiently(t), http.MethodPost, p.url+"/api/agent/run",
		strings.NewReader(`{"threadId":"t1","prompt":"MARKprompt"}`))
	if err != nil {
		t.Fatal(err)
	}
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Traceparent", "00-"+trace+"-00f067aa0ba902b7-01")
	read(t, r)
	var w watcher
	if !w.watch(t, p, hasCompleted) {
		t.Fatal("the stream has ended")
	}
	if code := p.signal(t, syscall.SIGTERM); code != exitOK {
		t.Errorf("exit code %d", code)
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	started, agent, chat := c.span(t, "POST /api/agent/run"), c.span(t, "invoke_agent assistant"), c.span(t, "chat demo")
	if got := hex.EncodeToString(started.GetTraceId()); got != trace {
		t.Errorf("the request is of the trace %s", got)
	}
	if len(agent.GetLinks()) != 1 || !cmp.Equal(agent.GetLinks()[0].GetSpanId(), started.GetSpanId()) {
		t.Errorf("the run links to %v", agent.GetLinks())
	}
	if !cmp.Equal(chat.GetParentSpanId(), agent.GetSpanId()) {
		t.Error("the model's answer is not below the agent")
	}
	if len(c.metrics) == 0 {
		t.Error("no metric was exported")
	}
	if !strings.Contains(c.raw.String(), "agents") {
		t.Error("the service has no name")
	}
	for what, text := range map[string]string{"export": c.raw.String(), "log": p.stderr.String()} {
		if strings.Contains(text, "MARKprompt") {
			t.Errorf("the %s has contents", what)
		}
	}
	if !strings.Contains(p.stderr.String(), `"trace_id":"`+trace+`"`) {
		t.Errorf("the log does not name the trace:\n%s", p.stderr)
	}
}

// With contents asked for, spans on the console have them.
func TestSpansOnTheConsole(t *testing.T) {
	t.Parallel()

	p := startWith(t, []string{"OTEL_TRACES_EXPORTER=console"}, t.TempDir(), "--trace-contents", "true")
	p.answered(t, `{"threadId":"t1","prompt":"MARKprompt"}`)
	p.signal(t, syscall.SIGTERM)
	for _, want := range []string{`"Name":"chat demo"`, "gen_ai.input.messages", "MARKprompt"} {
		if !strings.Contains(p.stderr.String(), want) {
			t.Errorf("there is no %s in\n%s", want, p.stderr)
		}
	}
}

// A collector that is not there does no harm but a line in the log.
func TestExportToNobody(t *testing.T) {
	t.Parallel()

	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	p := startWith(t, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + gone.URL, "OTEL_EXPORTER_OTLP_TIMEOUT=200"}, t.TempDir())
	p.answered(t, `{"threadId":"t1","prompt":"hello"}`)
	if code := p.signal(t, syscall.SIGTERM); code != exitOK {
		t.Errorf("exit code %d", code)
	}
}

// A process that is told to end says so to probes first, and goes on answering meanwhile.
func TestUnreadyBeforeShutdown(t *testing.T) {
	t.Parallel()

	p := start(t, t.TempDir(), "--shutdown-delay", "10m")
	const ready = `{"status":"ok","checks":{"shutdown":"ok","store":"ok","worker":"ok"}}`
	eventually(t, func() string { return p.get(t, "/readyz") }, func(got string) bool { return got == ready })
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	const unready = `"error":"shutdown: the server shuts down","code":"unavailable"}`
	eventually(t, func() string { return p.get(t, "/readyz") },
		func(got string) bool { return strings.HasSuffix(got, unready) })
	p.answered(t, `{"threadId":"t1","prompt":"hello"}`)
	if code := p.signal(t, syscall.SIGTERM); code == exitOK {
		t.Errorf("a second signal has not ended it at once: exit code %d", code)
	}
}

func TestReadExporters(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		env  map[string]string
		want exporters
	}{
		"Nothing":  {nil, exporters{exportNone, exportNone}},
		"Endpoint": {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c"}, exporters{exportOTLP, exportOTLP}},
		"Traces":   {map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c"}, exporters{exportOTLP, exportNone}},
		"Metrics":  {map[string]string{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://c"}, exporters{exportNone, exportOTLP}},
		"Without": {
			map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_METRICS_EXPORTER": "none"},
			exporters{exportOTLP, exportNone},
		},
		"Console": {map[string]string{"OTEL_TRACES_EXPORTER": "console"}, exporters{exportConsole, exportNone}},
		"Named":   {map[string]string{"OTEL_TRACES_EXPORTER": "otlp"}, exporters{exportOTLP, exportNone}},
		"Disabled": {
			map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_SDK_DISABLED": "true"},
			exporters{exportNone, exportNone},
		},
	} {
		got, err := readExporters(func(name string) (string, bool) {
			v, ok := test.env[name]
			return v, ok
		})
		if err != nil || got != test.want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
