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

// discover asks the provider who it is and how it signs, and loads its keys.
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
		return nil, fmt.Errorf("discover %s: it says nothing of its keys", config.Issuer)
	}
	algorithms := config.Algorithms
	if len(algorithms) == 0 {
		algorithms = slices.DeleteFunc(said.Algorithms, func(a string) bool { return !slices.Contains(asymmetric, a) })
	}
	keys := gooidc.NewRemoteKeySet(gooidc.ClientContext(ctx, config.client(&seldom{least: config.MinRefresh})), said.KeysURL)
	if _, err := keys.VerifySignature(ctx, nobodysToken); failedToLoad(err) {
		return nil, fmt.Errorf("discover %s: %w", config.Issuer, err)
	}
	return gooidc.NewVerifier(config.Issuer, &keySet{keys}, &gooidc.Config{
		ClientID: config.Audience, SkipClientIDCheck: config.AnyAudience, SupportedSigningAlgs: algorithms,
	}), nil
}

// nobodysToken has no valid signature. Checking it makes the key set load its keys: without that,
// a provider that answers, but whose keys cannot be loaded, would replace one whose keys are there.
const nobodysToken = "eyJhbGciOiJSUzI1NiJ9.e30.AA" //nolint:gosec // not a credential

// failedToLoad tells a fault of the provider from one of the token.
func failedToLoad(err error) bool {
	return err != nil && strings.HasPrefix(err.Error(), "fetching keys ") && !errors.Is(err, errTooSoon)
}

// errUnavailable is a fault of the provider or of the way to it, and none of the token.
var errUnavailable = errors.New("the keys of the provider cannot be loaded")

// keySet tells why a signature could not be checked, which the verifier above it keeps only
// as text.
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

// faultKey is the key of a context under which a call of Verify finds its fault.
type faultKey struct{}

// errTooSoon is what a request for keys gets when the last one was just now.
var errTooSoon = errors.New("the keys have just been loaded")

// seldom lets a request through, and no other one before some time has passed.
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

// transport keeps the bounds of the configuration: no plain HTTP, also in redirects and in
// the addresses that a provider gives, no long answers, no requests in quick succession.
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
	// A redirect belongs to the request before it.
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

// fetch reads the whole answer, so that what fails on the way is an error of the request. An
// answer that says that it is none is an error too.
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
