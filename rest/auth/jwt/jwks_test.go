package jwt_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/auth/jwt"
)

// jwkOf writes a public key as a set has it, with members that change it; nil removes one.
func jwkOf(public any, change map[string]any) map[string]any {
	encode := base64.RawURLEncoding.EncodeToString
	var key map[string]any
	switch public := public.(type) {
	case *rsa.PublicKey:
		key = map[string]any{"kty": "RSA", "n": encode(public.N.Bytes()), "e": encode(big.NewInt(int64(public.E)).Bytes())}
	case *ecdsa.PublicKey:
		point := must(public.Bytes())
		half := len(point) / 2
		key = map[string]any{
			"kty": "EC", "crv": public.Curve.Params().Name, "x": encode(point[1 : 1+half]), "y": encode(point[1+half:]),
		}
	case ed25519.PublicKey:
		key = map[string]any{"kty": "OKP", "crv": "Ed25519", "x": encode(public)}
	case []byte:
		key = map[string]any{"kty": "oct", "k": encode(public)}
	}
	for name, value := range change {
		key[name] = value
		if value == nil {
			delete(key, name)
		}
	}
	return key
}

func setOf(keys ...map[string]any) string {
	return string(must(json.Marshal(map[string]any{"keys": keys})))
}

// issuer serves a set of keys without a network, so that time can be fake.
type issuer struct {
	mu       sync.Mutex
	set      string
	status   int
	requests []string
	location string
}

func (i *issuer) RoundTrip(r *http.Request) (*http.Response, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.requests = append(i.requests, r.URL.String())
	w := httptest.NewRecorder()
	switch {
	case i.location != "":
		w.Header().Set("Location", i.location)
		w.WriteHeader(http.StatusFound)
	case i.status != 0:
		w.WriteHeader(i.status)
	default:
		_, _ = io.WriteString(w, i.set)
	}
	response := w.Result()
	response.Request = r
	return response, nil
}

func (i *issuer) say(set string, status int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.set, i.status = set, status
}

func (i *issuer) count() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.requests)
}

func (i *issuer) config() jwt.Config {
	return jwt.Config{
		Algorithms: []string{"RS256", "ES256", "ES384", "ES512", "EdDSA", "HS256"},
		Keys:       jwt.JWKS("https://id.example.org/keys", &jwt.JWKSOptions{Client: &http.Client{Transport: i}}),
	}
}

func TestJWKSKinds(t *testing.T) {
	t.Parallel()

	for _, algorithm := range []string{"RS256", "ES256", "ES384", "ES512", "EdDSA"} {
		private, public := keyOf(algorithm)
		token := sign(t, jwt.SignerConfig{Algorithm: algorithm, Key: private, KeyID: "k"}, jwt.Claims{"sub": "ada"})
		for name, test := range map[string]struct {
			change map[string]any
			want   bool
		}{
			"plain":              {nil, true},
			"with an algorithm":  {map[string]any{"alg": algorithm}, true},
			"for signatures":     {map[string]any{"use": "sig", "key_ops": []string{"verify"}}, true},
			"for encryption":     {map[string]any{"use": "enc"}, false},
			"for wrapping":       {map[string]any{"key_ops": []string{"wrapKey"}}, false},
			"another algorithm":  {map[string]any{"alg": "PS512"}, false},
			"another id":         {map[string]any{"kid": "other"}, false},
			"an unknown kind":    {map[string]any{"kty": "AKP"}, false},
			"a secret's kind":    {map[string]any{"kty": "oct", "k": "c2VjcmV0"}, false},
			"an id that is none": {map[string]any{"kid": 7}, false},
		} {
			change := map[string]any{"kid": "k"}
			maps.Copy(change, test.change)
			i := &issuer{set: setOf(jwkOf(public, change), jwkOf(otherKey(), map[string]any{"kid": "else"}))}
			if _, err := verify(t, i.config(), token); (err == nil) != test.want {
				t.Errorf("%s, %s: %v, want good to be %v", algorithm, name, err, test.want)
			}
		}
	}
}

func otherKey() ed25519.PublicKey {
	return edPublic(ed25519.NewKeyFromSeed([]byte(strings.Repeat("e", 32))))
}

func TestJWKSBrokenKeys(t *testing.T) {
	t.Parallel()

	for name, key := range map[string]map[string]any{
		"no modulus":         jwkOf(&rsaKey().PublicKey, map[string]any{"n": nil}),
		"a modulus of signs": jwkOf(&rsaKey().PublicKey, map[string]any{"n": "!!"}),
		"a short modulus":    jwkOf(&weakRSA().PublicKey, nil),
		"a huge modulus":     jwkOf(&rsaKey().PublicKey, map[string]any{"n": strings.Repeat("_", 3000)}),
		"an exponent of one": jwkOf(&rsaKey().PublicKey, map[string]any{"e": "AQ"}),
		"an even exponent":   jwkOf(&rsaKey().PublicKey, map[string]any{"e": "Ag"}),
		"a huge exponent":    jwkOf(&rsaKey().PublicKey, map[string]any{"e": "AQAAAAAAAAAB"}),
		"no point":           jwkOf(&ecKey().PublicKey, map[string]any{"x": nil}),
		"a point beside the curve": jwkOf(&ecKey().PublicKey,
			map[string]any{"x": base64.RawURLEncoding.EncodeToString(make([]byte, 32))}),
		"a point of another curve":   jwkOf(&ecKey().PublicKey, map[string]any{"crv": "P-384"}),
		"a curve that is not ours":   jwkOf(&ecKey().PublicKey, map[string]any{"crv": "secp256k1"}),
		"half an Ed25519 key":        jwkOf(edPublic(edKey), map[string]any{"x": "AAAA"}),
		"an Ed448 key":               jwkOf(edPublic(edKey), map[string]any{"crv": "Ed448"}),
		"a secret":                   jwkOf(secret, nil),
		"an algorithm of no key":     jwkOf(&rsaKey().PublicKey, map[string]any{"alg": "RSA-OAEP"}),
		"an algorithm of a secret":   jwkOf(&rsaKey().PublicKey, map[string]any{"alg": "HS256"}),
		"a modulus that is a number": jwkOf(&rsaKey().PublicKey, map[string]any{"n": 7}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			token := sign(t, jwt.SignerConfig{Algorithm: "EdDSA", Key: edKey}, jwt.Claims{"sub": "ada"})

			// It does not keep the others from being used,
			i := &issuer{set: setOf(key, jwkOf(edPublic(edKey), nil))}
			if _, err := verify(t, i.config(), token); err != nil {
				t.Errorf("beside a good key: %v", err)
			}
			// and alone it is a fault of the issuer.
			i = &issuer{set: setOf(key)}
			wantUnavailable(t, i.config(), token)
		})
	}
}

func wantUnavailable(t *testing.T, config jwt.Config, token string) {
	t.Helper()
	_, err := must(jwt.NewVerifier(config)).Verify(t.Context(), token)
	var e *rest.Error
	if !errors.As(err, &e) || e.Status != http.StatusServiceUnavailable {
		t.Errorf("got %v, want a 503", err)
	}
}

func TestJWKSAway(t *testing.T) {
	t.Parallel()

	good := setOf(jwkOf(edPublic(edKey), nil))
	token := sign(t, jwt.SignerConfig{Algorithm: "EdDSA", Key: edKey}, jwt.Claims{"sub": "ada"})
	many := make([]map[string]any, 101)
	for i := range many {
		many[i] = jwkOf(edPublic(edKey), nil)
	}
	for name, i := range map[string]*issuer{
		"an error":           {status: http.StatusInternalServerError},
		"no content":         {status: http.StatusNoContent},
		"no JSON":            {set: "<html>"},
		"no set":             {set: "[]"},
		"no keys":            {set: "{}"},
		"too long":           {set: good + strings.Repeat(" ", 256<<10)},
		"too many":           {set: setOf(many...)},
		"a redirect to http": {location: "http://id.example.org/keys"},
		"a redirect to file": {location: "file:///keys"},
		"a loop":             {location: "https://id.example.org/keys"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantUnavailable(t, i.config(), token)
			for _, to := range i.requests {
				if !strings.HasPrefix(to, "https://") {
					t.Errorf("it asked %s", to)
				}
			}
			if len(i.requests) > 4 {
				t.Errorf("it asked %d times", len(i.requests))
			}
		})
	}
}

func TestJWKSRotation(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		_, second := keyOf("ES256")
		old := func() string {
			return sign(t, jwt.SignerConfig{Algorithm: "EdDSA", Key: edKey, KeyID: "1"}, jwt.Claims{"sub": "ada"})
		}
		after := sign(t, jwt.SignerConfig{Algorithm: "ES256", Key: ecKey(), KeyID: "2"}, jwt.Claims{"sub": "ada"})
		both := setOf(jwkOf(edPublic(edKey), map[string]any{"kid": "1"}), jwkOf(second, map[string]any{"kid": "2"}))
		i := &issuer{set: setOf(jwkOf(edPublic(edKey), map[string]any{"kid": "1"}))}
		config := i.config()
		good := func(name, token string, want bool, requests int) {
			t.Helper()
			if _, err := verify(t, config, token); (err == nil) != want {
				t.Errorf("%s: %v, want good to be %v", name, err, want)
			}
			synctest.Wait()
			if got := i.count(); got != requests {
				t.Errorf("%s: %d requests, want %d", name, got, requests)
			}
		}
		good("the first", old(), true, 1)
		good("a key that nobody has, too early to ask", after, false, 1)
		i.say(both, 0)
		<-time.After(10 * time.Second)
		good("a new key", after, true, 2)
		good("the old key", old(), true, 2)
		for n := range 50 {
			forged := sign(t, jwt.SignerConfig{Algorithm: "EdDSA", Key: edKey, KeyID: fmt.Sprint("x", n)},
				jwt.Claims{"sub": "eve"})
			good("a flood of unknown keys", forged, false, 2)
		}

		// The set gets old: it is asked for again, and nobody waits.
		<-time.After(10 * time.Minute)
		i.say("", http.StatusBadGateway)
		good("an old set", old(), true, 3)
		<-time.After(23 * time.Hour)
		good("a set that cannot be loaded again", old(), true, 4)
		<-time.After(time.Hour)
		wantUnavailable(t, config, old())
		i.say(both, 0)
		<-time.After(10 * time.Second)
		good("a set that is back", old(), true, 6)
	})
}

func TestJWKSOneRequestForMany(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		token := sign(t, jwt.SignerConfig{Algorithm: "EdDSA", Key: edKey}, jwt.Claims{"sub": "ada"})
		i := &issuer{set: setOf(jwkOf(edPublic(edKey), nil))}
		v := must(jwt.NewVerifier(i.config()))
		var group sync.WaitGroup
		for range 50 {
			group.Go(func() {
				if _, err := v.Verify(t.Context(), token); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if got := i.count(); got != 1 {
			t.Errorf("%d requests, want 1", got)
		}
	})
}

func TestJWKSOverTLS(t *testing.T) {
	t.Parallel()

	set := setOf(jwkOf(&rsaKey().PublicKey, map[string]any{"kid": "k"}))
	mux := http.NewServeMux()
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, set) })
	mux.Handle("/old", http.RedirectHandler("/keys", http.StatusMovedPermanently))
	server := httptest.NewTLSServer(mux)
	t.Cleanup(server.Close)

	token := sign(t, jwt.SignerConfig{Algorithm: "RS256", Key: rsaKey(), KeyID: "k"}, jwt.Claims{"sub": "ada"})
	for _, path := range []string{"/keys", "/old"} {
		config := jwt.Config{
			Algorithms: []string{"RS256"},
			Keys:       jwt.JWKS(server.URL+path, &jwt.JWKSOptions{Client: server.Client()}),
		}
		if _, err := verify(t, config, token); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	// A server that nobody vouches for is not believed.
	wantUnavailable(t, jwt.Config{Algorithms: []string{"RS256"}, Keys: jwt.JWKS(server.URL+"/keys", nil)}, token)
}

func TestJWKSOverHTTPIfAllowed(t *testing.T) {
	t.Parallel()

	set := setOf(jwkOf(&rsaKey().PublicKey, nil))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, set)
	}))
	t.Cleanup(server.Close)
	config := jwt.Config{Algorithms: []string{"RS256"}, Keys: jwt.JWKS(server.URL, &jwt.JWKSOptions{AllowHTTP: true})}
	token := sign(t, jwt.SignerConfig{Algorithm: "RS256", Key: rsaKey()}, jwt.Claims{"sub": "ada"})
	if _, err := verify(t, config, token); err != nil {
		t.Error(err)
	}
}

func FuzzJWKS(f *testing.F) {
	f.Add(setOf(jwkOf(edPublic(edKey), nil)))
	f.Add(setOf(jwkOf(&rsaKey().PublicKey, map[string]any{"alg": "RS256"})))
	f.Add(setOf(jwkOf(&ecKey().PublicKey, map[string]any{"use": "sig"})))
	f.Add(`{"keys":[{"kty":"RSA","n":"AA","e":"AQAB"},{"kty":"EC","crv":"P-256","x":"","y":""},null,7]}`)
	f.Fuzz(func(t *testing.T, set string) {
		i := &issuer{set: set}
		keys := i.config().Keys
		for _, algorithm := range algorithms {
			found, err := keys.Find(context.Background(), "", algorithm)
			if err != nil {
				return
			}
			for _, key := range found {
				if _, isSecret := key.([]byte); isSecret || strings.HasPrefix(algorithm, "HS") {
					t.Fatalf("a secret for %s came from a set", algorithm)
				}
			}
		}
	})
}
