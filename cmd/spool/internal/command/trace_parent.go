package command

import (
	"context"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/spoolhq/spool/cmd/spool/internal/config"
)

// traceParents says which requests continue the trace in their traceparent header. Any other request
// gets its own trace, with a link. Otherwise everybody who can send a request could add spans to
// another trace, and decide what is recorded.
type traceParents struct {
	all bool
	// from are the addresses of trusted peers.
	from []netip.Prefix
}

// readTraceParents parses "none", "all", or addresses and ranges separated by commas.
func readTraceParents(text string) (t traceParents, err error) {
	switch text {
	case "", "none":
		return t, nil
	case "all":
		return traceParents{all: true}, nil
	}
	for item := range strings.SplitSeq(text, ",") {
		addresses, ok := config.ParseAddresses(strings.TrimSpace(item))
		if !ok {
			return t, usagef(`--trace-parents: %q must be none, all, or addresses and ranges such as "127.0.0.1,10.0.0.0/8"`,
				text)
		}
		t.from = append(t.from, addresses)
	}
	return t, nil
}

// trusts reports whether a request continues the trace in its traceparent header. Only the peer's
// address decides, because not even the signature of a delivery covers that header.
func (t traceParents) trusts(r *http.Request) bool {
	if t.all {
		return true
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && slices.ContainsFunc(t.from, func(p netip.Prefix) bool { return p.Contains(peer.Addr().Unmap()) })
}

// begin returns the context in which the span of a request starts, and the span's link, if any.
func (t traceParents) begin(ctx context.Context, r *http.Request) (context.Context, []trace.SpanStartOption) {
	outside := propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(r.Header))
	parent := trace.SpanContextFromContext(outside)
	if !parent.IsValid() || t.trusts(r) {
		return outside, nil
	}
	return ctx, []trace.SpanStartOption{trace.WithLinks(trace.Link{SpanContext: parent})}
}
