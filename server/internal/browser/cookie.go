package browser

import (
	"net/http"

	"github.com/spoolhq/spool"
)

// newCrossOrigin returns the guard of a server that identifies callers by cookies, and nil for another
// server.
func newCrossOrigin(c Config, allowed origins) (*http.CrossOriginProtection, error) {
	if !c.CookieAuth {
		return nil, nil //nolint:nilnil // there is none
	}
	if allowed.all {
		return nil, spool.Errorf(spool.Invalid,
			`Config.CORSOrigins must not be "*" with CookieAuth, as every web page could use the cookies`)
	}
	guard := http.NewCrossOriginProtection()
	for origin := range allowed.known {
		if err := guard.AddTrustedOrigin(origin); err != nil {
			return nil, spool.Errorf(spool.Invalid, "Config.CORSOrigins: %q cannot be trusted with cookies", origin)
		}
	}
	return guard, nil
}

// checkCrossOrigin refuses requests that a page of another origin makes a browser send with the cookies of
// its user: every request that changes something, and streams, because each is a connection that stays open.
func (g *Guard) checkCrossOrigin(r *http.Request, streams bool) error {
	if streams && r.Method == http.MethodGet {
		unsafe := *r
		unsafe.Method = http.MethodPost
		r = &unsafe
	}
	if g.crossOrigin.Check(r) != nil {
		if origin := r.Header.Get("Origin"); origin != "" {
			return g.refuseOrigin(r, origin)
		}
		return spool.Errorf(spool.Forbidden, "pages of other sites may not use this server")
	}
	return nil
}
