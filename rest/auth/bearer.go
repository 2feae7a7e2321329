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

// Bearer finds the principal by the token of "Authorization: Bearer <token>" (RFC 6750). A
// token that has other characters than RFC 6750 allows is wrong.
//
// The challenge of a 401 is `Bearer realm="api"`, to which error="invalid_token" is added
// when there was a token.
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
			return nil, bad("the bearer token has characters that no token has")
		}
		return principal(lookup(r.Context(), token))
	}}
}

// Basic finds the principal by the user name and password of "Authorization: Basic
// <credentials>" (RFC 7617), which are UTF-8. A password may have colons. Credentials that
// are not what the RFC says are wrong and not looked up.
//
// The lookup has the rules of the package comment, and compares with [Equal] or a hash made
// for passwords. To answer an unknown user as slowly as a wrong password is up to it.
//
// Browsers remember a password and send it by themselves, so unsafe requests from pages of
// other sites are refused as those with cookies are.
func Basic[P rest.Principal](lookup func(ctx context.Context, user, password string) (P, error), options ...Option) rest.Authenticator {
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
		// Base64 makes four bytes of three.
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
			return nil, bad("the basic credentials are no name and password")
		}
		return principal(lookup(r.Context(), user, password))
	}}
}

// authorization returns the credentials behind a scheme. With another scheme there are none.
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
		return "", bad("the Authorization header has nothing behind its scheme")
	case len(credentials) > maxLength:
		return "", bad("the credentials are too long")
	default:
		return credentials, nil
	}
}

// isToken reports whether s is a b64token of RFC 6750.
func isToken(s string) bool {
	s = strings.TrimRight(s, "=")
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~+/") == ""
}
