package oidc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
)

// discover loads the provider's metadata and its keys.
func discover(ctx context.Context, config *Config) (*gooidc.IDTokenVerifier, error) {
	ctx = gooidc.ClientContext(ctx, config.client(nil))
	provider, err := gooidc.NewProvider(ctx, config.Issuer)
	if err != nil {
		return nil, fmt.Errorf("discover %s: %w", config.Issuer, err)
	}
	var said struct {
		KeysURL    string   `json:"jwks_uri"`                              //nolint:tagliatelle // the name in the protocol
		Algorithms []string `json:"id_token_signing_alg_values_supported"` //nolint:tagliatelle // the name in the protocol
	}
	if err := provider.Claims(&said); err != nil {
		return nil, fmt.Errorf("discover %s: %w", config.Issuer, err)
	}
	if said.KeysURL == "" {
		return nil, fmt.Errorf("discover %s: its metadata has no jwks_uri", config.Issuer)
	}
	algorithms := config.Algorithms
	if len(algorithms) == 0 {
		algorithms = slices.DeleteFunc(said.Algorithms, func(a string) bool { return !slices.Contains(asymmetric, a) })
	}
	keys := gooidc.NewRemoteKeySet(gooidc.ClientContext(ctx, config.client(&seldom{least: config.MinRefresh})),
		said.KeysURL)
	if _, err := keys.VerifySignature(ctx, nobodysToken); failedToLoad(err) {
		return nil, fmt.Errorf("discover %s: %w", config.Issuer, err)
	}
	return gooidc.NewVerifier(config.Issuer, &keySet{keys}, &gooidc.Config{
		ClientID: config.Audience, SkipClientIDCheck: config.AnyAudience, SupportedSigningAlgs: algorithms,
	}), nil
}

// nobodysToken has an invalid signature. Checking it makes the key set load its keys.
// Otherwise a provider whose metadata loads but whose keys do not would replace one that
// works.
const nobodysToken = "eyJhbGciOiJSUzI1NiJ9.e30.AA" //nolint:gosec // not a credential

// failedToLoad reports whether the error is a failure to load keys, and not an invalid token.
func failedToLoad(err error) bool {
	return err != nil && strings.HasPrefix(err.Error(), "fetching keys ") && !errors.Is(err, errTooSoon)
}

// errUnavailable means that the provider cannot be reached or has failed; the token may be
// valid.
var errUnavailable = errors.New("the keys of the provider cannot be loaded")

// keySet reports why a signature could not be checked. The gooidc verifier keeps that error
// only as text, so keySet stores it under faultKey.
type keySet struct{ remote *gooidc.RemoteKeySet }

// VerifySignature implements [gooidc.KeySet].
func (k *keySet) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	payload, err := k.remote.VerifySignature(ctx, token)
	if err == nil {
		return payload, nil
	}
	if failedToLoad(err) {
		if report, ok := ctx.Value(faultKey{}).(*error); ok {
			*report = fmt.Errorf("%w: %w", errUnavailable, err)
		}
	}
	return nil, err
}

// faultKey is the context key of the *error that receives the failure to load keys.
type faultKey struct{}

// errTooSoon is the error of a request for keys soon after the last one.
var errTooSoon = errors.New("the keys have just been loaded")

// seldom allows one request, and the next one only after the time least.
type seldom struct {
	least time.Duration

	mu   sync.Mutex
	last time.Time
	err  error
}

func (s *seldom) begin() error {
	s.mu.Lock()
	defer s.mu.Unlock()

	if !s.last.IsZero() && time.Since(s.last) < s.least {
		if s.err != nil {
			return s.err
		}
		return errTooSoon
	}
	s.last = time.Now()
	return nil
}

func (s *seldom) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.err = err
}

func (c *Config) client(limit *seldom) *http.Client {
	client := http.Client{Timeout: c.Timeout, Transport: &transport{config: c, limit: limit, next: http.DefaultTransport}}
	if c.Client != nil && c.Client.Transport != nil {
		client.Transport = &transport{config: c, limit: limit, next: c.Client.Transport}
	}
	if c.Client != nil && c.Client.Timeout > 0 {
		client.Timeout = min(c.Timeout, c.Client.Timeout)
	}
	client.CheckRedirect = func(_ *http.Request, via []*http.Request) error {
		const most = 3
		if len(via) > most {
			return errors.New("there are too many redirects")
		}
		return nil
	}
	return &client
}

// transport enforces the limits of the configuration: no plain HTTP, also in redirects and in
// addresses from the provider, no long answers, and no requests in quick succession.
type transport struct {
	config *Config
	limit  *seldom
	next   http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if !t.config.allows(r.URL) {
		return nil, fmt.Errorf("%s is not https", r.URL.Redacted())
	}
	// A redirect belongs to the request that was redirected.
	if t.limit == nil || r.Response != nil {
		return t.fetch(r)
	}
	if err := t.limit.begin(); err != nil {
		return nil, err
	}
	response, err := t.fetch(r)
	t.limit.end(err)
	return response, err
}

// fetch reads the whole answer, so that a failure while reading is an error of the request. An
// error status is an error too.
func (t *transport) fetch(r *http.Request) (*http.Response, error) {
	response, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, t.config.MaxBytes+1))
	if err != nil {
		return nil, err
	}
	if int64(len(text)) > t.config.MaxBytes {
		return nil, fmt.Errorf("the answer of %s is longer than %d bytes", r.URL.Redacted(), t.config.MaxBytes)
	}
	if response.StatusCode >= http.StatusBadRequest {
		return nil, fmt.Errorf("the answer of %s is %s", r.URL.Redacted(), response.Status)
	}
	response.Body = io.NopCloser(bytes.NewReader(text))
	response.ContentLength = int64(len(text))
	return response, nil
}
