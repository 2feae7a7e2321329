package server

import (
	"cmp"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/server/stream"
)

// logged writes the line of a request whose answer has ended.
func (s *Server) logged(r *http.Request, known *call.Call, w *stream.Writer, route string) {
	level := s.config.AccessLevel.Level()
	if strings.HasSuffix(route, pathHealth) || strings.HasSuffix(route, pathReady) {
		level = min(level, slog.LevelDebug)
	}
	ctx := r.Context()
	if !s.log.Enabled(ctx, level) {
		return
	}
	status := w.Status
	switch {
	case status != 0:
	case ctx.Err() != nil:
		status = call.StatusClientGone
	default:
		status = http.StatusOK
	}
	attrs := []slog.Attr{
		slog.String("method", r.Method), slog.String("route", cmp.Or(route, "none")), slog.Int("status", status),
		slog.Duration("duration", time.Since(known.Began)), slog.Int64("bytes", w.Bytes), slog.String("request", known.ID),
	}
	for _, a := range []struct{ key, value string }{
		{"tenant", string(known.Tenant)}, {"thread", string(known.Thread)}, {"run", string(known.Run)},
	} {
		if a.value != "" {
			attrs = append(attrs, slog.String(a.key, a.value))
		}
	}
	s.log.LogAttrs(ctx, level, "request", attrs...)
}
