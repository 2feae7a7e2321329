package google

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/verify/internal/header"
)

// DefaultKeysURL is where Google publishes its keys.
const DefaultKeysURL = "https://www.googleapis.com/oauth2/v3/certs"

// Config says which deliveries are good.
type Config struct {
	// Audience is what the tokens have to be for, exactly as it was given to the queue,
	// which takes the URL of the delivery when it was given none. Required.
	Audience string
	// ServiceAccounts are the email addresses of those who may deliver. Without them,
	// everybody who has an account at Google could. Required.
	ServiceAccounts []string

	// Client makes the requests for keys. Its transport is used. Defaults to
	// [http.DefaultTransport].
	Client *http.Client
	// Clock tells the time. Defaults to [spool.SystemClock].
	Clock spool.Clock
	// KeysTTL is how long keys are used before they are loaded again. Defaults to an hour.
	KeysTTL time.Duration
	// KeysURL is where the keys are, an https address, or an http one of this machine.
	// Defaults to [DefaultKeysURL].
	KeysURL string
}

// Verifier proves that a delivery comes from a service account. It is safe for concurrent
// use.
type Verifier struct {
	keys     *keySet
	clock    spool.Clock
	audience string
	accounts []string
}

// New returns a verifier. It returns an [spool.Invalid] error that names the field for a
// configuration that cannot work. It makes no request.
func New(c Config) (*Verifier, error) {
	if err := c.complete(); err != nil {
		return nil, err
	}
	return &Verifier{keys: newKeySet(c), clock: c.Clock, audience: c.Audience, accounts: slices.Clone(c.ServiceAccounts)}, nil
}

func (c *Config) complete() error {
	switch {
	case c.Audience == "":
		return spool.Errorf(spool.Invalid, "Audience is required")
	case len(c.ServiceAccounts) == 0:
		return spool.Errorf(spool.Invalid, "ServiceAccounts is required")
	case c.KeysTTL < 0:
		return spool.Errorf(spool.Invalid, "KeysTTL must not be negative")
	}
	for i, account := range c.ServiceAccounts {
		if name, host, ok := strings.Cut(account, "@"); !ok || name == "" || host == "" {
			return spool.Errorf(spool.Invalid, "ServiceAccounts[%d] must be an email address", i)
		}
	}
	if c.Clock == nil {
		c.Clock = spool.SystemClock{}
	}
	if c.KeysTTL == 0 {
		c.KeysTTL = time.Hour
	}
	if c.KeysURL == "" {
		c.KeysURL = DefaultKeysURL
	}
	if !safe(c.KeysURL) {
		return spool.Errorf(spool.Invalid, "KeysURL must be an https address, or an http one of this machine")
	}
	return nil
}

// safe reports whether nobody on the way can put keys of their own in the place of those
// that are published there.
func safe(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || ip.IsLoopback())
}

// Verify is [Verifier.VerifyHeader]: the token says nothing about the body.
func (v *Verifier) Verify(r *http.Request, _ []byte) error { return v.VerifyHeader(r) }

// VerifyHeader returns an error unless the request bears a token that Google has signed for the
// audience, this time and one of the service accounts, whose address is verified. The error has
// no token in it. It is [spool.Unavailable] when the keys cannot be loaded, which says nothing
// about the delivery.
func (v *Verifier) VerifyHeader(r *http.Request) error {
	raw, err := header.Bearer(r.Header)
	if err != nil {
		return err
	}
	keys, err := v.keys.get(r.Context())
	if err != nil {
		return &spool.Error{Code: spool.Unavailable, Message: "the keys of Google cannot be loaded", Err: err}
	}
	token, err := parse(raw, keys)
	if errors.Is(err, jwt.ErrTokenSignatureInvalid) { // no key fits: the right one may be new
		if newer, failure := v.keys.renew(r.Context(), keys); failure == nil && newer != keys {
			token, err = parse(raw, newer)
		}
	}
	if err != nil {
		return fmt.Errorf("verify the token of Google: %w", err)
	}
	return v.check(token)
}
