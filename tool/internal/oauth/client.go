// Package oauth gets access tokens for a protected server, with the grant of client credentials (RFC 6749,
// section 4.4) or with codes of people who sign in (section 4.1, with PKCE). It finds the endpoints by the metadata
// of the authorization server (RFC 8414, OpenID Connect Discovery) and names the protected server as the token's
// resource (RFC 8707, RFC 9728).
//
// A [Client] keeps its own tokens in memory, and returns those of people. No error of this package has a token, a
// code or the secret.
package oauth

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/spoolhq/spool"
)

// The values of [Config.Method].
const (
	MethodBasic = "basic"
	MethodPost  = "post"
)

const (
	// maxSkew is how long before its end a token is no longer used, at most.
	maxSkew = 30 * time.Second
	// failureHold is how long the error of a failed request stands. A client of a server may try two ways of
	// connecting in a row.
	failureHold = time.Second
	// maxSeen bounds how many tokens are remembered.
	maxSeen = 8
)

// Config describes a client. Check has to accept it.
type Config struct {
	// HTTP sends the requests for metadata and tokens. It follows no redirect to another host. Required.
	HTTP *http.Client
	// Server is the URL of the protected server. Required.
	Server string
	// Issuer is the authorization server. Required.
	Issuer string
	// ClientID and ClientSecret are required. With Codes, the secret may be empty.
	ClientID, ClientSecret string
	// Codes says that people sign in. Otherwise the client has credentials.
	Codes bool
	// Document says that ClientID is the URL of a client's metadata.
	Document bool
	// Scopes are asked for. Empty: the authorization server decides.
	Scopes []string
	// Resource is what the token is for. Empty: what the metadata of Server says, or Server if it has none.
	Resource string
	// Method says how the secret is sent. Empty: as the metadata of Issuer says, and [MethodBasic] if it can.
	Method string
	// Plain are hosts that may be reached without TLS, besides loopback ones.
	Plain []string
	// Timeout bounds the requests for a token together.
	Timeout time.Duration
}

// Check returns an [spool.Invalid] error that names the wrong field.
func (c Config) Check() error {
	switch {
	case !c.Codes && (c.ClientID == "" || c.ClientSecret == ""):
		return spool.Errorf(spool.Invalid, "ClientID and ClientSecret are required")
	case c.Issuer == "":
		return spool.Errorf(spool.Invalid, "Issuer is required: the secret is sent to no other authorization server")
	case c.ClientID == "":
		return spool.Errorf(spool.Invalid, "ClientID is required")
	case c.Method != "" && c.Method != MethodBasic && c.Method != MethodPost:
		return spool.Errorf(spool.Invalid, "Method must be basic or post")
	case slices.ContainsFunc(c.Scopes, func(scope string) bool { return !isScope(scope) }):
		return spool.Errorf(spool.Invalid, "Scopes must be words without spaces, quotes and backslashes")
	}
	if u, err := url.Parse(c.Issuer); err != nil || u.RawQuery != "" || u.Fragment != "" || c.checkURL(c.Issuer) != nil {
		return spool.Errorf(spool.Invalid,
			"Issuer must be an https URL without a query; http is for loopback hosts and those that Egress.Allow names")
	}
	if c.checkURL(c.Server) != nil {
		return spool.Errorf(spool.Invalid,
			"URL must have https, as its requests have access tokens; http is for loopback hosts and those that Egress.Allow names")
	}
	if u, err := url.Parse(c.Resource); err != nil || c.Resource != "" && (u.Scheme == "" || u.Fragment != "") {
		return spool.Errorf(spool.Invalid, "Resource must be an absolute URI without a fragment")
	}
	return nil
}

// isScope reports whether a text is a scope-token of RFC 6749.
func isScope(text string) bool {
	return text != "" && !strings.ContainsFunc(text,
		func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' })
}

// Client gets tokens, and keeps the present one. It is safe for concurrent use.
type Client struct {
	config Config

	fetching chan struct{} // held while a token is fetched

	mu      sync.Mutex
	token   string
	until   time.Time // zero: the token has no end
	seen    []string  // the last tokens, the newest first
	failed  error
	failure time.Time // when the last fetch failed
}

// New returns a client. It uses no network.
func New(c Config) *Client { return &Client{config: c, fetching: make(chan struct{}, 1)} }

// Token returns a token. Calls at the same time share one request for a new one, also if it fails, and
// the error stands for a second. The code of an error is [spool.Unauthorized] if the authorization server refuses the
// client, [spool.Forbidden] for an address that may not be reached, and else mostly [spool.Unavailable].
func (c *Client) Token(ctx context.Context) (string, error) {
	began := time.Now()
	if token, ok := c.valid(); ok {
		return token, nil
	}
	select {
	case c.fetching <- struct{}{}:
		defer func() { <-c.fetching }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if token, ok := c.valid(); ok {
		return token, nil
	}
	if err := c.failedLately(began); err != nil {
		return "", err
	}
	within, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	token, err := c.fetch(within)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err != nil && ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		c.failed, c.failure = explain(err), time.Now()
		return "", c.failed
	}
	c.token, c.until = token.AccessToken, usedUntil(token.Expiry)
	c.seen = append([]string{c.token}, c.seen...)
	c.seen = c.seen[:min(len(c.seen), maxSeen)]
	return c.token, nil
}

// usedUntil returns until when a token is used that ends at a time.
func usedUntil(end time.Time) time.Time {
	const part = 10
	if end.IsZero() {
		return end
	}
	return end.Add(-min(maxSkew, time.Until(end)/part))
}

// valid returns the present token, or false if there is none or it is about to end.
func (c *Client) valid() (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.token, c.token != "" && (c.until.IsZero() || time.Now().Before(c.until))
}

// failedLately returns the error of a fetch that failed after a time or just before it.
func (c *Client) failedLately(at time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failure.After(at.Add(-failureHold)) {
		return c.failed
	}
	return nil
}

// Refused forgets a token that the protected server has refused. A newer one stays.
func (c *Client) Refused(token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.token == token {
		c.token = ""
	}
}

// Seen returns the last tokens, which must not get into texts that others see.
func (c *Client) Seen() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.seen)
}

// fetch asks the authorization server for a token.
func (c *Client) fetch(ctx context.Context) (*oauth2.Token, error) {
	meta, err := c.authorizationServer(ctx)
	if err != nil {
		return nil, err
	}
	resource, err := c.resource(ctx)
	if err != nil {
		return nil, err
	}
	asked := clientcredentials.Config{
		ClientID: c.config.ClientID, ClientSecret: c.config.ClientSecret, TokenURL: meta.TokenEndpoint,
		Scopes: c.config.Scopes, EndpointParams: url.Values{"resource": {resource}},
		AuthStyle: c.style(meta.TokenEndpointAuthMethodsSupported),
	}
	token, err := asked.Token(context.WithValue(ctx, oauth2.HTTPClient, c.config.HTTP))
	switch {
	case err != nil:
		return nil, err
	case !strings.EqualFold(token.Type(), "Bearer"):
		return nil, spool.Errorf(spool.Unauthorized, "its authorization server gives tokens that are no bearer tokens")
	case strings.ContainsFunc(token.AccessToken, func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, spool.Errorf(spool.Unauthorized, "its authorization server gives tokens that no header can have")
	}
	return token, nil
}

// style returns how the secret is sent. Without a list, RFC 8414 means the header.
func (c *Client) style(methods []string) oauth2.AuthStyle {
	post := c.config.Method == MethodPost ||
		c.config.Method == "" && len(methods) > 0 && !slices.Contains(methods, "client_secret_basic") &&
			slices.Contains(methods, "client_secret_post")
	if post {
		return oauth2.AuthStyleInParams
	}
	return oauth2.AuthStyleInHeader
}
