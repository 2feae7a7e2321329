package auth

import (
	"context"
	"encoding/base64"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spoolhq/spool/rest"
)

// Bearer authenticates by the token of "Authorization: Bearer <token>" (RFC 6750). A token
// with characters that RFC 6750 does not allow is wrong.
//
// The challenge of a 401 is `Bearer realm="api"`. If the request had a token,
// error="invalid_token" is added.
func Bearer[P rest.Principal](lookup Lookup[P], options ...Option) rest.Authenticator {
	if lookup == nil {
		panic("auth: Bearer has no lookup")
	}
	s := settingsOf("bearer", options)
	scheme := rest.Scheme{
		Name: s.name, Type: "http", HTTP: "bearer", BearerFormat: s.format, Description: s.description,
		Challenge: "Bearer realm=" + quoted(s.realm),
	}
	return &authenticator{scheme, func(r *http.Request) (rest.Principal, error) {
		token, err := authorization(r, "Bearer", s.maxLength)
		if err != nil {
			return nil, err
		}
		if !isToken(token) {
			return nil, bad("the bearer token has characters that a token cannot have")
		}
		return principal(lookup(r.Context(), token))
	}}
}

// Basic authenticates by the user name and password of "Authorization: Basic <credentials>"
// (RFC 7617), in UTF-8. A password may have colons. Malformed credentials are wrong and are
// not looked up.
//
// The lookup follows the rules of the package comment. It should compare with [Equal] or with
// a password hash. Basic does not hide by its timing whether a user exists; the lookup has to.
//
// Browsers store a password and send it on their own. So unsafe requests from pages of other
// sites are refused, as for cookies.
func Basic[P rest.Principal](
	lookup func(ctx context.Context, user, password string) (P, error), options ...Option,
) rest.Authenticator {
	if lookup == nil {
		panic("auth: Basic has no lookup")
	}
	s := settingsOf("basic", options)
	guard := s.protection()
	scheme := rest.Scheme{
		Name: s.name, Type: "http", HTTP: "basic", Description: s.description,
		Challenge: "Basic realm=" + quoted(s.realm) + `, charset="UTF-8"`,
	}
	return &authenticator{scheme, func(r *http.Request) (rest.Principal, error) {
		// Base64 turns three bytes into four.
		encoded, err := authorization(r, "Basic", base64.StdEncoding.EncodedLen(s.maxLength))
		if err != nil {
			return nil, err
		}
		if err := sameOrigin(r, guard, "a password"); err != nil {
			return nil, err
		}
		decoded, err := base64.StdEncoding.Strict().DecodeString(encoded)
		if err != nil || strings.ContainsAny(encoded, "\r\n") {
			return nil, bad("the basic credentials are not base64")
		}
		user, password, ok := strings.Cut(string(decoded), ":")
		if !ok || !utf8.Valid(decoded) || strings.ContainsFunc(string(decoded), unicode.IsControl) {
			return nil, bad("the basic credentials are not a name and a password")
		}
		return principal(lookup(r.Context(), user, password))
	}}
}

// authorization returns the credentials of the Authorization header. If the header is missing
// or has another scheme, it returns [rest.ErrNoCredentials].
func authorization(r *http.Request, scheme string, maxLength int) (string, error) {
	values := r.Header["Authorization"]
	if len(values) == 0 {
		return "", rest.ErrNoCredentials
	}
	if len(values) > 1 {
		return "", bad("there is more than one Authorization header")
	}
	word, credentials, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(word, scheme) {
		return "", rest.ErrNoCredentials
	}
	credentials = strings.Trim(credentials, " ")
	switch {
	case credentials == "":
		return "", bad("the Authorization header has nothing after its scheme")
	case len(credentials) > maxLength:
		return "", bad("the credentials are too long")
	default:
		return credentials, nil
	}
}

// isToken reports whether s is a b64token of RFC 6750.
func isToken(s string) bool {
	s = strings.TrimRight(s, "=")
	for _, c := range []byte(s) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '-', c == '.', c == '_', c == '~', c == '+', c == '/':
		default:
			return false
		}
	}
	return s != ""
}
