package browser

import (
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/forwarded"
	"github.com/spoolhq/spool/server/internal/call"
)

// checkLoopback refuses what a web page that the machine's user visits could send to a
// server on the machine's own loopback address.
//
// A page of evil.example whose name was made to point at 127.0.0.1 sends its own name as
// Host. A page that posts to 127.0.0.1 directly sends its own Origin, and cannot declare
// a body as JSON without a preflight, which is not granted to it. Another server of the
// same machine is another origin too: who wrote its pages is not known. Requests of pages that
// have no Origin, such as those for an image, say in Sec-Fetch-Site where they come from. An upload may have any type,
// so the Origin alone protects it: browsers send it with each POST of a page.
//
// It also refuses what a proxy says it has passed on, as everybody who reaches the proxy could use
// the server. This is a second line of defence: a proxy that is configured to say nothing looks
// like a program of this machine.
func (g *Guard) checkLoopback(r *http.Request, to Route) error {
	if !loopbackHost(r.Host) {
		return spool.Errorf(spool.Forbidden,
			"this server has no tokens and is only reached as localhost; the Host of the request is another. With tokens (SPOOL_TOKEN) it is reached by any name")
	}
	if name := forwarded.Header(r.Header); name != "" {
		return spool.Errorf(spool.Forbidden,
			"this server has no tokens and takes no requests from a proxy, which has set %s; "+
				"give it tokens (SPOOL_TOKEN, or auth.tokens in its configuration)", name)
	}
	if r.Header.Get("Origin") == "" && !g.ownSite(r, to.Page) {
		return spool.Errorf(spool.Forbidden, "pages of other sites may not use this server")
	}
	if origin := r.Header.Get("Origin"); origin != "" && !ownOrigin(r, origin) && !devProxy(r, origin) &&
		!g.origins.allow(origin) {
		return g.refuseOrigin(r, origin)
	}
	if (r.Method == http.MethodPost || r.Method == http.MethodPatch) && !to.Files &&
		!jsonType(r.Header.Get("Content-Type")) {
		return spool.Errorf(call.CodeMediaType, "the Content-Type must be application/json")
	}
	return nil
}

// ownSite reports whether a request without an Origin does not come from a page of another origin. A link
// from anywhere may lead to the docs page, which has no data, and to the page at the root, which no other
// page can read or frame.
func (g *Guard) ownSite(r *http.Request, page bool) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return true
	default:
		return r.Header.Get("Sec-Fetch-Mode") == "navigate" && page
	}
}

// ownOrigin reports whether the origin is the server's own, under the host name of the request.
func ownOrigin(r *http.Request, origin string) bool {
	scheme, port := "http", ":80"
	if r.TLS != nil {
		scheme, port = "https", ":443"
	}
	u, err := url.Parse(origin)
	return err == nil && strings.EqualFold(u.Scheme, scheme) && u.Scheme+"://"+u.Host == origin &&
		strings.EqualFold(strings.TrimSuffix(u.Host, port), strings.TrimSuffix(r.Host, port))
}

// devProxy reports whether a proxy of this machine has passed on the request of one of its own
// pages, with another Host, as development servers do: Vite makes the Host that of its target.
//
// The browser says that the page asked its own origin, which no page can make it say of another,
// and that origin is one of this machine. What such a proxy may do, it could do without a page.
func devProxy(r *http.Request, origin string) bool {
	u, err := url.Parse(origin)
	return err == nil && isOrigin(origin) && loopbackHost(u.Host) && r.Header.Get("Sec-Fetch-Site") == "same-origin"
}

// loopbackHost reports whether the host, with or without a port, can only be this
// machine. Browsers resolve the names below localhost themselves.
func loopbackHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ip.Unmap().IsLoopback()
}

func jsonType(contentType string) bool {
	t, _, err := mime.ParseMediaType(contentType)
	return err == nil && (t == "application/json" || strings.HasPrefix(t, "application/") && strings.HasSuffix(t, "+json"))
}
