// Package browser protects a server from web pages: it lets pages of allowed origins read answers, and
// refuses requests that pages of other origins make a browser send. It knows nothing of routes and the engine.
package browser

import (
	"log/slog"
	"net/http"

	"github.com/spoolhq/spool"
)

// Config configures a guard. The fields are those of the server's configuration.
type Config struct {
	CORSAllowCredentials bool
	CORSAllowHeaders     []string
	CORSExposeHeaders    []string
	CORSOrigins          []string
	CookieAuth           bool
	Loopback             bool
	// Open says that the server has no authentication.
	Open bool
	Log  *slog.Logger
}

// Guard is the guard of a server. It is safe for concurrent use.
type Guard struct {
	config  Config
	origins origins
	refused refusedOrigins
	// crossOrigin protects cookies. Nil: no caller is identified by one.
	crossOrigin *http.CrossOriginProtection
}

// New returns a guard, or an [spool.Invalid] error that names the field.
func New(c Config) (*Guard, error) {
	allowed, err := newOrigins(c)
	if err != nil {
		return nil, err
	}
	if allowed.all && (c.Open || c.Loopback) {
		return nil, spool.Errorf(spool.Invalid, `Config.CORSOrigins must not be "*" on a server without an Authenticator`)
	}
	g := &Guard{config: c, origins: allowed}
	g.crossOrigin, err = newCrossOrigin(c, allowed)
	return g, err
}

// Route has the facts about a request's route that the guard needs.
type Route struct {
	// Signed says that requests are signed, which no web page can do, or that their path is a signed link.
	Signed bool
	// Page says that links from other sites may lead to the route.
	Page bool
	// Files says that a body may have any type.
	Files bool
	// Streams says that a GET is kept open.
	Streams bool
}

// Check lets pages of allowed origins read the answer, and returns an error for a request that a page
// must not send.
func (g *Guard) Check(w http.ResponseWriter, r *http.Request, to Route) error {
	if g.config.Loopback && !to.Signed {
		if err := g.checkLoopback(r, to); err != nil {
			return err
		}
	}
	g.origins.expose(w, r)
	if g.crossOrigin != nil && !to.Signed {
		return g.checkCrossOrigin(r, to.Streams)
	}
	return nil
}
