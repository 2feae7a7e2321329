package config

import (
	"net/url"

	"github.com/spoolhq/spool/server"
)

// CORS is the section cors.
type CORS struct {
	// Origins are the origins whose pages may call the server, or "*" for all.
	Origins []string
	// AllowCredentials lets those pages send cookies.
	AllowCredentials bool
	// AllowHeaders and ExposeHeaders are further headers that those pages may send and read.
	AllowHeaders, ExposeHeaders []string
}

func corsOptions(c *CORS) table {
	return table{
		row("origins", list(&c.Origins, value.origin),
			`The origins whose pages may call the server, such as "https://app.example.com". "*" needs auth.tokens. `+
				"Default: none."),
		row("allow_credentials", boolean(&c.AllowCredentials),
			`true: those pages may send cookies and client certificates. Not with "*". Default: false.`),
		row("allow_headers", list(&c.AllowHeaders, value.headerName),
			"Headers that those pages may send besides Authorization, Cache-Control, Content-Type, Idempotency-Key "+
				"and Last-Event-ID. Default: none."),
		row("expose_headers", list(&c.ExposeHeaders, value.headerName),
			"Headers of an answer that those pages may read besides Retry-After, WWW-Authenticate and "+
				"X-Spool-Warning. Default: none."),
	}
}

// check refuses to let every page call a server that does not ask for a token.
func (c *CORS) check(v value) {
	items := v.at("origins").items()
	for i, origin := range c.Origins {
		switch item := items[i]; {
		case origin == "*" && v.d.anonymous:
			item.problemf(`"*" needs auth.tokens, as every web page could use the server`)
		case origin == "*" && c.AllowCredentials:
			item.problemf(`"*" cannot go with allow_credentials, as every web page could use what its reader is logged in to`)
		}
	}
}

// IsOrigin reports whether text has the form of a web page's origin, such as
// "https://app.example.com" or "http://localhost:5173".
func IsOrigin(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") && u.Scheme+"://"+u.Host == text
}

// origin returns the origin of a page, or "*" for every one.
func (v value) origin() string {
	s := v.text()
	if s != "*" && !IsOrigin(s) && !v.complained() {
		v.problemf(`must have the form "https://host" or "https://host:port"`)
	}
	return s
}

// headerName returns the name of a header.
func (v value) headerName() string {
	name := v.text()
	if !server.ValidHeaderName(name) && !v.complained() {
		v.problemf(`must be the name of a header, such as "X-Tenant"`)
	}
	return name
}
