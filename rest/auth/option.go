package auth

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Option changes an authenticator that is being built. An option that does not apply to an
// authenticator has no effect.
type Option func(*settings)

type settings struct {
	name, description string
	realm             string
	format            string
	maxLength         int
	origins           []string

	// Only for sessions.
	cookie   string
	lifetime time.Duration
	insecure bool
}

// Name sets the name of the security scheme in the document. Different authenticators of an
// API need different names. Defaults to "bearer", "basic", "session", or for API keys to
// "apiKey", the place and the name of the key, such as "apiKeyQueryKey".
func Name(name string) Option { return func(s *settings) { s.name = name } }

// Describe sets the description of the security scheme in the document.
func Describe(text string) Option { return func(s *settings) { s.description = text } }

// Realm sets the realm in the challenge of a 401. Defaults to "api".
func Realm(realm string) Option { return func(s *settings) { s.realm = realm } }

// BearerFormat sets the format of bearer tokens in the document, for example "JWT".
func BearerFormat(format string) Option { return func(s *settings) { s.format = format } }

// MaxLength sets the maximum length in bytes of a key, a token, or a user name with its
// password. Longer credentials are wrong and are not looked up. Defaults to 4096.
func MaxLength(bytes int) Option { return func(s *settings) { s.maxLength = bytes } }

// TrustOrigins adds origins, such as "https://app.example.org", whose pages may send requests
// with cookies and unsafe methods. The authenticator panics if an origin is invalid.
func TrustOrigins(origins ...string) Option {
	return func(s *settings) { s.origins = append(s.origins, origins...) }
}

func settingsOf(name string, options []Option) settings {
	s := settings{name: name, realm: "api", maxLength: 4096, lifetime: 24 * time.Hour}
	for _, option := range options {
		option(&s)
	}
	if s.name == "" {
		panic("auth: an authenticator needs a name")
	}
	if s.maxLength < 1 {
		panic(fmt.Sprintf("auth: %s: MaxLength(%d) would refuse everything", s.name, s.maxLength))
	}
	if strings.IndexFunc(s.realm, func(r rune) bool { return r < ' ' || r > '~' }) >= 0 {
		panic(fmt.Sprintf("auth: %s: realm %q is not of printable ASCII", s.name, s.realm))
	}
	return s
}

// quoted returns the text as a quoted-string of RFC 9110.
func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

func (s *settings) protection() *http.CrossOriginProtection {
	p := http.NewCrossOriginProtection()
	for _, origin := range s.origins {
		if err := p.AddTrustedOrigin(origin); err != nil {
			panic(fmt.Sprintf("auth: %s: trust origin: %v", s.name, err))
		}
	}
	return p
}

// token reports whether the name is valid for a header or a cookie.
func token(name string) bool {
	return name != "" && strings.IndexFunc(name, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r)
	}) < 0
}
