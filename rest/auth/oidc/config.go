package oidc

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// Config says which tokens are valid.
type Config struct {
	// Issuer is the address of the provider, exactly as in its tokens. Required.
	Issuer string
	// Audience is whom the tokens must be for: the client ID in ID tokens, and the name of
	// this program in access tokens. Required, unless AnyAudience is true.
	Audience string

	// Algorithms are the allowed signature algorithms: RS256, RS384, RS512, PS256, PS384,
	// PS512, ES256, ES384, ES512 or EdDSA. Defaults to those that the provider lists.
	Algorithms []string
	// AllowHTTP allows plain HTTP to the provider, where anybody on the network path can
	// impersonate it. Defaults to false.
	AllowHTTP bool
	// AnyAudience accepts tokens that the provider issued for other programs. Each of those
	// programs can then use its users' tokens here. Defaults to false.
	AnyAudience bool
	// Client makes the requests to the provider. Its transport and timeout are used. Defaults
	// to [http.DefaultTransport].
	Client *http.Client
	// MaxBytes is the maximum length of an answer of the provider. Defaults to 256 KiB.
	MaxBytes int64
	// MaxLength is the maximum length of a token in bytes. Defaults to 8192.
	MaxLength int
	// MaxStale is how long the provider's last answer is used if the provider cannot be
	// reached. Defaults to 24 hours.
	MaxStale time.Duration
	// MinRefresh is the minimum time between two requests for the provider's metadata, and
	// between two for its keys, however many tokens name unknown keys. Defaults to 10 seconds.
	MinRefresh time.Duration
	// Timeout is the time limit of a request to the provider. Defaults to 5 seconds.
	Timeout time.Duration
	// TTL is how long the provider's answer is used before the provider is asked again.
	// Defaults to an hour.
	TTL time.Duration
}

// asymmetric are the algorithms with public keys, which a provider can publish.
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
		return errors.New("the configuration has both Audience and AnyAudience")
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
