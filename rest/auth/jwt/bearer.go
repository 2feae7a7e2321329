package jwt

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	gojwt "github.com/golang-jwt/jwt/v5"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/auth"
)

// Bearer authenticates by tokens and turns their claims into a [rest.User] with [User]. It
// panics if the configuration is wrong.
func Bearer(config Config, options ...auth.Option) rest.Authenticator {
	return BearerAs(config, User, options...)
}

// BearerAs authenticates by tokens. The function principal turns claims into the program's own
// principal. It is called only with the claims of valid tokens, and its results mean the same
// as those of an [auth.Lookup]; nil means that the claims belong to no principal. BearerAs
// panics if the configuration is wrong.
func BearerAs[P rest.Principal](
	config Config, principal func(ctx context.Context, claims Claims) (P, error), options ...auth.Option,
) rest.Authenticator {
	if principal == nil {
		panic("jwt: BearerAs needs a function that returns principals")
	}
	v, err := NewVerifier(config)
	if err != nil {
		panic("jwt: " + err.Error())
	}
	lookup := func(ctx context.Context, token string) (P, error) {
		claims, err := v.Verify(ctx, token)
		if err != nil {
			var nobody P
			return nobody, err
		}
		return principal(ctx, claims)
	}
	return auth.Bearer(lookup, append([]auth.Option{auth.BearerFormat("JWT"), auth.MaxLength(v.config.MaxLength)},
		options...)...)
}

// Verifier checks tokens that do not come in a request's header, for example a refresh token
// in a body. It is safe for concurrent use.
type Verifier struct {
	config Config
	parser *gojwt.Parser
}

// NewVerifier returns a verifier, or an error if the configuration is wrong.
func NewVerifier(config Config) (*Verifier, error) {
	if err := config.check(); err != nil {
		return nil, err
	}
	if config.MaxLength == 0 {
		config.MaxLength = 8192
	}
	return &Verifier{config: config, parser: config.parser()}, nil
}

// Verify returns the claims of a valid token. For an invalid token, the error is
// [rest.ErrBadCredentials]. If the keys could not be loaded, it is a [rest.Error] with the
// status 503.
func (v *Verifier) Verify(ctx context.Context, token string) (Claims, error) {
	if len(token) > v.config.MaxLength {
		return nil, fmt.Errorf("%w: the token is too long", rest.ErrBadCredentials)
	}
	if strings.ContainsFunc(token, outsideToken) { // base64 decoders skip line breaks
		return nil, fmt.Errorf("%w: the token has characters that a token cannot have", rest.ErrBadCredentials)
	}
	claims := gojwt.MapClaims{}
	_, err := v.parser.ParseWithClaims(token, claims, func(t *gojwt.Token) (any, error) {
		return v.keys(ctx, t)
	})
	var unavailable *rest.Error
	switch {
	case errors.As(err, &unavailable):
		return nil, unavailable
	case err != nil:
		return nil, fmt.Errorf("%w: %w", rest.ErrBadCredentials, err)
	default:
		return Claims(claims), nil
	}
}

// outsideToken reports whether the character cannot be part of a compact token (RFC 7515).
func outsideToken(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.'
}

// keys returns the keys that the token may be signed with.
func (v *Verifier) keys(ctx context.Context, t *gojwt.Token) (any, error) {
	if _, ok := t.Header["crit"]; ok {
		return nil, errors.New("the token has critical headers")
	}
	if v.config.Type != "" && !sameType(t.Header["typ"], v.config.Type) {
		return nil, fmt.Errorf("the token's type is not %s", v.config.Type)
	}
	id, ok := t.Header["kid"].(string)
	if _, given := t.Header["kid"]; given && !ok {
		return nil, errors.New("the id of the token's key is not a text")
	}
	algorithm := t.Method.Alg()
	found, err := v.config.Keys.Find(ctx, id, algorithm)
	if err != nil {
		return nil, &rest.Error{
			Status: http.StatusServiceUnavailable, Code: "unavailable", Detail: "Try again later.",
			Header: http.Header{"Retry-After": {"5"}}, Err: fmt.Errorf("find the key of a token: %w", err),
		}
	}
	var set gojwt.VerificationKeySet
	for _, key := range found {
		// Checked here for every source of keys, so that a public key is never used as a
		// secret.
		if len(set.Keys) < maxTries && fits(algorithm, key) == nil {
			set.Keys = append(set.Keys, key)
		}
	}
	if len(set.Keys) == 0 {
		return nil, errors.New("no known key has signed the token")
	}
	return set, nil
}

// maxTries is the maximum number of keys that are tried for one token.
const maxTries = 8

// sameType compares media types. The prefix "application/" may be missing (RFC 7515, 4.1.9).
func sameType(have any, want string) bool {
	typ, _ := have.(string)
	return strings.EqualFold(bare(typ), bare(want))
}

func bare(typ string) string {
	const begin = "application/"
	if len(typ) > len(begin) && strings.EqualFold(typ[:len(begin)], begin) {
		return typ[len(begin):]
	}
	return typ
}
