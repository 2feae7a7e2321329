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
	"github.com/spoolhq/spool/server/verify"
	"github.com/spoolhq/spool/server/verify/internal/header"
)

// DefaultKeysURL is where Google publishes its keys.
const DefaultKeysURL = "https://www.googleapis.com/oauth2/v3/certs"

// Config says which deliveries the verifier accepts.
type Config struct {
	// Audience is the audience that the tokens must have, exactly as configured at the queue. A
	// queue without a configured audience uses the URL of the delivery. Required.
	Audience string
	// ServiceAccounts are the email addresses of the accounts that may deliver. Without this
	// list, everybody with a Google account could deliver. Required.
	ServiceAccounts []string

	// Client has the transport for requests for keys; its other fields are ignored. Defaults to a
	// client with [http.DefaultTransport].
	Client *http.Client
	// Clock tells the time. Defaults to [verify.SystemClock].
	Clock verify.Clock
	// KeysTTL is how long the verifier uses keys before it loads them again. Defaults to one hour.
	KeysTTL time.Duration
	// KeysURL is the address of the keys: an https address, or an http address of this machine.
	// Defaults to [DefaultKeysURL].
	KeysURL string
}

// Verifier proves that a delivery comes from a service account. It is safe for concurrent
// use.
type Verifier struct {
	keys     *keySet
	clock    verify.Clock
	audience string
	accounts []string
}

// New returns a verifier, and makes no request. For a configuration that cannot work, it returns
// an [spool.Invalid] error that names the field.
func New(c Config) (*Verifier, error) {
	if err := c.complete(); err != nil {
		return nil, err
	}
	return &Verifier{keys: newKeySet(c), clock: c.Clock, audience: c.Audience, accounts: slices.Clone(c.ServiceAccounts)},
		nil
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
		c.Clock = verify.SystemClock{}
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

// safe reports whether an attacker on the network cannot replace the keys that are loaded from the
// address.
func safe(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || ip.IsLoopback())
}

// Verify is [Verifier.VerifyHeader], because the token proves nothing about the body.
func (v *Verifier) Verify(r *http.Request, _ []byte) error { return v.VerifyHeader(r) }

// VerifyHeader returns an error unless the request has a bearer token that Google signed for the
// audience and for one of the service accounts, with a verified address, and that is valid now. The
// error has no token in it. Its code is [spool.Unavailable] if the keys cannot be loaded: the
// delivery may then be good or not.
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
