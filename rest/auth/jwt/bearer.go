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

// Bearer authenticates by tokens as [User] makes users of them. It panics when the
// configuration is wrong.
func Bearer(config Config, options ...auth.Option) rest.Authenticator {
	return BearerAs(config, User, options...)
}

// BearerAs authenticates by tokens, of which principal makes the program's own principals.
// It is called with the claims of good tokens only, and returns what an [auth.Lookup] does:
// nil when the claims belong to no principal. It panics when the configuration is wrong.
func BearerAs[P rest.Principal](config Config, principal func(ctx context.Context, claims Claims) (P, error), options ...auth.Option) rest.Authenticator {
	if principal == nil {
		panic("jwt: BearerAs has no function that makes principals")
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
	return auth.Bearer(lookup, append([]auth.Option{auth.BearerFormat("JWT"), auth.MaxLength(v.config.MaxLength)}, options...)...)
}

// Verifier checks tokens that came some other way than in a request's header: a token to
// refresh others with, in a body. It is safe for concurrent use.
type Verifier struct {
	config Config
	parser *gojwt.Parser
}

// NewVerifier returns a verifier, or an error when the configuration is wrong.
func NewVerifier(config Config) (*Verifier, error) {
	if err := config.check(); err != nil {
		return nil, err
	}
	if config.MaxLength == 0 {
		config.MaxLength = 8192
	}
	return &Verifier{config: config, parser: config.parser()}, nil
}

// Verify returns the claims of a good token. A token that is not good is
// [rest.ErrBadCredentials], and keys that could not be loaded are a [rest.Error] with the
// status 503.
func (v *Verifier) Verify(ctx context.Context, token string) (Claims, error) {
	if len(token) > v.config.MaxLength {
		return nil, fmt.Errorf("%w: the token is too long", rest.ErrBadCredentials)
	}
	if strings.ContainsFunc(token, outsideToken) { // decoders of base64 pass over line breaks
		return nil, fmt.Errorf("%w: the token has characters that no token has", rest.ErrBadCredentials)
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

// outsideToken reports whether a character is none of the compact form of a token (RFC 7515).
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
		return nil, errors.New("the id of the token's key is no text")
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
		// Not left to a source of keys: this is what keeps a public key from being a secret.
		if len(set.Keys) < maxTries && fits(algorithm, key) == nil {
			set.Keys = append(set.Keys, key)
		}
	}
	if len(set.Keys) == 0 {
		return nil, errors.New("no known key has signed the token")
	}
	return set, nil
}

// maxTries is how many signatures are checked for one token, which are all of the same id,
// or have none.
const maxTries = 8

// sameType compares types of media, which may lack their beginning (RFC 7515, 4.1.9).
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
