package server

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/internal/auth"
	"github.com/spoolhq/spool/server/internal/browser"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/server/probe"
	"github.com/spoolhq/spool/server/stream"
)

// front runs before all routes. It guards a server on loopback, lets pages of allowed origins read the
// answers, and logs the request.
type front struct {
	config Config
	auth   *auth.Auth
	pages  *browser.Guard
	// streams send the event streams.
	streams *stream.Streams
	api     *rest.API
}

func (f *front) middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := &stream.Writer{ResponseWriter: w, Timeout: f.config.WriteTimeout}
		asked := r
		r, known := call.Begin(unescaped(r), call.Rules{Everybody: f.auth.Everybody, OwnThreads: f.config.OwnThreads})
		out.Header().Set(call.HeaderID, known.ID)
		out.Header().Set("Cross-Origin-Resource-Policy", "same-origin")
		to, _ := f.api.Match(r)
		if to == nil {
			to = nowhere
		}
		asked.Pattern = to.Path
		if to.Name == opStream {
			r = f.streams.Prepare(out, r)
		}
		line := &line{ctx: r.Context(), method: r.Method, route: to.Path, known: known}
		defer func() {
			if line != nil {
				out.Drop()
				f.log(line, out.Status, out.Bytes)
			}
		}()
		if err := f.pages.Check(out, r, f.routeOf(r, to)); err != nil {
			f.api.Fail(out, r, err)
			return
		}
		if r.Method == http.MethodOptions {
			f.pages.Preflight(out, r, stream.Alphabetical(f.api.Methods(r)))
		}
		next.ServeHTTP(out, r)
		if left := line; out.HandOver(func() { f.log(left, 0, 0) }) { //nolint:contextcheck // the stream has the request's context
			line = nil
			return
		}
		out.Follow(r)
	})
}

// unescaped returns a request with an unescaped path: clients of the contract may escape more characters than
// necessary.
func unescaped(r *http.Request) *http.Request {
	if r.URL.RawPath == "" {
		return r
	}
	changed, to := *r, *r.URL
	to.RawPath, changed.URL = "", &to
	return &changed
}

// nowhere is the route in the log for an unknown path.
var nowhere = &rest.RouteInfo{}

// routeOf returns the facts about a route that the guard against web pages needs.
func (f *front) routeOf(r *http.Request, to *rest.RouteInfo) browser.Route {
	return browser.Route{
		Signed:  to.Name == opDelivery && r.Method == http.MethodPost || to.Name == opShowLink || to.Name == opUseLink,
		Page:    f.isDocs(to) || slices.Contains([]string{opRoot, opSignIn, opSignedIn}, to.Name),
		Streams: to.Name == opStream, Files: to.Name == opUpload,
	}
}

// isDocs reports whether a route is the docs page, or an asset of it.
func (f *front) isDocs(to *rest.RouteInfo) bool {
	at := f.config.BasePath + "/docs"
	return to.Path == at || strings.HasPrefix(to.Path, at+"/")
}

// line has the facts about a request for the log.
type line struct {
	ctx           context.Context //nolint:containedctx // the request's
	method, route string
	known         *call.Call
}

// log writes the line of a request whose answer has ended.
func (f *front) log(l *line, status int, bytes int64) {
	level := f.config.AccessLevel.Level()
	if strings.HasSuffix(l.route, probe.PathHealth) || strings.HasSuffix(l.route, probe.PathReady) {
		level = min(level, slog.LevelDebug)
	}
	if !f.config.Log.Enabled(l.ctx, level) {
		return
	}
	switch {
	case status != 0:
	case l.ctx.Err() != nil:
		status = call.StatusClientGone
	default:
		status = http.StatusOK
	}
	attrs := []slog.Attr{
		slog.String("method", l.method), slog.String("route", cmp.Or(l.route, "none")), slog.Int("status", status),
		slog.Duration("duration", time.Since(l.known.Began)), slog.Int64("bytes", bytes), slog.String("request", l.known.ID),
	}
	for _, a := range []struct{ key, value string }{
		{"tenant", string(l.known.Tenant)}, {"thread", string(l.known.Thread)}, {"run", string(l.known.Run)},
	} {
		if a.value != "" {
			attrs = append(attrs, slog.String(a.key, a.value))
		}
	}
	f.config.Log.LogAttrs(l.ctx, level, "request", attrs...)
}
