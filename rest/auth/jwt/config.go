package jwt

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	gojwt "github.com/golang-jwt/jwt/v5"
)

// Config says which tokens are good.
type Config struct {
	// Algorithms are those that a token may be signed with: HS256, HS384, HS512, RS256,
	// RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512 or EdDSA. At least one.
	Algorithms []string
	// Keys finds what a signature is checked with: [Static] or [JWKS].
	Keys Keys

	// AllowNoExpiry lets tokens in that never expire. Defaults to false.
	AllowNoExpiry bool
	// Audience are names of this program, of which a token's aud claim has to have one.
	// Without it, tokens that were made for others are good here too. Defaults to none.
	Audience []string
	// Issuer is what the iss claim has to be. Defaults to none.
	Issuer string
	// Leeway is by how much the clocks of the issuer and of this program may differ.
	// Defaults to none.
	Leeway time.Duration
	// MaxLength is how many bytes a token may have. Defaults to 8192.
	MaxLength int
	// Type is what the typ header has to be, "at+jwt" for example. It keeps tokens of one
	// purpose, such as to refresh others, from being used for another one. Defaults to any.
	Type string
}

func (c Config) check() error {
	if len(c.Algorithms) == 0 {
		return errors.New("the configuration names no algorithms")
	}
	for _, algorithm := range c.Algorithms {
		if !slices.Contains(algorithms, algorithm) {
			return fmt.Errorf("there is no algorithm %q; it is one of %s", algorithm, strings.Join(algorithms, ", "))
		}
	}
	switch {
	case c.Keys == nil:
		return errors.New("the configuration has no keys")
	case c.Leeway < 0:
		return fmt.Errorf("a leeway of %s makes no sense", c.Leeway)
	case c.MaxLength < 0:
		return fmt.Errorf("a length of %d makes no sense", c.MaxLength)
	default:
		return nil
	}
}

func (c Config) parser() *gojwt.Parser {
	options := []gojwt.ParserOption{
		gojwt.WithValidMethods(c.Algorithms),
		gojwt.WithLeeway(c.Leeway),
		gojwt.WithIssuedAt(),
		gojwt.WithStrictDecoding(),
	}
	if !c.AllowNoExpiry {
		options = append(options, gojwt.WithExpirationRequired())
	}
	if c.Issuer != "" {
		options = append(options, gojwt.WithIssuer(c.Issuer))
	}
	if len(c.Audience) > 0 {
		options = append(options, gojwt.WithAudience(c.Audience...))
	}
	return gojwt.NewParser(options...)
}
