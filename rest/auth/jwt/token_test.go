package jwt_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	gojwt "github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/auth/jwt"
)

var (
	secret   = []byte(strings.Repeat("0123456789abcdef", 4))
	rsaKey   = sync.OnceValue(func() *rsa.PrivateKey { return must(rsa.GenerateKey(rand.Reader, 2048)) })
	weakRSA  = sync.OnceValue(func() *rsa.PrivateKey { return must(rsa.GenerateKey(rand.Reader, 1024)) })
	ecKey    = sync.OnceValue(func() *ecdsa.PrivateKey { return must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)) })
	ecKey384 = sync.OnceValue(func() *ecdsa.PrivateKey { return must(ecdsa.GenerateKey(elliptic.P384(), rand.Reader)) })
	ecKey521 = sync.OnceValue(func() *ecdsa.PrivateKey { return must(ecdsa.GenerateKey(elliptic.P521(), rand.Reader)) })
	edKey    = ed25519.NewKeyFromSeed([]byte(strings.Repeat("s", 32)))
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func edPublic(key ed25519.PrivateKey) ed25519.PublicKey {
	public, _ := key.Public().(ed25519.PublicKey)
	return public
}

// keyOf returns a key that an algorithm signs with, and one that it is checked with.
func keyOf(algorithm string) (private, public any) {
	switch algorithm[:2] + algorithm[len(algorithm)-1:] {
	case "ES6":
		return ecKey(), &ecKey().PublicKey
	case "ES4":
		return ecKey384(), &ecKey384().PublicKey
	case "ES2":
		return ecKey521(), &ecKey521().PublicKey
	case "EdA":
		return edKey, edPublic(edKey)
	}
	if strings.HasPrefix(algorithm, "HS") {
		return secret, secret
	}
	return rsaKey(), &rsaKey().PublicKey
}

var algorithms = []string{
	"HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
}

func TestEveryAlgorithm(t *testing.T) {
	t.Parallel()

	tokens := map[string]string{}
	for _, algorithm := range algorithms {
		private, _ := keyOf(algorithm)
		tokens[algorithm] = sign(t, jwt.SignerConfig{Algorithm: algorithm, Key: private}, jwt.Claims{"sub": "ada"})
	}
	for _, algorithm := range algorithms {
		t.Run(algorithm, func(t *testing.T) {
			t.Parallel()
			_, public := keyOf(algorithm)
			config := jwt.Config{
				Algorithms: []string{algorithm},
				Keys:       jwt.Static(jwt.Key{Algorithm: algorithm, Value: public}),
			}
			for signed, token := range tokens {
				claims, err := verify(t, config, token)
				if (err == nil) != (signed == algorithm) {
					t.Errorf("a token of %s: %v", signed, err)
				}
				if err == nil && claims.Subject() != "ada" {
					t.Errorf("the claims are %v", claims)
				}
			}
		})
	}
}

func sign(t *testing.T, config jwt.SignerConfig, claims jwt.Claims) string {
	t.Helper()
	signer, err := jwt.NewSigner(config)
	if err != nil {
		t.Fatal(err)
	}
	token, err := signer.Sign(claims, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func verify(t *testing.T, config jwt.Config, token string) (jwt.Claims, error) {
	t.Helper()
	v, err := jwt.NewVerifier(config)
	if err != nil {
		t.Fatal(err)
	}
	claims, err := v.Verify(t.Context(), token)
	if err != nil && !errors.Is(err, rest.ErrBadCredentials) {
		t.Errorf("%v is not bad credentials", err)
	}
	return claims, err
}

// raw signs header and claims as they are with HS256.
func raw(t *testing.T, header map[string]any, claims any) string {
	t.Helper()
	encode := func(v any) string {
		text, ok := v.(string)
		if !ok {
			text = string(must(json.Marshal(v)))
		}
		return base64.RawURLEncoding.EncodeToString([]byte(text))
	}
	all := map[string]any{"alg": "HS256", "typ": "JWT"}
	maps.Copy(all, header)
	signed := encode(all) + "." + encode(claims)
	signature, err := gojwt.SigningMethodHS256.Sign(signed, secret)
	if err != nil {
		t.Fatal(err)
	}
	return signed + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func TestWhatATokenMustSay(t *testing.T) {
	t.Parallel()

	now := time.Now().Unix()
	good := func(change map[string]any) map[string]any {
		claims := map[string]any{
			"sub": "ada", "iss": "https://id", "aud": []string{"other", "shop"}, "exp": now + 60, "iat": now,
		}
		maps.Copy(claims, change)
		maps.DeleteFunc(claims, func(_ string, v any) bool { return v == nil })
		return claims
	}
	strict := jwt.Config{Issuer: "https://id", Audience: []string{"shop", "shop2"}}
	type object = map[string]any
	for name, test := range map[string]struct {
		config jwt.Config
		header object
		claims any
		want   bool
	}{
		"good":                      {strict, nil, good(nil), true},
		"one audience":              {strict, nil, good(object{"aud": "shop2"}), true},
		"another audience":          {strict, nil, good(object{"aud": "other"}), false},
		"no audience":               {strict, nil, good(object{"aud": nil}), false},
		"any audience":              {jwt.Config{}, nil, good(object{"aud": nil}), true},
		"another issuer":            {strict, nil, good(object{"iss": "https://id/"}), false},
		"no issuer":                 {strict, nil, good(object{"iss": nil}), false},
		"expired":                   {strict, nil, good(object{"exp": now - 10}), false},
		"expired within leeway":     {jwt.Config{Leeway: time.Minute}, nil, good(object{"exp": now - 10}), true},
		"expired beyond leeway":     {jwt.Config{Leeway: time.Minute}, nil, good(object{"exp": now - 100}), false},
		"no expiry":                 {strict, nil, good(object{"exp": nil}), false},
		"no expiry, allowed":        {jwt.Config{AllowNoExpiry: true}, nil, good(object{"exp": nil}), true},
		"expired, none allowed":     {jwt.Config{AllowNoExpiry: true}, nil, good(object{"exp": now - 10}), false},
		"an expiry that is text":    {strict, nil, good(object{"exp": "tomorrow"}), false},
		"not yet":                   {strict, nil, good(object{"nbf": now + 60}), false},
		"from the future":           {strict, nil, good(object{"iat": now + 60}), false},
		"no object":                 {strict, nil, `"claims"`, false},
		"broken claims":             {strict, nil, `{"sub":`, false},
		"critical":                  {strict, object{"crit": []string{"exp"}}, good(nil), false},
		"a type":                    {jwt.Config{Type: "at+jwt"}, object{"typ": "application/AT+JWT"}, good(nil), true},
		"another type":              {jwt.Config{Type: "at+jwt"}, object{"typ": "rt+jwt"}, good(nil), false},
		"no type":                   {jwt.Config{Type: "at+jwt"}, object{"typ": nil}, good(nil), false},
		"any type":                  {jwt.Config{}, object{"typ": 7}, good(nil), true},
		"a key's id":                {strict, object{"kid": "1"}, good(nil), true},
		"a key's id that is a list": {strict, object{"kid": []string{"1"}}, good(nil), false},
		"too long":                  {jwt.Config{MaxLength: 100}, nil, good(nil), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := test.config
			config.Algorithms = []string{"HS256"}
			config.Keys = jwt.Static(jwt.Key{Algorithm: "HS256", Value: secret})
			if _, err := verify(t, config, raw(t, test.header, test.claims)); (err == nil) != test.want {
				t.Errorf("%v, want good to be %v", err, test.want)
			}
		})
	}
}

func TestForgedTokens(t *testing.T) {
	t.Parallel()

	claims := gojwt.MapClaims{"sub": "ada", "exp": time.Now().Add(time.Hour).Unix()}
	none := must(gojwt.NewWithClaims(gojwt.SigningMethodNone, claims).SignedString(gojwt.UnsafeAllowNoneSignatureType))
	good := sign(t, jwt.SignerConfig{Algorithm: "RS256", Key: rsaKey()}, jwt.Claims{"sub": "ada"})
	parts := strings.Split(good, ".")
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := strings.IndexByte(alphabet, good[len(good)-1])
	modulus := rsaKey().N.Bytes()
	confused := must(gojwt.NewWithClaims(gojwt.SigningMethodHS256, claims).SignedString(modulus))
	config := jwt.Config{
		// Even when both kinds of algorithms are allowed, a key is of one of them.
		Algorithms: []string{"RS256", "HS256"},
		Keys: jwt.Static(
			jwt.Key{Algorithm: "RS256", Value: &rsaKey().PublicKey},
			jwt.Key{Algorithm: "HS256", Value: secret},
		),
	}
	if _, err := verify(t, config, good); err != nil {
		t.Fatalf("the good one: %v", err)
	}
	for name, token := range map[string]string{
		"empty":                  "",
		"words":                  "to.be",
		"four parts":             good + ".x",
		"alg none":               none,
		"no signature":           parts[0] + "." + parts[1] + ".",
		"another's signature":    parts[0] + "." + parts[1] + "." + parts[2][4:] + parts[2][:4],
		"a public key as secret": confused,
		"another key": sign(t, jwt.SignerConfig{Algorithm: "HS256", Key: []byte(strings.Repeat("x", 32))},
			jwt.Claims{"sub": "ada"}),
		"an algorithm of another key": sign(t, jwt.SignerConfig{Algorithm: "PS256", Key: rsaKey()}, jwt.Claims{"sub": "ada"}),
		// The same signature, but not the same text: who keeps lists of tokens would be misled.
		"odd bits": good[:len(good)-1] + alphabet[last^1:last^1+1],
		"padding":  parts[0] + "." + parts[1] + "=." + parts[2],
	} {
		if _, err := verify(t, config, token); err == nil {
			t.Errorf("%s: the token is good", name)
		}
	}
}

// loose is a source of keys that says yes to everything.
type loose struct{ keys []any }

func (l loose) Find(context.Context, string, string) ([]any, error) { return l.keys, nil }

func TestASourceOfKeysCannotConfuseThem(t *testing.T) {
	t.Parallel()

	config := jwt.Config{Algorithms: []string{"HS256", "RS256", "ES256"}, Keys: loose{[]any{
		&ecKey384().PublicKey, &weakRSA().PublicKey, []byte("short"), []byte(nil), "text", nil, (*rsa.PublicKey)(nil),
	}}}
	claims := gojwt.MapClaims{"sub": "ada", "exp": time.Now().Add(time.Hour).Unix()}
	for name, token := range map[string]string{
		"a short secret": must(gojwt.NewWithClaims(gojwt.SigningMethodHS256, claims).SignedString([]byte("short"))),
		"no secret":      must(gojwt.NewWithClaims(gojwt.SigningMethodHS256, claims).SignedString([]byte{})),
		"a short key":    must(gojwt.NewWithClaims(gojwt.SigningMethodRS256, claims).SignedString(weakRSA())),
	} {
		if _, err := verify(t, config, token); err == nil {
			t.Errorf("%s: the token is good", name)
		}
	}
}

func TestKeysByID(t *testing.T) {
	t.Parallel()

	first, second := secret, []byte(strings.Repeat("second", 10))
	signed := func(id string, key []byte) string {
		return sign(t, jwt.SignerConfig{Algorithm: "HS256", Key: key, KeyID: id}, jwt.Claims{"sub": "ada"})
	}
	named := jwt.Static(jwt.Key{ID: "1", Algorithm: "HS256", Value: first},
		jwt.Key{ID: "2", Algorithm: "HS256", Value: second})
	nameless := jwt.Static(jwt.Key{Algorithm: "HS256", Value: first})
	for name, test := range map[string]struct {
		keys  jwt.Keys
		token string
		want  bool
	}{
		"the first":            {named, signed("1", first), true},
		"the second":           {named, signed("2", second), true},
		"another's name":       {named, signed("1", second), false},
		"an unknown name":      {named, signed("3", first), false},
		"no name":              {named, signed("", second), true},
		"a key without a name": {nameless, signed("7", first), true},
	} {
		_, err := verify(t, jwt.Config{Algorithms: []string{"HS256"}, Keys: test.keys}, test.token)
		if (err == nil) != test.want {
			t.Errorf("%s: %v, want good to be %v", name, err, test.want)
		}
	}
}

func TestSign(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		signer := must(jwt.NewSigner(jwt.SignerConfig{
			Algorithm: "EdDSA", Key: edKey, KeyID: "k", Issuer: "https://id", Audience: []string{"shop"}, Type: "rt+jwt",
		}))
		config := jwt.Config{
			Algorithms: []string{"EdDSA"}, Keys: jwt.Static(jwt.Key{ID: "k", Algorithm: "EdDSA", Value: edPublic(edKey)}),
			Issuer: "https://id", Audience: []string{"shop"}, Type: "rt+jwt",
		}
		claims := jwt.Claims{"sub": "ada", "iss": "https://evil", "exp": 1, "scope": "a b"}
		token := must(signer.Sign(claims, time.Hour))
		got, err := verify(t, config, token)
		if err != nil {
			t.Fatal(err)
		}
		if id := got.Text("jti"); len(id) < 20 {
			t.Errorf("jti %q", id)
		}
		delete(got, "jti")
		now := time.Now().Unix()
		want := jwt.Claims{
			"sub": "ada", "iss": "https://id", "aud": []any{"shop"}, "scope": "a b", "iat": float64(now),
			"exp": float64(now + 3600),
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("claims (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(jwt.Claims{"sub": "ada", "iss": "https://evil", "exp": 1, "scope": "a b"}, claims); diff != "" {
			t.Errorf("the claims of the caller changed:\n%s", diff)
		}

		<-time.After(time.Hour)
		if _, err := verify(t, config, token); err == nil {
			t.Error("it is good after its time")
		}
		if token, err := signer.Sign(claims, 0); err == nil {
			t.Errorf("a token of no time: %s", token)
		}
		config.Type = "at+jwt"
		if _, err := verify(t, config, must(signer.Sign(claims, time.Hour))); err == nil {
			t.Error("a token to refresh with is good for access")
		}
	})
}

func TestSignerRefuses(t *testing.T) {
	t.Parallel()

	for name, config := range map[string]jwt.SignerConfig{
		"nothing":              {},
		"alg none":             {Algorithm: "none", Key: secret},
		"no key":               {Algorithm: "HS256"},
		"a short secret":       {Algorithm: "HS512", Key: secret[:63]},
		"a public key":         {Algorithm: "RS256", Key: &rsaKey().PublicKey},
		"another kind":         {Algorithm: "RS256", Key: ecKey()},
		"another curve":        {Algorithm: "ES256", Key: ecKey384()},
		"a short key":          {Algorithm: "RS256", Key: weakRSA()},
		"no RSA key":           {Algorithm: "RS256", Key: (*rsa.PrivateKey)(nil)},
		"no EC key":            {Algorithm: "ES256", Key: (*ecdsa.PrivateKey)(nil)},
		"half an Ed25519 key":  {Algorithm: "EdDSA", Key: edKey[:32]},
		"a secret of a PEM":    {Algorithm: "HS256", Key: []byte("-----BEGIN PUBLIC KEY-----\n" + strings.Repeat("x", 64))},
		"a secret for a curve": {Algorithm: "ES256", Key: secret},
	} {
		if _, err := jwt.NewSigner(config); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestBuildRefuses(t *testing.T) {
	t.Parallel()

	keys := jwt.Static(jwt.Key{Algorithm: "HS256", Value: secret})
	for name, build := range map[string]func(){
		"no algorithms":        func() { jwt.Bearer(jwt.Config{Keys: keys}) },
		"alg none":             func() { jwt.Bearer(jwt.Config{Keys: keys, Algorithms: []string{"none"}}) },
		"an unknown algorithm": func() { jwt.Bearer(jwt.Config{Keys: keys, Algorithms: []string{"hs256"}}) },
		"no keys":              func() { jwt.Bearer(jwt.Config{Algorithms: []string{"HS256"}}) },
		"a leeway":             func() { jwt.Bearer(jwt.Config{Keys: keys, Algorithms: []string{"HS256"}, Leeway: -1}) },
		"a length":             func() { jwt.Bearer(jwt.Config{Keys: keys, Algorithms: []string{"HS256"}, MaxLength: -1}) },
		"no principal": func() {
			jwt.BearerAs[*rest.User](jwt.Config{Keys: keys, Algorithms: []string{"HS256"}}, nil)
		},
		"static without keys":   func() { jwt.Static() },
		"static with a private": func() { jwt.Static(jwt.Key{Algorithm: "RS256", Value: rsaKey()}) },
		"static with two of an id": func() {
			jwt.Static(jwt.Key{ID: "1", Algorithm: "HS256", Value: secret}, jwt.Key{ID: "1", Algorithm: "HS256", Value: secret})
		},
		"plain HTTP":     func() { jwt.JWKS("http://id.example.org/keys", nil) },
		"no URL":         func() { jwt.JWKS("keys", nil) },
		"another scheme": func() { jwt.JWKS("file:///keys", &jwt.JWKSOptions{AllowHTTP: true}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			build()
		})
	}
}

func TestUser(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		claims jwt.Claims
		want   *rest.User
	}{
		"words": {
			jwt.Claims{"sub": "ada", "name": "Ada", "scope": " a  b "},
			&rest.User{ID: "ada", Name: "Ada", Scopes: []string{"a", "b"}},
		},
		"a list": {
			jwt.Claims{"sub": "ada", "scope": []any{"a", 7.0, "", "b c"}},
			&rest.User{ID: "ada", Scopes: []string{"a", "b c"}},
		},
		"scp":           {jwt.Claims{"sub": "ada", "scp": []any{"a"}}, &rest.User{ID: "ada", Scopes: []string{"a"}}},
		"scope and scp": {jwt.Claims{"sub": "ada", "scope": "a", "scp": "b"}, &rest.User{ID: "ada", Scopes: []string{"a"}}},
		"an admin":      {jwt.Claims{"sub": "ada", "admin": true}, &rest.User{ID: "ada"}},
		"no subject":    {jwt.Claims{"name": "Ada"}, nil},
		"a number":      {jwt.Claims{"sub": 7.0}, nil},
	} {
		got, err := jwt.User(t.Context(), test.claims)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if (test.want == nil) != errors.Is(err, rest.ErrBadCredentials) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()

	var into struct {
		Subject string `json:"sub"`
		Level   int    `json:"level"`
	}
	claims := jwt.Claims{"sub": "ada", "level": 3.0}
	if err := claims.Decode(&into); err != nil || into.Subject != "ada" || into.Level != 3 {
		t.Errorf("%+v, %v", into, err)
	}
	if err := (jwt.Claims{"level": "x"}).Decode(&into); err == nil {
		t.Error("text became a number")
	}
}

// A token has one spelling: what decoders of base64 pass over makes it another text.
func TestTokensHaveOneSpelling(t *testing.T) {
	t.Parallel()

	v, err := jwt.NewVerifier(jwt.Config{
		Algorithms: []string{"HS256"}, Keys: jwt.Static(jwt.Key{Algorithm: "HS256", Value: secret}),
	})
	if err != nil {
		t.Fatal(err)
	}
	token := raw(t, nil, map[string]any{"sub": "ada", "exp": time.Now().Unix() + 60})
	if _, err := v.Verify(t.Context(), token); err != nil {
		t.Fatalf("the token itself: %v", err)
	}
	for _, other := range []string{
		token + "\n", token + "\r\n", "\n" + token, strings.Replace(token, ".", "\n.", 1),
		token[:len(token)-3] + "\n" + token[len(token)-3:], token + " ", token + "=", token + "\x00",
	} {
		if claims, err := v.Verify(t.Context(), other); !errors.Is(err, rest.ErrBadCredentials) {
			t.Errorf("%q: %v, %v", other, claims, err)
		}
	}
}
