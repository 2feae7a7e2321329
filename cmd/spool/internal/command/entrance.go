package command

import (
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/probe"
)

// entrance serves the process's HTTP address. Until it has a surface, it answers the probes, and refuses everything
// else.
type entrance struct {
	listener net.Listener
	base     string
	http     *http.Server
	served   chan error

	begin   sync.Once
	surface atomic.Pointer[http.Handler]
}

// newEntrance returns an entrance that is still closed. The path of the probes begins with base.
func newEntrance(listener net.Listener, base string, log *slog.Logger) *entrance {
	e := &entrance{listener: listener, base: base, served: make(chan error, 2)} // the metrics are served beside it
	e.http = listening(e, log)
	return e
}

// open begins to serve. Later calls do nothing.
func (e *entrance) open() {
	e.begin.Do(func() { go func() { e.served <- e.http.Serve(e.listener) }() })
}

// ServeHTTP implements [http.Handler].
func (e *entrance) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if surface := e.surface.Load(); surface != nil {
		(*surface).ServeHTTP(w, r)
		return
	}
	const text = "The database cannot be reached"
	status, body := http.StatusServiceUnavailable, any(map[string]any{"error": text, "code": spool.Unavailable})
	switch r.URL.Path {
	case e.base + probe.PathHealth:
		status, body = http.StatusOK, probe.Healthy{Status: "ok"}
	case e.base + probe.PathReady:
		body = probe.Readiness{
			Status: "unavailable", Checks: map[string]string{"store": text}, Error: "store: " + text, Code: spool.Unavailable,
		}
	default:
		w.Header().Set("Retry-After", "1")
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) //nolint:errchkjson // the types can be encoded, so the client has gone
}
