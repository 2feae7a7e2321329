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

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/verify/internal/header"
)

const (
	issuer = "https://accounts.google.com"
	// DefaultKeysURL is where Google publishes its keys.
	DefaultKeysURL = "https://www.googleapis.com/oauth2/v3/certs"
)

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
	tokens   *oidc.IDTokenVerifier
	accounts []string
}

// New returns a verifier. It returns an [spool.Invalid] error that names the field for a
// configuration that cannot work. It makes no request.
func New(c Config) (*Verifier, error) {
	if err := c.complete(); err != nil {
		return nil, err
	}
	keys := newKeySet(c)
	return &Verifier{
		keys: keys,
		tokens: oidc.NewVerifier(issuer, keys, &oidc.Config{
			ClientID: c.Audience, SupportedSigningAlgs: []string{oidc.RS256}, Now: c.Clock.Now,
		}),
		accounts: slices.Clone(c.ServiceAccounts),
	}, nil
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
	// Here rather than below the library, which makes text of all errors.
	if _, err := v.keys.get(r.Context()); err != nil {
		return &spool.Error{Code: spool.Unavailable, Message: "the keys of Google cannot be loaded", Err: err}
	}
	token, err := v.tokens.Verify(r.Context(), raw)
	if err != nil {
		return fmt.Errorf("verify the token of Google: %w", err)
	}
	var said struct {
		Email    string `json:"email"`
		Verified bool   `json:"email_verified"` //nolint:tagliatelle // the name in the protocol
	}
	if err := token.Claims(&said); err != nil {
		return errors.New("the token of Google has malformed claims")
	}
	switch {
	case !slices.Contains(v.accounts, said.Email):
		return fmt.Errorf("the token of Google is for the account %.100q, which may not deliver", said.Email)
	case !said.Verified:
		return errors.New("the token of Google is for an address that is not verified")
	default:
		return nil
	}
}
