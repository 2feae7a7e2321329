package command

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/model/demo"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/verify/secret"
)

const (
	outsideTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	outsideSpan  = "00f067aa0ba902b7"
)

// tracedServer is a server whose spans are kept in memory. Only what a parent asks for is recorded
// with ask.
func tracedServer(t *testing.T, parents string, ask bool) (http.Handler, *tracetest.InMemoryExporter) {
	t.Helper()

	e, err := engine.New(memory.New(nil), engine.Config{
		Agents: []spool.Agent{{Name: "a", Model: "m"}}, Models: map[string]spool.Model{"m": demo.New(demo.Config{})},
	})
	if err != nil {
		t.Fatal(err)
	}
	signed, err := secret.New(secret.Config{Secrets: []string{"secret-of-the-queue"}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(e, server.Config{Insecure: true, QueueVerifier: signed})
	if err != nil {
		t.Fatal(err)
	}
	spans := tracetest.NewInMemoryExporter()
	options := []sdktrace.TracerProviderOption{sdktrace.WithSyncer(spans)}
	if ask {
		options = append(options, sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.NeverSample())))
	}
	trusted, err := readTraceParents(parents)
	if err != nil {
		t.Fatal(err)
	}
	handler, err := (&telemetry{traces: sdktrace.NewTracerProvider(options...)}).requests(s, trusted)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		e.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return handler, spans
}

// asked sends a request with a traceparent.
func asked(t *testing.T, h http.Handler, peer, path, body string) {
	t.Helper()

	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
	r.RemoteAddr = peer
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer secret-of-the-queue")
	r.Header.Set("Traceparent", "00-"+outsideTrace+"-"+outsideSpan+"-01")
	h.ServeHTTP(httptest.NewRecorder(), r)
}

// A trace from outside is a link of the request's own trace. It is the parent only for a peer that
// the configuration trusts, also for what a queue has signed.
func TestTraceParents(t *testing.T) {
	t.Parallel()

	const start, delivery = `{"threadId":"t1","prompt":"x"}`, `{"threadId":"t1","runId":"r1","agent":"a"}`
	for name, c := range map[string]struct {
		parents, peer, path, body string
		parent                    bool
	}{
		"Default":       {"none", "127.0.0.1:1", "/api/agent/run", start, false},
		"Empty":         {"", "127.0.0.1:1", "/api/agent/run", start, false},
		"Delivery":      {"none", "127.0.0.1:1", "/api/queue/agent-run", delivery, false},
		"All":           {"all", "203.0.113.9:1", "/api/agent/run", start, true},
		"Range":         {"192.0.2.1, 10.0.0.0/8", "10.1.2.3:1", "/api/agent/run", start, true},
		"Mapped":        {"10.0.0.0/8", "[::ffff:10.1.2.3]:1", "/api/agent/run", start, true},
		"Address":       {"::1", "[::1]:1", "/api/queue/agent-run", delivery, true},
		"Outside":       {"10.0.0.0/8", "11.1.2.3:1", "/api/agent/run", start, false},
		"UnknownPeer":   {"10.0.0.0/8", "@", "/api/agent/run", start, false},
		"UnknownPeerOK": {"all", "@", "/api/agent/run", start, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			h, spans := tracedServer(t, c.parents, false)
			asked(t, h, c.peer, c.path, c.body)
			var span tracetest.SpanStub
			for _, s := range spans.GetSpans() {
				if s.Name == "POST "+c.path {
					span = s
				}
			}
			if !span.SpanContext.IsValid() {
				t.Fatalf("the spans %v", spans.GetSpans())
			}
			if c.parent {
				if span.SpanContext.TraceID().String() != outsideTrace || span.Parent.SpanID().String() != outsideSpan ||
					len(span.Links) != 0 {
					t.Errorf("the trace %s below %s, links %v", span.SpanContext.TraceID(), span.Parent.SpanID(), span.Links)
				}
				return
			}
			if span.SpanContext.TraceID().String() == outsideTrace || span.Parent.IsValid() || len(span.Links) != 1 ||
				span.Links[0].SpanContext.TraceID().String() != outsideTrace ||
				span.Links[0].SpanContext.SpanID().String() != outsideSpan {
				t.Errorf("the trace %s below %s, links %v", span.SpanContext.TraceID(), span.Parent.SpanID(), span.Links)
			}
		})
	}
}

// Strangers do not decide what is recorded.
func TestTraceParentsDecide(t *testing.T) {
	t.Parallel()

	for parents, recorded := range map[string]bool{"none": false, "all": true} {
		h, spans := tracedServer(t, parents, true)
		asked(t, h, "127.0.0.1:1", "/api/agent/run", `{"threadId":"t1","prompt":"x"}`)
		if got := len(spans.GetSpans()) > 0; got != recorded {
			t.Errorf("parents %s: recorded %v", parents, got)
		}
	}
}
