package auth

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/spoolhq/spool/rest"
)

// APIKeyQuery authenticates by a query parameter. URLs end up in logs and histories, so use it
// only for keys of little value. It panics if the name is empty.
//
// The challenge of a 401 is `ApiKey realm="api", in="query", name="key"`. This scheme is not
// registered; it says in the terms of OpenAPI what is missing. The other API keys have such a
// challenge too.
func APIKeyQuery[P rest.Principal](name string, lookup Lookup[P], options ...Option) rest.Authenticator {
	if name == "" {
		panic("auth: APIKeyQuery needs the name of a parameter")
	}
	return newAPIKey("query", name, lookup, options)
}

// APIKeyHeader authenticates by a header. It panics if the name is not a valid header name.
func APIKeyHeader[P rest.Principal](name string, lookup Lookup[P], options ...Option) rest.Authenticator {
	if !token(name) {
		panic(fmt.Sprintf("auth: APIKeyHeader: %q is not a valid header name", name))
	}
	return newAPIKey("header", name, lookup, options)
}

// APIKeyCookie authenticates by a cookie, in requests that do not come from other sites. It
// panics if the name is not a valid cookie name. For log-ins with a browser, see [Session].
func APIKeyCookie[P rest.Principal](name string, lookup Lookup[P], options ...Option) rest.Authenticator {
	if !token(name) {
		panic(fmt.Sprintf("auth: APIKeyCookie: %q is not a valid cookie name", name))
	}
	return newAPIKey("cookie", name, lookup, options)
}

// authenticator implements the authenticators of this package, except sessions.
type authenticator struct {
	scheme rest.Scheme
	find   func(r *http.Request) (rest.Principal, error)
}

// Authenticate implements [rest.Authenticator].
func (a *authenticator) Authenticate(r *http.Request) (rest.Principal, error) { return a.find(r) }

// Scheme implements [rest.Authenticator].
func (a *authenticator) Scheme() rest.Scheme { return a.scheme }

func newAPIKey[P rest.Principal](in, name string, lookup Lookup[P], options []Option) *authenticator {
	if lookup == nil {
		panic("auth: the API key " + name + " has no lookup")
	}
	s := settingsOf(schemeName(in, name), options)
	var read func(r *http.Request) (string, error)
	switch in {
	case "query":
		read = func(r *http.Request) (string, error) { return queryKey(r.URL.RawQuery, name) }
	case "header":
		canonical := http.CanonicalHeaderKey(name)
		read = func(r *http.Request) (string, error) { return single(r.Header[canonical]) }
	default:
		guard := s.protection()
		read = func(r *http.Request) (string, error) { return cookieKey(r, name, guard) }
	}
	scheme := rest.Scheme{
		Name: s.name, Type: "apiKey", In: in, Param: name, Description: s.description,
		Challenge: "ApiKey realm=" + quoted(s.realm) + ", in=" + quoted(in) + ", name=" + quoted(name),
	}
	return &authenticator{scheme, func(r *http.Request) (rest.Principal, error) {
		key, err := read(r)
		if err != nil {
			return nil, err
		}
		if len(key) > s.maxLength {
			return nil, bad("the key is too long")
		}
		return principal(lookup(r.Context(), key))
	}}
}

// schemeName returns a name that the document may use, such as "apiKeyQueryKey" for the query
// parameter key.
func schemeName(in, name string) string {
	var b strings.Builder
	b.WriteString("apiKey")
	upper := true
	for _, r := range in + " " + name {
		switch {
		case r >= 'a' && r <= 'z' && upper:
			b.WriteRune(r - 'a' + 'A')
			upper = false
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			b.WriteRune(r)
			upper = false
		default:
			upper = true
		}
	}
	return b.String()
}

// single returns the only value. No value, or an empty one, means no key.
func single(values []string) (string, error) {
	switch {
	case len(values) > 1:
		return "", bad("there is more than one key")
	case len(values) == 0 || values[0] == "":
		return "", rest.ErrNoCredentials
	default:
		return values[0], nil
	}
}

// queryKey returns a query parameter without building a map of all parameters.
func queryKey(query, name string) (string, error) {
	var (
		key   string
		found bool
	)
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		param, value, _ := strings.Cut(pair, "=")
		if !isParam(param, name) {
			continue
		}
		if found {
			return "", bad("there is more than one key")
		}
		decoded, err := url.QueryUnescape(value)
		if err != nil || strings.Contains(value, ";") { // net/url refuses semicolons too
			return "", bad("the key is not encoded as a query is")
		}
		key, found = decoded, true
	}
	if key == "" {
		return "", rest.ErrNoCredentials
	}
	return key, nil
}

func isParam(param, name string) bool {
	if !strings.ContainsAny(param, "%+") {
		return param == name
	}
	decoded, err := url.QueryUnescape(param)
	return err == nil && decoded == name
}

// cookieKey returns a cookie's value. It refuses unsafe requests of other sites, to which the
// browser adds the cookie too.
func cookieKey(r *http.Request, name string, guard *http.CrossOriginProtection) (string, error) {
	cookies := r.CookiesNamed(name)
	switch {
	case len(cookies) > 1:
		return "", bad("there is more than one cookie of the name")
	case len(cookies) == 0 || cookies[0].Value == "":
		return "", rest.ErrNoCredentials
	}
	if err := sameOrigin(r, guard, "cookies"); err != nil {
		return "", err
	}
	return cookies[0].Value, nil
}

// sameOrigin refuses an unsafe request from a page of another site, because browsers add
// credentials of this kind on their own.
func sameOrigin(r *http.Request, guard *http.CrossOriginProtection, kind string) error {
	err := guard.Check(r)
	if err == nil {
		return nil
	}
	return &rest.Error{
		Status: http.StatusForbidden, Code: "cross_origin",
		Detail: "A request with " + kind + " must come from a page of this site.", Err: err,
	}
}
