package google

import (
	"context"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/spoolhq/spool/server/verify"
)

const (
	// minRefresh is the minimum time between two loads, so that unsigned deliveries cannot make
	// Spool flood Google.
	minRefresh  = 10 * time.Second
	maxStale    = 24 * time.Hour
	loadTimeout = 5 * time.Second
	maxKeyBytes = 256 << 10
	minKeyBits  = 2048
)

// keySet has the keys from a URL.
type keySet struct {
	client *http.Client
	clock  verify.Clock
	ttl    time.Duration
	url    string

	mu       sync.Mutex
	keys     *jwt.VerificationKeySet
	loadedAt time.Time
	triedAt  time.Time
	err      error         // of the last load
	loading  chan struct{} // closed when the current load ends; nil without a load
}

func newKeySet(c Config) *keySet {
	k := &keySet{clock: c.Clock, ttl: c.KeysTTL, url: c.KeysURL, client: &http.Client{
		Timeout: loadTimeout,
		// The configuration names the address of the keys: a redirect would lead to another one.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if c.Client != nil {
		k.client.Transport = c.Client.Transport
	}
	return k
}

// get returns the keys, and loads them first if there are none or if they are old.
func (k *keySet) get(ctx context.Context) (*jwt.VerificationKeySet, error) {
	k.mu.Lock()
	known, loadedAt := k.keys, k.loadedAt
	k.mu.Unlock()
	if known != nil && k.clock.Now().Sub(loadedAt) < k.ttl {
		return known, nil
	}
	return k.renew(ctx, known)
}

// renew returns newer keys than known, if there are any. It loads them, or waits for a load that
// is under way. If a load has just been tried, it returns the keys that are there.
func (k *keySet) renew(ctx context.Context, known *jwt.VerificationKeySet) (*jwt.VerificationKeySet, error) {
	loading, mine := k.begin(known)
	if mine {
		k.loadForAll(ctx)
	} else if loading != nil {
		select {
		case <-loading:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()

	if k.keys != nil && k.clock.Now().Sub(k.loadedAt) < max(maxStale, k.ttl) {
		return k.keys, nil
	}
	return nil, k.err
}

// begin returns the load that is under way, if there is one. If mine is true, the caller must
// execute that load.
func (k *keySet) begin(known *jwt.VerificationKeySet) (loading chan struct{}, mine bool) {
	k.mu.Lock()
	defer k.mu.Unlock()

	now := k.clock.Now()
	switch {
	case k.keys != known:
		return nil, false
	case k.loading != nil:
		return k.loading, false
	case !k.triedAt.IsZero() && now.Sub(k.triedAt) < minRefresh:
		return nil, false
	default:
		k.loading, k.triedAt = make(chan struct{}), now
		return k.loading, true
	}
}

// loadForAll executes a load. Other requests wait for it, so it ends the load even if the caller's
// request ends early or panics.
func (k *keySet) loadForAll(ctx context.Context) {
	keys, err := (*jwt.VerificationKeySet)(nil), errors.New("the load of keys broke off")
	defer func() {
		k.mu.Lock()
		defer k.mu.Unlock()

		if k.err = err; err == nil {
			k.keys, k.loadedAt = keys, k.clock.Now()
		}
		close(k.loading)
		k.loading = nil
	}()
	keys, err = k.load(context.WithoutCancel(ctx))
}

func (k *keySet) load(ctx context.Context) (*jwt.VerificationKeySet, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, k.url, http.NoBody)
	if err != nil {
		return nil, err
	}
	res, err := k.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("load keys from %s: %s", k.url, res.Status)
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, maxKeyBytes))
	if err != nil {
		return nil, fmt.Errorf("load keys from %s: %w", k.url, err)
	}
	return parseKeys(text)
}

// parseKeys reads a JSON Web Key Set and returns the keys that can sign with RS256.
func parseKeys(text []byte) (*jwt.VerificationKeySet, error) {
	var set struct {
		Keys []struct {
			Kty, Use, Alg, N, E string
		}
	}
	if err := json.Unmarshal(text, &set); err != nil { //nolint:forbidigo // the keys of Google's own server
		return nil, fmt.Errorf("read keys: %w", err)
	}
	out := &jwt.VerificationKeySet{}
	for _, k := range set.Keys {
		if k.Kty != "RSA" || k.Use != "" && k.Use != "sig" || k.Alg != "" && k.Alg != jwt.SigningMethodRS256.Alg() {
			continue
		}
		if key := publicKey(k.N, k.E); key != nil {
			out.Keys = append(out.Keys, key)
		}
	}
	if len(out.Keys) == 0 {
		return nil, errors.New("read keys: there is none that can be used")
	}
	return out, nil
}

// publicKey returns nil if the numbers are not a key, or a weak one.
func publicKey(modulus, exponent string) *rsa.PublicKey {
	n, errN := base64.RawURLEncoding.DecodeString(modulus)
	e, errE := base64.RawURLEncoding.DecodeString(exponent)
	if errN != nil || errE != nil || len(e) > 4 {
		return nil
	}
	key := &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(new(big.Int).SetBytes(e).Int64())}
	if key.N.BitLen() < minKeyBits || key.E < 3 {
		return nil
	}
	return key
}
