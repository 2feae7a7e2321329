package server

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/spoolhq/spool"
)

// What a page of an allowed origin may send and read besides what every page may.
const (
	corsRequestHeaders  = "Authorization, Cache-Control, Content-Type, Idempotency-Key, Last-Event-ID"
	corsResponseHeaders = "Retry-After, WWW-Authenticate"
	corsMaxAge          = "600"
)

// origins are the origins whose pages may call the server.
type origins struct {
	all   bool
	known map[string]bool
	// cookies says that those pages may send cookies.
	cookies bool
}

func newOrigins(list []string) (origins, error) {
	o := origins{known: make(map[string]bool, len(list))}
	for _, origin := range list {
		if origin == "*" {
			o.all = true
			continue
		}
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.Scheme+"://"+u.Host != origin {
			return origins{}, spool.Errorf(spool.Invalid,
				`Config.CORSOrigins must have the form "https://host" or "https://host:port", not %q`, origin)
		}
		o.known[strings.ToLower(origin)] = true
	}
	return o, nil
}

func (o origins) configured() bool { return o.all || len(o.known) > 0 }

func (o origins) allow(origin string) bool {
	return origin != "" && (o.all || o.known[strings.ToLower(origin)])
}

// expose lets a page of an allowed origin read the answer. Every answer varies by
// origin then, so that no cache hands one page's answer to another.
func (o origins) expose(w http.ResponseWriter, r *http.Request) {
	if !o.configured() {
		return
	}
	h := w.Header()
	h.Add("Vary", "Origin")
	if origin := r.Header.Get("Origin"); o.allow(origin) {
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Expose-Headers", corsResponseHeaders)
		if o.cookies {
			h.Set("Access-Control-Allow-Credentials", "true")
		}
	}
}

// options answers what a path can do, and the preflight of a page of an allowed origin.
// The page of another origin gets no permission, which its browser takes for a no.
func (s *Server) options(w http.ResponseWriter, r *http.Request, f *found) {
	h := w.Header()
	h.Set("Allow", f.allow)
	if r.Header.Get("Access-Control-Request-Method") != "" && s.origins.allow(r.Header.Get("Origin")) {
		h.Add("Vary", "Access-Control-Request-Method")
		h.Add("Vary", "Access-Control-Request-Headers")
		h.Set("Access-Control-Allow-Methods", f.allow)
		h.Set("Access-Control-Allow-Headers", corsRequestHeaders)
		h.Set("Access-Control-Max-Age", corsMaxAge)
	}
	w.WriteHeader(http.StatusNoContent)
}
