package jwt_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/auth/jwt"
	"github.com/spoolhq/spool/rest/permission"
)

// Shelf is a controller whose books are read by those who may.
type Shelf struct{}

// Routes implements [rest.Controller].
func (*Shelf) Routes(r *rest.Routes) {
	rest.Get(r, "/books", func(ctx context.Context, _ struct{}) (string, error) {
		return "books of " + rest.PrincipalOf(ctx).PrincipalID(), nil
	}, rest.Permit(permission.Scope("books:read")))
}

func ask(a rest.Authenticator, token string) *httptest.ResponseRecorder {
	api := rest.New(rest.Auth(a))
	api.Register(&Shelf{})
	r := httptest.NewRequest(http.MethodGet, "/books", nil)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	w := httptest.NewRecorder()
	api.ServeHTTP(w, r)
	return w
}

func TestBearerOverHTTP(t *testing.T) {
	t.Parallel()

	config := jwt.Config{Algorithms: []string{"HS256"}, Keys: jwt.Static(jwt.Key{Algorithm: "HS256", Value: secret})}
	signer := jwt.SignerConfig{Algorithm: "HS256", Key: secret}
	reader := sign(t, signer, jwt.Claims{"sub": "ada", "scope": "books:read"})
	away := config
	away.Keys = jwt.JWKS("https://id.example.org", &jwt.JWKSOptions{Client: &http.Client{Transport: &issuer{status: 500}}})
	for name, test := range map[string]struct {
		config    jwt.Config
		token     string
		want      int
		challenge string
	}{
		"good":     {config, reader, 200, ""},
		"no scope": {config, sign(t, signer, jwt.Claims{"sub": "ada"}), 403, ""},
		"nobody's": {
			config, sign(t, signer, jwt.Claims{"scope": "books:read"}), 401, `Bearer realm="api", error="invalid_token"`,
		},
		"forged":        {config, reader[:len(reader)-4] + "AAAA", 401, `Bearer realm="api", error="invalid_token"`},
		"none":          {config, "", 401, `Bearer realm="api"`},
		"too long":      {config, strings.Repeat("x", 8193), 401, `Bearer realm="api", error="invalid_token"`},
		"keys are away": {away, reader, 503, ""},
		"long, but fine": {
			config, sign(t, signer, jwt.Claims{"sub": "ada", "scope": "books:read", "x": strings.Repeat("x", 5000)}), 200, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := ask(jwt.Bearer(test.config), test.token)
			if w.Code != test.want || w.Header().Get("WWW-Authenticate") != test.challenge {
				t.Errorf("%d %q %s, want %d %q", w.Code, w.Header().Get("WWW-Authenticate"), w.Body, test.want, test.challenge)
			}
		})
	}
}

// anyKey is a source of keys that finds its key for every algorithm.
type anyKey struct{ key any }

// Find implements [jwt.Keys].
func (k anyKey) Find(context.Context, string, string) ([]any, error) { return []any{k.key}, nil }

// TestOnlyTheAlgorithmsOfTheConfig signs well, with an algorithm that the configuration does
// not name. That its key would be found does not matter.
func TestOnlyTheAlgorithmsOfTheConfig(t *testing.T) {
	t.Parallel()

	long := []byte(strings.Repeat("0123456789abcdef", 4)) // enough for each of them
	for _, algorithm := range []string{"HS256", "HS384", "HS512"} {
		token := sign(t, jwt.SignerConfig{Algorithm: algorithm, Key: long}, jwt.Claims{"sub": "ada", "scope": "books:read"})
		for _, named := range []string{"HS256", "HS384", "HS512"} {
			want := http.StatusUnauthorized
			if named == algorithm {
				want = http.StatusOK
			}
			if w := ask(jwt.Bearer(jwt.Config{Algorithms: []string{named}, Keys: anyKey{long}}), token); w.Code != want {
				t.Errorf("a token of %s, where %s is named: got %d", algorithm, named, w.Code)
			}
		}
	}
}

// Member is a program's own principal.
type Member struct{ Tenant, Name string }

// PrincipalID implements [rest.Principal].
func (m *Member) PrincipalID() string { return m.Tenant + "/" + m.Name }

// HasScope is for permission.Scope.
func (m *Member) HasScope(string) bool { return m.Tenant == "acme" }

func ExampleBearer() {
	secret := []byte("a secret of 32 bytes at the least")
	signer, err := jwt.NewSigner(jwt.SignerConfig{Algorithm: "HS256", Key: secret, Issuer: "shop"})
	if err != nil {
		fmt.Println(err)
		return
	}
	token, err := signer.Sign(jwt.Claims{"sub": "ada", "scope": "books:read"}, 5*time.Minute)
	if err != nil {
		fmt.Println(err)
		return
	}

	bearer := jwt.Bearer(jwt.Config{
		Algorithms: []string{"HS256"},
		Keys:       jwt.Static(jwt.Key{Algorithm: "HS256", Value: secret}),
		Issuer:     "shop",
	})
	fmt.Print(ask(bearer, token).Body)
	fmt.Println(ask(bearer, token+"x").Code)
	// Output:
	// "books of ada"
	// 401
}

func ExampleBearerAs() {
	config := jwt.Config{Algorithms: []string{"HS256"}, Keys: jwt.Static(jwt.Key{Algorithm: "HS256", Value: secret})}
	bearer := jwt.BearerAs(config, func(_ context.Context, claims jwt.Claims) (*Member, error) {
		if claims.Text("tenant") == "" {
			return nil, rest.ErrBadCredentials
		}
		return &Member{Tenant: claims.Text("tenant"), Name: claims.Subject()}, nil
	})
	signer, err := jwt.NewSigner(jwt.SignerConfig{Algorithm: "HS256", Key: secret})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, tenant := range []string{"acme", "other", ""} {
		token, err := signer.Sign(jwt.Claims{"sub": "ada", "tenant": tenant}, time.Minute)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(ask(bearer, token).Code)
	}
	// Output:
	// 200
	// 403
	// 401
}

// A token to refresh others with has a type of its own, and is no good anywhere else.
func ExampleSigner() {
	access := jwt.SignerConfig{Algorithm: "HS256", Key: secret, Type: "at+jwt"}
	refresh := access
	refresh.Type = "rt+jwt"

	signer, err := jwt.NewSigner(refresh)
	if err != nil {
		fmt.Println(err)
		return
	}
	token, err := signer.Sign(jwt.Claims{"sub": "ada", "scope": "books:read"}, 24*time.Hour)
	if err != nil {
		fmt.Println(err)
		return
	}

	config := jwt.Config{
		Algorithms: []string{"HS256"}, Keys: jwt.Static(jwt.Key{Algorithm: "HS256", Value: secret}), Type: "at+jwt",
	}
	fmt.Println(ask(jwt.Bearer(config), token).Code)

	config.Type = "rt+jwt"
	verifier, err := jwt.NewVerifier(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	claims, err := verifier.Verify(context.Background(), token)
	fmt.Println(claims.Subject(), err)
	// Output:
	// 401
	// ada <nil>
}

func ExampleJWKS() {
	bearer := jwt.Bearer(jwt.Config{
		Algorithms: []string{"RS256", "ES256"},
		Keys:       jwt.JWKS("https://id.example.org/keys", &jwt.JWKSOptions{TTL: time.Hour}),
		Issuer:     "https://id.example.org",
		Audience:   []string{"shop"},
	})
	fmt.Println(bearer.Scheme().HTTP, bearer.Scheme().BearerFormat)
	// Output: bearer JWT
}

func BenchmarkVerify(b *testing.B) {
	for _, algorithm := range []string{"HS256", "RS256", "ES256", "EdDSA"} {
		b.Run(algorithm, func(b *testing.B) {
			private, public := keyOf(algorithm)
			signer := must(jwt.NewSigner(jwt.SignerConfig{Algorithm: algorithm, Key: private}))
			token := must(signer.Sign(jwt.Claims{"sub": "ada", "scope": "books:read"}, time.Hour))
			v := must(jwt.NewVerifier(jwt.Config{
				Algorithms: []string{algorithm}, Keys: jwt.Static(jwt.Key{Algorithm: algorithm, Value: public}),
			}))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := v.Verify(b.Context(), token); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
