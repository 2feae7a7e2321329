package jwt

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	gojwt "github.com/golang-jwt/jwt/v5"
)

// Config says which tokens are valid.
type Config struct {
	// Algorithms are the allowed signature algorithms: HS256, HS384, HS512, RS256, RS384,
	// RS512, PS256, PS384, PS512, ES256, ES384, ES512 or EdDSA. At least one is required.
	Algorithms []string
	// Keys finds the keys that check signatures: [Static] or [JWKS]. Required.
	Keys Keys

	// AllowNoExpiry accepts tokens that never expire. Defaults to false.
	AllowNoExpiry bool
	// Audience lists the names of this program; a token's aud claim must have one of them. If
	// it is empty, tokens for other programs are accepted too. Defaults to none.
	Audience []string
	// Issuer is the required iss claim. Defaults to any.
	Issuer string
	// Leeway is the allowed difference between the clocks of the issuer and of this program.
	// Defaults to none.
	Leeway time.Duration
	// MaxLength is the maximum length of a token in bytes. Defaults to 8192.
	MaxLength int
	// Type is the required typ header, for example "at+jwt". It keeps tokens for one purpose,
	// such as refresh tokens, from being used for another. Defaults to any.
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
		return fmt.Errorf("the leeway %s is negative", c.Leeway)
	case c.MaxLength < 0:
		return fmt.Errorf("the maximum length %d is negative", c.MaxLength)
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
