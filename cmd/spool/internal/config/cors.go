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

func cors(v value) CORS {
	f := v.fields("origins", "allow_credentials", "allow_headers", "expose_headers")
	c := CORS{
		AllowCredentials: f["allow_credentials"].boolean(),
		AllowHeaders:     f["allow_headers"].headerNames(),
		ExposeHeaders:    f["expose_headers"].headerNames(),
	}
	for _, item := range f["origins"].items() {
		origin := item.origin()
		switch {
		case origin == "*" && v.d.anonymous:
			item.problemf(`"*" needs auth.tokens, as every web page could use the server`)
		case origin == "*" && c.AllowCredentials:
			item.problemf(`"*" cannot go with allow_credentials, as every web page could use what its reader is logged in to`)
		}
		c.Origins = append(c.Origins, origin)
	}
	return c
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

// headerNames returns a list of names of headers.
func (v value) headerNames() []string {
	var out []string
	for _, item := range v.items() {
		name := item.text()
		if !server.ValidHeaderName(name) && !item.complained() {
			item.problemf(`must be the name of a header, such as "X-Tenant"`)
		}
		out = append(out, name)
	}
	return out
}
