package server

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/spoolhq/spool"
)

// headerRequestID carries a request's id, in both directions.
const headerRequestID = "X-Request-ID"

// request is what the log says of a request. Never in it are the query, which may have
// tokens, and bodies.
type request struct {
	id     string
	began  time.Time
	tenant spool.Tenant
	thread spool.ThreadID
	run    spool.RunID
}

type requestKey struct{}

// identify gives the request an id, which is the client's, or that of the trace that it
// belongs to, or a new one, and returns it with a place for what becomes known of it.
func identify(r *http.Request) (*http.Request, *request) {
	known := &request{id: r.Header.Get(headerRequestID), began: time.Now()}
	if spool.CheckID(headerRequestID, known.id) != nil {
		known.id = cmp.Or(traceID(r.Header.Get("Traceparent")), spool.NewID("req"))
	}
	return r.WithContext(context.WithValue(r.Context(), requestKey{}, known)), known
}

// traceID returns the id in a traceparent of W3C, "" where it has none.
func traceID(traceparent string) string {
	_, rest, _ := strings.Cut(traceparent, "-")
	id, rest, ok := strings.Cut(rest, "-")
	if !ok || rest == "" || len(id) != 32 || strings.Trim(id, "0123456789abcdef") != "" || strings.Trim(id, "0") == "" {
		return ""
	}
	return id
}

// requestOf returns what is known of the request that ctx is about.
func requestOf(ctx context.Context) *request {
	known, _ := ctx.Value(requestKey{}).(*request)
	return known
}

// concerns notes which thread and run the request is about, for the log.
func concerns(ctx context.Context, thread spool.ThreadKey, run spool.RunID) {
	if known := requestOf(ctx); known != nil {
		known.tenant, known.thread, known.run = thread.Tenant, thread.ID, run
	}
}

// logged writes the line of a request whose answer has ended.
func (s *Server) logged(r *http.Request, known *request, w *answerWriter, route string) {
	level := s.config.AccessLevel.Level()
	if strings.HasSuffix(route, pathHealth) || strings.HasSuffix(route, pathReady) {
		level = min(level, slog.LevelDebug)
	}
	ctx := r.Context()
	if !s.log.Enabled(ctx, level) {
		return
	}
	status := w.status
	switch {
	case status != 0:
	case ctx.Err() != nil:
		status = statusClientGone
	default:
		status = http.StatusOK
	}
	attrs := []slog.Attr{
		slog.String("method", r.Method), slog.String("route", cmp.Or(route, "none")), slog.Int("status", status),
		slog.Duration("duration", time.Since(known.began)), slog.Int64("bytes", w.bytes), slog.String("request", known.id),
	}
	for _, a := range []struct{ key, value string }{
		{"tenant", string(known.tenant)}, {"thread", string(known.thread)}, {"run", string(known.run)},
	} {
		if a.value != "" {
			attrs = append(attrs, slog.String(a.key, a.value))
		}
	}
	s.log.LogAttrs(ctx, level, "request", attrs...)
}
