package browser

import (
	"log/slog"
	"net/http"
	"sync"

	"github.com/spoolhq/spool"
)

const (
	// maxOriginText bounds how much of an origin is repeated: a client can invent it.
	maxOriginText = 200
	// maxRefusedOrigins bounds how many origins are logged.
	maxRefusedOrigins = 64
)

// refusedOrigins are the refused origins that the log has named. A browser does not show the reason,
// so that the author of a page finds it in the log.
type refusedOrigins struct {
	mu    sync.Mutex
	known map[string]bool
}

// refuseOrigin returns the error for a request of a page whose origin is not allowed, and
// logs it the first time.
func (g *Guard) refuseOrigin(r *http.Request, origin string) error {
	g.refused.log(r, g.config.Log, origin)
	if len(origin) > maxOriginText || !isOrigin(origin) { // such as "null", which cannot be allowed
		return spool.Errorf(spool.Forbidden, "pages of the origin %s may not use this server", shortOrigin(origin))
	}
	return spool.Errorf(spool.Forbidden, "pages of the origin %s may not use this server: "+
		"if they should, add it to cors.origins, or start spool serve with --cors-origin %[1]s", origin)
}

func shortOrigin(origin string) string { return origin[:min(len(origin), maxOriginText)] }

// log names each refused origin once.
func (o *refusedOrigins) log(r *http.Request, log *slog.Logger, origin string) {
	canBe := len(origin) <= maxOriginText && isOrigin(origin)
	if origin = shortOrigin(origin); !o.first(origin) {
		return
	}
	attrs := []any{"origin", origin}
	if canBe { // "null", for example, is not an origin that can be allowed
		attrs = append(attrs, "allow", "cors.origins, or --cors-origin "+origin)
	}
	log.WarnContext(r.Context(), "pages of this origin may not use the server; this is said once for each origin",
		append(attrs, "method", r.Method, "path", r.URL.Path)...)
}

// first reports whether the log has not named the origin yet and has room for it.
func (o *refusedOrigins) first(origin string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.known[origin] || len(o.known) >= maxRefusedOrigins {
		return false
	}
	if o.known == nil {
		o.known = make(map[string]bool)
	}
	o.known[origin] = true
	return true
}
