package oidc

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// Config says whose tokens are good.
type Config struct {
	// Issuer is the address of the provider, as it writes it in its tokens. Required.
	Issuer string
	// Audience is who the tokens have to be for: a client ID in ID tokens, and the name of
	// this program in access tokens. Required, unless AnyAudience is true.
	Audience string

	// Algorithms are those that a token may be signed with: RS256, RS384, RS512, PS256,
	// PS384, PS512, ES256, ES384, ES512 or EdDSA. Defaults to those of them that the provider
	// names.
	Algorithms []string
	// AllowHTTP lets the provider be reached by plain HTTP, where anybody on the way can
	// speak for it. Defaults to false.
	AllowHTTP bool
	// AnyAudience takes tokens that the provider made for any other program: any of those can
	// then use the tokens of its users here. Defaults to false.
	AnyAudience bool
	// Client makes the requests to the provider. Its transport and timeout are used. Defaults
	// to [http.DefaultTransport].
	Client *http.Client
	// MaxBytes is how long an answer of the provider may be. Defaults to 256 KiB.
	MaxBytes int64
	// MaxLength is how many bytes a token may have. Defaults to 8192.
	MaxLength int
	// MaxStale is how long what the provider said is used while it cannot be reached.
	// Defaults to 24 hours.
	MaxStale time.Duration
	// MinRefresh is the least time between two requests for its description, and between two
	// for its keys, however many tokens come that name keys that are not known. Defaults to
	// 10 seconds.
	MinRefresh time.Duration
	// Timeout bounds a request to the provider. Defaults to 5 seconds.
	Timeout time.Duration
	// TTL is how long what the provider said is used before it is asked again. Defaults to an
	// hour.
	TTL time.Duration
}

// asymmetric are the algorithms whose keys a provider can publish.
var asymmetric = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}

func (c *Config) complete() error {
	u, err := url.Parse(c.Issuer)
	switch {
	case err != nil:
		return fmt.Errorf("issuer: %w", err)
	case u.Host == "" || u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("issuer %q is not the address of a provider", c.Issuer)
	case !c.allows(u):
		return fmt.Errorf("issuer %q is not reached by https", c.Issuer)
	case c.Audience == "" && !c.AnyAudience:
		return errors.New("the configuration names no audience")
	case c.Audience != "" && c.AnyAudience:
		return errors.New("the configuration names an audience, and wants any")
	}
	for _, algorithm := range c.Algorithms {
		if !slices.Contains(asymmetric, algorithm) {
			return fmt.Errorf("there is no algorithm %q for tokens of a provider", algorithm)
		}
	}
	orElse(&c.MaxBytes, 256<<10)
	orElse(&c.MaxLength, 8192)
	orElse(&c.MaxStale, 24*time.Hour)
	orElse(&c.MinRefresh, 10*time.Second)
	orElse(&c.Timeout, 5*time.Second)
	orElse(&c.TTL, time.Hour)
	return nil
}

func orElse[T ~int | ~int64](value *T, otherwise T) {
	if *value <= 0 {
		*value = otherwise
	}
}

func (c *Config) allows(u *url.URL) bool {
	return u.Scheme == "https" || u.Scheme == "http" && c.AllowHTTP
}
