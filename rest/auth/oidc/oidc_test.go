package oidc_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/auth/jwt"
	"github.com/spoolhq/spool/rest/auth/oidc"
)

const address = "https://id.example.org"

// provider is an OpenID Connect provider without a network, so that time can be fake.
type provider struct {
	mu         sync.Mutex
	issuer     string
	keysURL    string
	algorithms []string
	keys       map[string]*ecdsa.PrivateKey
	fault      func(path string) (int, string, error)
	requests   map[string]int
}

func newProvider(ids ...string) *provider {
	p := &provider{
		issuer: address, keysURL: address + "/keys", algorithms: []string{"ES256", "HS256", "none"},
		keys: map[string]*ecdsa.PrivateKey{}, requests: map[string]int{},
	}
	for _, id := range ids {
		p.rotate(id)
	}
	return p
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// rotate makes a new key.
func (p *provider) rotate(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys[id] = must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
}

func (p *provider) revoke(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.keys, id)
}

// fail says what the requests get instead of an answer. Nil is an answer again.
func (p *provider) fail(fault func(path string) (int, string, error)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = fault
}

func (p *provider) count(path string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.requests[path]
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		write(w, map[string]any{
			"issuer": p.issuer, "jwks_uri": p.keysURL, "id_token_signing_alg_values_supported": p.algorithms,
		})
	case "/keys":
		var keys []map[string]string
		for id, key := range p.keys {
			point := must(key.PublicKey.Bytes())
			encode := base64.RawURLEncoding.EncodeToString
			keys = append(keys, map[string]string{
				"kty": "EC", "crv": "P-256", "kid": id, "x": encode(point[1:33]), "y": encode(point[33:]),
			})
		}
		write(w, map[string]any{"keys": keys})
	default:
		http.NotFound(w, r)
	}
}

func write(w io.Writer, v any) { _, _ = w.Write(must(json.Marshal(v))) }

func (p *provider) RoundTrip(r *http.Request) (*http.Response, error) {
	p.mu.Lock()
	p.requests[r.URL.Path]++
	fault := p.fault
	p.mu.Unlock()
	w := httptest.NewRecorder()
	if fault == nil {
		p.ServeHTTP(w, r)
	} else {
		status, body, err := fault(r.URL.Path)
		if err != nil {
			return nil, err
		}
		if status == 0 {
			p.ServeHTTP(w, r)
		} else {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	response := w.Result()
	response.Request = r
	return response, nil
}

func (p *provider) config() oidc.Config {
	return oidc.Config{Issuer: address, Audience: "shop", Client: &http.Client{Transport: p}}
}

// token is signed by a key of the provider for the audience shop.
func (p *provider) token(t *testing.T, id string, claims jwt.Claims) string {
	t.Helper()
	p.mu.Lock()
	key := p.keys[id]
	p.mu.Unlock()
	return sign(t, jwt.SignerConfig{Algorithm: "ES256", Key: key, KeyID: id, Issuer: p.issuer, Audience: []string{"shop"}},
		claims)
}

func sign(t *testing.T, config jwt.SignerConfig, claims jwt.Claims) string {
	t.Helper()
	return must(must(jwt.NewSigner(config)).Sign(claims, time.Hour))
}

// whoami answers who asks.
type whoami struct{}

func (whoami) Routes(r *rest.Routes) {
	rest.Get(r, "/me", func(ctx context.Context, _ struct{}) (string, error) {
		return rest.PrincipalOf(ctx).PrincipalID(), nil
	})
}

func newAPI(a rest.Authenticator) *rest.API {
	api := rest.New(rest.Auth(a))
	api.Register(whoami{})
	return api
}

func ask(api http.Handler, token string) int {
	r := httptest.NewRequest(http.MethodGet, "/me", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	w := httptest.NewRecorder()
	api.ServeHTTP(w, r)
	return w.Code
}

func TestTokens(t *testing.T) {
	t.Parallel()

	p := newProvider("1", "2")
	signer := func(change func(c *jwt.SignerConfig)) string {
		c := jwt.SignerConfig{Algorithm: "ES256", Key: p.keys["1"], KeyID: "1", Issuer: address, Audience: []string{"shop"}}
		change(&c)
		return sign(t, c, jwt.Claims{"sub": "ada"})
	}
	stranger := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	secret := []byte(strings.Repeat("s", 32))
	good := p.token(t, "1", jwt.Claims{"sub": "ada"})
	for name, test := range map[string]struct {
		token string
		want  int
	}{
		"good":               {good, 200},
		"by another key":     {p.token(t, "2", jwt.Claims{"sub": "ada"}), 200},
		"for others too":     {signer(func(c *jwt.SignerConfig) { c.Audience = []string{"other", "shop"} }), 200},
		"for others":         {signer(func(c *jwt.SignerConfig) { c.Audience = []string{"other"} }), 401},
		"for nobody":         {signer(func(c *jwt.SignerConfig) { c.Audience = nil }), 401},
		"another issuer":     {signer(func(c *jwt.SignerConfig) { c.Issuer = address + "/" }), 401},
		"a stranger's":       {signer(func(c *jwt.SignerConfig) { c.Key = stranger }), 401},
		"an unknown key":     {signer(func(c *jwt.SignerConfig) { c.KeyID = "9" }), 401},
		"signed by a secret": {signer(func(c *jwt.SignerConfig) { c.Algorithm, c.Key = "HS256", secret }), 401},
		"nobody's":           {p.token(t, "1", jwt.Claims{"name": "Ada"}), 401},
		"a name of numbers":  {p.token(t, "1", jwt.Claims{"sub": "ada", "name": 7}), 401},
		"words":              {"to.be", 401},
		"too long":           {strings.Repeat("x", 8193), 401},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := ask(newAPI(oidc.Bearer(p.config())), test.token); got != test.want {
				t.Errorf("%d, want %d", got, test.want)
			}
		})
	}

	anybody := p.config()
	anybody.Audience, anybody.AnyAudience = "", true
	if got := ask(
		newAPI(oidc.Bearer(anybody)), signer(func(c *jwt.SignerConfig) { c.Audience = []string{"other"} }),
	); got != 200 {
		t.Errorf("any audience: %d", got)
	}
	others := p.config()
	others.Algorithms = []string{"RS256"}
	if got := ask(newAPI(oidc.Bearer(others)), good); got != 401 {
		t.Errorf("an algorithm that is not allowed: %d, want 401", got)
	}
}

func TestExpires(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		p := newProvider("1")
		api, token := newAPI(oidc.Bearer(p.config())), p.token(t, "1", jwt.Claims{"sub": "ada"})
		<-time.After(59 * time.Minute)
		if got := ask(api, token); got != 200 {
			t.Errorf("before its end: %d", got)
		}
		<-time.After(time.Minute + time.Second)
		if got := ask(api, token); got != 401 {
			t.Errorf("after its end: %d, want 401", got)
		}
	})
}

var errNetwork = errors.New("no network")

func TestStartsWithoutTheProvider(t *testing.T) {
	t.Parallel()

	for name, fault := range map[string]func(path string) (int, string, error){
		"no network": func(string) (int, string, error) { return 0, "", errNetwork },
		"an error":   func(string) (int, string, error) { return 500, "", nil },
		"a page":     func(string) (int, string, error) { return 200, "<html>", nil },
		"another":    func(string) (int, string, error) { return 200, `{"issuer":"https://evil.example"}`, nil },
		"no keys":    func(string) (int, string, error) { return 200, `{"issuer":"` + address + `"}`, nil },
		"too long":   func(string) (int, string, error) { return 200, strings.Repeat(" ", 257<<10), nil },
		"plain keys": func(string) (int, string, error) {
			return 200, `{"issuer":"` + address + `","jwks_uri":"http://id.example.org/keys"}`, nil
		},
		"keys away":   onlyKeys(500, "", nil),
		"keys broken": onlyKeys(200, "<html>", nil),
		"keys cut":    onlyKeys(0, "", errNetwork),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newProvider("1")
				p.fail(fault)
				api, token := newAPI(oidc.Bearer(p.config())), p.token(t, "1", jwt.Claims{"sub": "ada"})
				for range 5 {
					if got := ask(api, token); got != 503 {
						t.Errorf("without the provider: %d, want 503", got)
					}
				}
				if got := p.count("/.well-known/openid-configuration"); got != 1 {
					t.Errorf("it was asked %d times at once", got)
				}
				p.fail(nil)
				<-time.After(10 * time.Second)
				if got := ask(api, token); got != 200 {
					t.Errorf("with the provider: %d, want 200", got)
				}
			})
		})
	}
}

// onlyKeys fails the requests for keys.
func onlyKeys(status int, body string, err error) func(path string) (int, string, error) {
	return func(path string) (int, string, error) {
		if path == "/keys" {
			return status, body, err
		}
		return 0, "", nil
	}
}

func TestRotation(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		p := newProvider("1")
		api := newAPI(oidc.Bearer(p.config()))
		first := func() string { return p.token(t, "1", jwt.Claims{"sub": "ada"}) }
		want := func(name, token string, status, requests int) {
			t.Helper()
			if got := ask(api, token); got != status {
				t.Errorf("%s: %d, want %d", name, got, status)
			}
			synctest.Wait()
			if got := p.count("/keys"); got != requests {
				t.Errorf("%s: keys were asked for %d times, want %d", name, got, requests)
			}
		}
		want("the first key", first(), 200, 1)
		p.rotate("2")
		second := func() string { return p.token(t, "2", jwt.Claims{"sub": "ada"}) }
		want("a new key, too early to ask", second(), 401, 1)
		<-time.After(10 * time.Second)
		want("a new key", second(), 200, 2)
		want("the first key again", first(), 200, 2)
		for n := range 20 {
			forged := sign(t, jwt.SignerConfig{
				Algorithm: "ES256", Key: must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)), KeyID: fmt.Sprint("x", n),
				Issuer: address, Audience: []string{"shop"},
			}, jwt.Claims{"sub": "eve"})
			want("a flood of unknown keys", forged, 401, 2)
		}

		// The keys cannot be loaded: what is known stays good, and what is not is no fault of
		// the token.
		p.rotate("3")
		third := p.token(t, "3", jwt.Claims{"sub": "ada"})
		p.fail(onlyKeys(0, "", errNetwork))
		<-time.After(10 * time.Second)
		want("a key that cannot be loaded", third, 503, 3)
		want("another one right after", third, 503, 3)
		want("a key that is known", second(), 200, 3)
		p.fail(nil)
		<-time.After(10 * time.Second)
		want("a key that can be loaded again", third, 200, 4)

		// A key that the provider has taken back is not good for ever, and what the provider
		// cannot say right now does not take away what it has said.
		p.revoke("1")
		<-time.After(59 * time.Minute)
		p.fail(onlyKeys(500, "", nil))
		<-time.After(time.Minute)
		want("an old description", second(), 200, 5)
		want("while it cannot be renewed", second(), 200, 5)
		p.fail(nil)
		<-time.After(10 * time.Second)
		want("still the old one, while a new one is loaded", second(), 200, 6)
	})
}

func TestARevokedKeyEnds(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		p := newProvider("1", "2")
		config := p.config()
		config.TTL = 10 * time.Minute
		api, token := newAPI(oidc.Bearer(config)), p.token(t, "1", jwt.Claims{"sub": "ada"})
		if got := ask(api, token); got != 200 {
			t.Fatalf("before: %d", got)
		}
		p.revoke("1")
		<-time.After(10 * time.Minute)
		_ = ask(api, token) // which makes it ask again
		synctest.Wait()
		if got := ask(api, token); got != 401 {
			t.Errorf("after the time to live: %d, want 401", got)
		}
	})
}

func TestOverTLS(t *testing.T) {
	t.Parallel()

	p := newProvider("1")
	server := httptest.NewTLSServer(p)
	t.Cleanup(server.Close)
	p.issuer, p.keysURL = server.URL, server.URL+"/keys"
	config := oidc.Config{Issuer: server.URL, Audience: "shop", Client: server.Client()}
	token := p.token(t, "1", jwt.Claims{"sub": "ada"})
	if got := ask(newAPI(oidc.Bearer(config)), token); got != 200 {
		t.Errorf("%d, want 200", got)
	}
	config.Client = nil // nobody vouches for the server
	if got := ask(newAPI(oidc.Bearer(config)), token); got != 503 {
		t.Errorf("a certificate of nobody: %d, want 503", got)
	}
}

func TestOverHTTPIfAllowed(t *testing.T) {
	t.Parallel()

	p := newProvider("1")
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	p.issuer, p.keysURL = server.URL, server.URL+"/keys"
	config := oidc.Config{Issuer: server.URL, Audience: "shop", AllowHTTP: true}
	if got := ask(newAPI(oidc.Bearer(config)), p.token(t, "1", jwt.Claims{"sub": "ada"})); got != 200 {
		t.Errorf("%d, want 200", got)
	}
}

func TestManyAtOnce(t *testing.T) {
	t.Parallel()

	p := newProvider("1")
	api, token := newAPI(oidc.Bearer(p.config())), p.token(t, "1", jwt.Claims{"sub": "ada"})
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			if got := ask(api, token); got != 200 {
				t.Errorf("%d, want 200", got)
			}
		})
	}
	group.Wait()
	if d, k := p.count("/.well-known/openid-configuration"), p.count("/keys"); d != 1 || k != 1 {
		t.Errorf("it was asked %d and %d times, want once each", d, k)
	}
}

func TestDocumented(t *testing.T) {
	t.Parallel()

	api := newAPI(oidc.Bearer(oidc.Config{Issuer: address + "/", Audience: "shop"}))
	w := httptest.NewRecorder()
	api.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/openapi.json", nil))
	var document struct {
		Components struct {
			SecuritySchemes map[string]map[string]any `json:"securitySchemes"`
		} `json:"components"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	scheme := document.Components.SecuritySchemes["openID"]
	if scheme["type"] != "openIdConnect" || scheme["openIdConnectUrl"] != address+"/.well-known/openid-configuration" ||
		scheme["scheme"] != nil {
		t.Errorf("scheme %v", scheme)
	}
}

func TestBuildRefuses(t *testing.T) {
	t.Parallel()

	for name, config := range map[string]oidc.Config{
		"nothing":              {},
		"plain HTTP":           {Issuer: "http://id.example.org", Audience: "shop"},
		"no host":              {Issuer: "https:///id", Audience: "shop"},
		"a query":              {Issuer: address + "?a=b", Audience: "shop"},
		"no audience":          {Issuer: address},
		"an audience and any":  {Issuer: address, Audience: "shop", AnyAudience: true},
		"a secret's algorithm": {Issuer: address, Audience: "shop", Algorithms: []string{"HS256"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			oidc.Bearer(config)
		})
	}
}
