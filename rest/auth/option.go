package auth

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Option changes an authenticator that is being built. An option that has no meaning for
// an authenticator changes nothing.
type Option func(*settings)

type settings struct {
	name, description string
	realm             string
	format            string
	maxLength         int
	origins           []string

	// Of sessions alone.
	cookie   string
	lifetime time.Duration
	insecure bool
}

// Name names the security scheme in the document. Two authenticators of an API that differ
// have different names. Defaults to "apiKey" with what the key is called behind it,
// "bearer", "basic" or "session".
func Name(name string) Option { return func(s *settings) { s.name = name } }

// Describe explains the security scheme in the document.
func Describe(text string) Option { return func(s *settings) { s.description = text } }

// Realm is what the credentials are for, in the challenge of a 401. Defaults to "api".
func Realm(realm string) Option { return func(s *settings) { s.realm = realm } }

// BearerFormat says in the document what a bearer token looks like, "JWT" for example.
func BearerFormat(format string) Option { return func(s *settings) { s.format = format } }

// MaxLength is how many bytes a key, a token or a password with its user name may have; what
// is longer is wrong and not looked up. Defaults to 4096.
func MaxLength(bytes int) Option { return func(s *settings) { s.maxLength = bytes } }

// TrustOrigins names origins, such as "https://app.example.org", whose pages may make
// browsers send cookies with methods that change something. An origin that is none panics.
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
		panic(fmt.Sprintf("auth: %s: MaxLength(%d) lets nothing in", s.name, s.maxLength))
	}
	if strings.IndexFunc(s.realm, func(r rune) bool { return r < ' ' || r > '~' }) >= 0 {
		panic(fmt.Sprintf("auth: %s: realm %q is not of printable ASCII", s.name, s.realm))
	}
	return s
}

// quoted writes text as a quoted-string of RFC 9110.
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

// token reports whether a name can be that of a header or a cookie.
func token(name string) bool {
	return name != "" && strings.IndexFunc(name, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r)
	}) < 0
}
