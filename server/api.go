package server

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/server/internal/describe"
	"github.com/spoolhq/spool/server/internal/wire"
)

// newAPI registers the controllers.
func (s *Server) newAPI() *rest.API {
	api := rest.New(append(s.bodyRules(),
		rest.Title("Spool"), rest.Version("1"), rest.About(describe.API), rest.BasePath(s.config.BasePath),
		rest.Servers(cmp.Or(s.config.PublicURL, "/")),
		rest.Errors(call.ErrorBodies{}), rest.MapError(call.MapError), rest.StrictSlashes(), rest.Logger(call.Log(s.log)), rest.Use(s.front),
	)...)
	wire.Document(api)
	api.Register(table{s}, rest.Namespace(""))
	describe.Document(api, s.config.Loopback)
	describe.Agents(api, s.config.BasePath)
	return api
}

// CheckPublicURL returns a [spool.Invalid] error for what cannot be [Config.PublicURL] of a server
// with the base path. Empty: there is none.
func CheckPublicURL(address, base string) error {
	if address == "" {
		return nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.User != nil || strings.ContainsAny(address, "?#") ||
		rest.CheckBasePath(u.EscapedPath()) != nil {
		return spool.Errorf(spool.Invalid, `Config.PublicURL must be a scheme and a host, with a path behind them that a proxy cuts off, such as "https://agents.example"`)
	}
	if base != "" && strings.HasSuffix(u.Path, base) {
		return spool.Errorf(spool.Invalid, "Config.PublicURL must not end with BasePath, which comes behind it")
	}
	return nil
}

// checkBasePath returns an error for a path below which no route could be reached.
func checkBasePath(at string) error {
	if err := rest.CheckBasePath(at); err != nil {
		_, reason, _ := strings.Cut(err.Error(), ": ")
		return spool.Errorf(spool.Invalid, "Config.BasePath: %s", reason)
	}
	return nil
}

// OpenAPI returns the document of the server's endpoints, OpenAPI 3.1 as JSON. It is the
// same for the same configuration.
func (s *Server) OpenAPI() ([]byte, error) { return s.api.OpenAPI() }

// ServeHTTP answers a request.
//
// It sets the request's Pattern to the path of the route, as a [http.ServeMux] does, for
// those who measure requests.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.api.ServeHTTP(w, r) }
