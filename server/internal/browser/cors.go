package browser

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
)

// The headers that a page of an allowed origin may send and read, besides those that every page may.
var (
	corsRequestHeaders  = []string{"Authorization", "Cache-Control", "Content-Type", "Idempotency-Key", "Last-Event-ID"}
	corsResponseHeaders = []string{"Retry-After", "WWW-Authenticate", "X-Spool-Warning"}
)

const corsMaxAge = "600"

// origins are the origins whose pages may call the server.
type origins struct {
	all   bool
	known map[string]bool
	// credentials allows those pages to send cookies and client certificates.
	credentials bool
	// request and response list the headers that those pages may send and read.
	request, response string
}

func newOrigins(c Config) (origins, error) {
	o := origins{known: make(map[string]bool, len(c.CORSOrigins)), credentials: c.CORSAllowCredentials || c.CookieAuth}
	for _, origin := range c.CORSOrigins {
		if origin == "*" {
			o.all = true
			continue
		}
		if !isOrigin(origin) {
			return origins{}, spool.Errorf(spool.Invalid,
				`Config.CORSOrigins must have the form "https://host" or "https://host:port", not %q`, origin)
		}
		o.known[sentOrigin(origin)] = true
	}
	if o.all && c.CORSAllowCredentials {
		return origins{}, spool.Errorf(spool.Invalid,
			`Config.CORSOrigins must not be "*" with CORSAllowCredentials, as every web page could use what its reader is logged in to`)
	}
	var err error
	if o.request, err = headerList("CORSAllowHeaders", corsRequestHeaders, c.CORSAllowHeaders); err != nil {
		return origins{}, err
	}
	o.response, err = headerList("CORSExposeHeaders", corsResponseHeaders, c.CORSExposeHeaders)
	return o, err
}

// isOrigin reports whether text has the form of an origin of a web page.
func isOrigin(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") && u.Scheme+"://"+u.Host == text
}

// sentOrigin returns an origin in the form that browsers send: in lower case, and without the default port of
// its scheme.
func sentOrigin(origin string) string {
	origin = strings.ToLower(origin)
	if host, ok := strings.CutSuffix(origin, ":443"); ok && strings.HasPrefix(origin, "https:") {
		return host
	}
	if host, ok := strings.CutSuffix(origin, ":80"); ok && strings.HasPrefix(origin, "http:") {
		return host
	}
	return origin
}

// headerList returns the names of headers as one header has them.
func headerList(field string, ours, more []string) (string, error) {
	names := slices.Clone(ours)
	for _, name := range more {
		if !ValidHeaderName(name) {
			return "", spool.Errorf(spool.Invalid, "Config.%s must be names of headers, not %q", field, name)
		}
		if !slices.ContainsFunc(names, func(known string) bool { return strings.EqualFold(known, name) }) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", "), nil
}

// ValidHeaderName reports whether name can be the name of a header: letters, digits and
// !#$%&'+-.^_`|~. It reports false for "*", which stands for all headers.
func ValidHeaderName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') &&
			!strings.ContainsRune("!#$%&'+-.^_`|~", r)
	})
}

func (o origins) configured() bool { return o.all || len(o.known) > 0 }

func (o origins) allow(origin string) bool {
	return origin != "" && (o.all || o.known[strings.ToLower(origin)])
}

// expose lets a page of an allowed origin read the answer. Every answer then varies by origin, so that no
// cache gives one page's answer to another.
func (o origins) expose(w http.ResponseWriter, r *http.Request) {
	if !o.configured() {
		return
	}
	h := w.Header()
	h.Add("Vary", "Origin")
	if origin := r.Header.Get("Origin"); o.allow(origin) {
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Expose-Headers", o.response)
		if o.credentials {
			h.Set("Access-Control-Allow-Credentials", "true")
		}
	}
}

// Preflight allows a page of an allowed origin to send its request. A page of another origin gets no
// permission, so its browser does not send the request.
func (g *Guard) Preflight(w http.ResponseWriter, r *http.Request, allow string) {
	if allow == "" || r.Header.Get("Access-Control-Request-Method") == "" {
		return
	}
	if origin := r.Header.Get("Origin"); g.origins.allow(origin) {
		h := w.Header()
		h.Add("Vary", "Access-Control-Request-Method")
		h.Add("Vary", "Access-Control-Request-Headers")
		h.Set("Access-Control-Allow-Methods", allow)
		h.Set("Access-Control-Allow-Headers", g.origins.request)
		h.Set("Access-Control-Max-Age", corsMaxAge)
	} else if origin != "" {
		g.refused.log(r, g.config.Log, origin)
	}
}
