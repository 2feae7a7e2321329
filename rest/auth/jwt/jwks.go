package jwt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/spoolhq/spool/rest/auth/internal/refresh"
)

// JWKSOptions are the options of [JWKS]. The zero value is ready for use.
type JWKSOptions struct {
	// AllowHTTP allows plain HTTP, where anybody on the network path can replace the keys.
	// Defaults to false.
	AllowHTTP bool
	// Client makes the requests. Its redirect policy is replaced. Defaults to a client with
	// [http.DefaultTransport].
	Client *http.Client
	// MaxBytes is the maximum length of a set. Defaults to 256 KiB.
	MaxBytes int64
	// MaxStale is how long keys are used if no newer ones can be loaded. Defaults to 24 hours.
	MaxStale time.Duration
	// MinRefresh is the minimum time between two requests, however many tokens name unknown
	// keys. Defaults to 10 seconds.
	MinRefresh time.Duration
	// Timeout is the time limit of a request. Defaults to 5 seconds.
	Timeout time.Duration
	// TTL is how long keys are used before newer ones are loaded. A key that its issuer has
	// withdrawn stays valid here for that long. Defaults to 10 minutes.
	TTL time.Duration
}

// The limits for a set of keys and for loading it.
const (
	maxKeys      = 100
	maxRedirects = 3
)

// JWKS returns the keys of the set at a URL (RFC 7517): RSA keys, EC keys and Ed25519 keys
// (OKP). It panics if the URL is invalid, or does not use https and AllowHTTP is false.
//
// The set is loaded for the first token and then kept. It is loaded again if it is old,
// without making a request wait, and if a token names an unknown key. MinRefresh limits how
// often. All requests share one load. Redirects are followed only to https.
func JWKS(address string, options *JWKSOptions) Keys {
	var o JWKSOptions
	if options != nil {
		o = *options
	}
	o.defaults()
	u, err := url.Parse(address)
	if err == nil {
		err = o.checkURL(u)
	}
	if err != nil {
		panic(fmt.Sprintf("jwt: keys at %q: %v", address, err))
	}
	s := &keySet{address: address, options: o, client: o.client()}
	s.keys = &refresh.Value[[]remoteKey]{
		Load: s.load, TTL: o.TTL, MaxAge: max(o.TTL, o.MaxStale), Retry: o.MinRefresh, Timeout: o.Timeout,
	}
	return s
}

func (o *JWKSOptions) defaults() {
	orElse(&o.MaxBytes, 256<<10)
	orElse(&o.MaxStale, 24*time.Hour)
	orElse(&o.MinRefresh, 10*time.Second)
	orElse(&o.Timeout, 5*time.Second)
	orElse(&o.TTL, 10*time.Minute)
}

func orElse[T ~int64](value *T, otherwise T) {
	if *value <= 0 {
		*value = otherwise
	}
}

func (o *JWKSOptions) checkURL(u *url.URL) error {
	switch {
	case u.Host == "":
		return errors.New("the URL has no host")
	case u.Scheme == "https", u.Scheme == "http" && o.AllowHTTP:
		return nil
	default:
		return fmt.Errorf("keys must come by https, not by %q", u.Scheme)
	}
}

func (o *JWKSOptions) client() *http.Client {
	var client http.Client
	if o.Client != nil {
		client = *o.Client
	}
	client.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return errors.New("there are too many redirects")
		}
		return o.checkURL(r.URL)
	}
	return &client
}

type keySet struct {
	address string
	options JWKSOptions
	client  *http.Client
	keys    *refresh.Value[[]remoteKey]
}

// Find implements [Keys].
func (s *keySet) Find(ctx context.Context, id, algorithm string) ([]any, error) {
	keys, err := s.keys.Get(ctx)
	if err != nil {
		return nil, err
	}
	if found := choose(keys, id, algorithm); len(found) > 0 {
		return found, nil
	}
	keys, renewed, err := s.keys.Renew(ctx)
	if err != nil || !renewed {
		return nil, err
	}
	return choose(keys, id, algorithm), nil
}

func choose(keys []remoteKey, id, algorithm string) []any {
	var found []any
	for _, key := range keys {
		if id != "" && key.id != id || key.algorithm != "" && key.algorithm != algorithm {
			continue
		}
		if fits(algorithm, key.value) == nil {
			found = append(found, key.value)
		}
	}
	return found
}

func (s *keySet) load(ctx context.Context) ([]remoteKey, error) {
	text, err := s.fetch(ctx)
	if err != nil {
		return nil, fmt.Errorf("load keys of %s: %w", s.address, err)
	}
	keys, err := parseKeys(text, maxKeys)
	if err != nil {
		return nil, fmt.Errorf("load keys of %s: %w", s.address, err)
	}
	return keys, nil
}

func (s *keySet) fetch(ctx context.Context) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.address, http.NoBody)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/jwk-set+json, application/json")
	response, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the answer is %s", response.Status)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, s.options.MaxBytes+1))
	if err != nil {
		return nil, err
	}
	if int64(len(text)) > s.options.MaxBytes {
		return nil, fmt.Errorf("the set is longer than %d bytes", s.options.MaxBytes)
	}
	return text, nil
}
