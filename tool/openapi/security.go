package openapi

import (
	"encoding/base64"
	"maps"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
)

// Credential is what a security scheme asks for: Token for the types apiKey, oauth2 and openIdConnect and for
// http with bearer, Username and Password for http with basic.
type Credential struct{ Token, Username, Password string }

// secrets returns the texts that nobody may see.
func (c Credential) secrets() []string {
	out := []string{c.Token, c.Password}
	if c.Password != "" {
		out = append(out, c.basic())
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

func (c Credential) basic() string {
	return base64.StdEncoding.EncodeToString([]byte(c.Username + ":" + c.Password))
}

// proof is what a request has to satisfy its security requirement.
type proof struct {
	header http.Header
	query  url.Values
	// cookies are the pairs of the header Cookie.
	cookies []string
}

// secure returns the proof of an operation: that of the first requirement whose schemes all have a credential
// or a configured header.
func (b *sourceBuilder) secure(o operation) (proof, error) {
	p := proof{header: make(http.Header), query: make(url.Values)}
	holder, place := o.node, o.place
	if _, ok := holder["security"]; !ok {
		holder, place = b.doc.root, ""
	}
	place = strings.TrimPrefix(place+".security", ".")
	requirements, ok := holder["security"].([]any)
	if !ok || len(requirements) == 0 {
		return p, nil
	}
	var missing error
	open := false
	for _, requirement := range requirements {
		schemes, ok := requirement.(map[string]any)
		if !ok {
			return p, wrong(place, "must be a list of objects")
		}
		if len(schemes) == 0 {
			open = true
			continue
		}
		p := proof{header: make(http.Header), query: make(url.Values)}
		var err error
		for _, name := range slices.Sorted(maps.Keys(schemes)) {
			if err = b.prove(name, &p, place); err != nil {
				break
			}
		}
		if err == nil {
			return p, nil
		}
		if missing == nil {
			missing = err
		}
	}
	if open {
		return p, nil
	}
	return p, missing
}

// prove adds what one scheme asks for.
func (b *sourceBuilder) prove(name string, p *proof, place string) error {
	components, _ := b.doc.root["components"].(map[string]any)
	schemes, _ := components["securitySchemes"].(map[string]any)
	scheme, at, err := b.doc.object(schemes[name], "components.securitySchemes."+name)
	if err != nil {
		return err
	}
	credential, has := b.config.Auth[name]
	header, value := "Authorization", "Bearer "+credential.Token
	needs := "a token"
	switch kind, in := text(scheme, "type"), text(scheme, "in"); {
	case kind == "apiKey" && in == "query":
		if has && credential.Token != "" {
			p.query.Set(text(scheme, "name"), credential.Token)
			return nil
		}
		return wrong(place, "asks for "+name+", a key in the query: set auth."+name+".token")
	case kind == "apiKey" && in == "cookie":
		return b.proveCookie(name, text(scheme, "name"), p, place, at)
	case kind == "apiKey" && in == "header":
		header, value = textproto.CanonicalMIMEHeaderKey(text(scheme, "name")), credential.Token
	case kind == "http" && strings.EqualFold(text(scheme, "scheme"), "basic"):
		value, needs = "Basic "+credential.basic(), "a username and a password"
		has = has && credential.Username != ""
		credential.Token = credential.Username
	case kind == "http" && strings.EqualFold(text(scheme, "scheme"), "bearer"), kind == "oauth2", kind == "openIdConnect":
	default:
		return wrong(at,
			"this security scheme is not supported; there are apiKey in a header, the query or a cookie, http with bearer or basic, oauth2 and openIdConnect")
	}
	switch {
	case has && credential.Token != "":
		p.header.Set(header, value)
		return nil
	case b.configured(header):
		return nil
	default:
		return wrong(place, "asks for "+name+", "+needs+" in the header "+header+": set auth."+name+", or that header")
	}
}

// proveCookie adds a key that is a cookie.
func (b *sourceBuilder) proveCookie(scheme, name string, p *proof, place, at string) error {
	switch token := b.config.Auth[scheme].Token; {
	case !isToken(name):
		return wrong(at, "its name cannot be that of a cookie")
	case b.cookie(name):
		return nil
	case token == "":
		return wrong(place, "asks for "+scheme+", a key in a cookie: set auth."+scheme+".token")
	case strings.ContainsFunc(token, func(r rune) bool {
		return r <= ' ' || r == ';' || r == ',' || r == '"' || r == '\\' || r > '~'
	}):
		return wrong(place, "auth."+scheme+".token has a character that no cookie may have")
	default:
		p.cookies = append(p.cookies, name+"="+token)
		return nil
	}
}

// cookie reports whether the configured header Cookie has a cookie.
func (b *sourceBuilder) cookie(name string) bool {
	for header, value := range b.config.Headers {
		if !strings.EqualFold(header, "Cookie") {
			continue
		}
		for pair := range strings.SplitSeq(value, ";") {
			if value, _, _ := strings.Cut(strings.TrimSpace(pair), "="); value == name {
				return true
			}
		}
	}
	return false
}

// isToken reports whether a text may be the name of a header or a cookie.
func isToken(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune("()<>@,;:\\\"/[]?={}", r)
	})
}

// configured reports whether the configuration has a header.
func (b *sourceBuilder) configured(header string) bool {
	for name := range b.config.Headers {
		if strings.EqualFold(name, header) {
			return true
		}
	}
	return false
}

// checkAuth refuses credentials that no scheme of the document asks for.
func (b *sourceBuilder) checkAuth() error {
	components, _ := b.doc.root["components"].(map[string]any)
	schemes, _ := components["securitySchemes"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(b.config.Auth)) {
		if schemes[name] == nil {
			return spool.Errorf(spool.Invalid, "Auth: the document has no security scheme %q; there are %s", name,
				names(schemes))
		}
	}
	return nil
}

func names(values map[string]any) string {
	if len(values) == 0 {
		return "none"
	}
	return cut(strings.Join(slices.Sorted(maps.Keys(values)), ", "), 500)
}
