package google_test

import (
	"crypto/rsa"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/verify"
	"github.com/spoolhq/spool/server/verify/google"
)

var _ verify.Verifier = (*google.Verifier)(nil)

func TestVerify(t *testing.T) {
	t.Parallel()

	const badSignature = "signature is invalid"
	const badEmail = "which may not deliver"
	signature := func(text string) string { return text[strings.LastIndex(text, ".")+1:] }
	for name, c := range map[string]struct {
		change func(k *token)
		want   string // a part of the error
	}{
		"Good":           {},
		"OtherKey":       {change: func(k *token) { k.key = keys()[1] }},
		"ShortIssuer":    {change: func(k *token) { k.claim("iss", "accounts.google.com") }},
		"OneOfAudiences": {change: func(k *token) { k.claim("aud", []string{"x", audience}) }},
		"WrongKey":       {change: func(k *token) { k.key = keys()[2] }, want: badSignature},
		"OtherIssuer":    {change: func(k *token) { k.claim("iss", "https://evil.example") }, want: "not by Google"},
		"NoIssuer":       {change: func(k *token) { delete(k.claims, "iss") }, want: "not by Google"},
		"OtherAudience": {
			change: func(k *token) { k.claim("aud", "https://other.example.com/") }, want: "is for the audience",
		},
		"LongerAudience":  {change: func(k *token) { k.claim("aud", audience+"/") }, want: "is for the audience"},
		"NoAudience":      {change: func(k *token) { delete(k.claims, "aud") }, want: "is for the audience"},
		"OtherAccount":    {change: func(k *token) { k.claim("email", "eve@evil.iam.gserviceaccount.com") }, want: badEmail},
		"NoAccount":       {change: func(k *token) { delete(k.claims, "email") }, want: badEmail},
		"AccountNoText":   {change: func(k *token) { k.claim("email", 7) }, want: "token is malformed"},
		"AccountPrefix":   {change: func(k *token) { k.claim("email", account+".evil.example") }, want: badEmail},
		"Unverified":      {change: func(k *token) { k.claim("email_verified", false) }, want: "not verified"},
		"VerifiedMissing": {change: func(k *token) { delete(k.claims, "email_verified") }, want: "not verified"},
		"VerifiedText":    {change: func(k *token) { k.claim("email_verified", "true") }, want: "token is malformed"},
		"Expired":         {change: func(k *token) { k.claim("exp", now-1) }, want: "is expired"},
		"NoExpiry":        {change: func(k *token) { delete(k.claims, "exp") }, want: "is expired"},
		"NotYetValid":     {change: func(k *token) { k.claim("nbf", now+301) }, want: "not valid yet"},
		"AlgNone":         {change: func(k *token) { k.header["alg"] = "none" }, want: `signed with "none"`},
		"AlgNoneUnsigned": {change: func(k *token) {
			k.header["alg"] = "none"
			k.mangle = func(s string) string { return strings.TrimSuffix(s, signature(s)) }
		}, want: `signed with "none"`},
		"PublicKeyAsSecret": {
			change: func(k *token) { k.header["alg"] = "HS256"; k.mangle = withSecret(keys()[0]) }, want: `signed with "HS256"`,
		},
		"CriticalHeader": {change: func(k *token) { k.header["crit"] = []string{"x"} }, want: "critical headers"},
		"OwnKeyInHeader": {change: func(k *token) {
			k.key = keys()[2]
			k.header["jwk"] = object{"kty": "RSA", "n": encode(keys()[2].N.Bytes()), "e": "AQAB"}
		}, want: badSignature},
		"EmptySignature": {change: func(k *token) {
			k.mangle = func(s string) string { return strings.TrimSuffix(s, signature(s)) }
		}, want: badSignature},
		"ChangedClaims": {change: func(k *token) {
			k.mangle = func(s string) string {
				parts := strings.Split(s, ".")
				parts[1] = encode([]byte(`{"iss":"https://accounts.google.com","aud":"` + audience + `","email":"` + account +
					`","email_verified":true,"exp":9999999999}`))
				return strings.Join(parts, ".")
			}
		}, want: badSignature},
		"Garbage": {change: func(k *token) { k.mangle = func(string) string { return "a.b.c" } }, want: "token is malformed"},
		"Empty":   {change: func(k *token) { k.mangle = func(string) string { return "" } }, want: "no bearer token"},
		"TooLong": {
			change: func(k *token) { k.claim("pad", strings.Repeat("x", 8192)) }, want: "the header Authorization is too long",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b, k := setup(t), good()
			if c.change != nil {
				c.change(k)
			}
			expect(t, b.verify(t, k), c.want)
		})
	}
}

func TestVerifyUnsigned(t *testing.T) {
	t.Parallel()

	b := setup(t)
	expect(t, b.verifier.Verify(&http.Request{Header: http.Header{}}, nil), "the header Authorization is missing")
	r := request(t, good().text(t))
	r.Header.Add("Authorization", "Bearer x")
	expect(t, b.verifier.Verify(r, nil), "the header Authorization is there twice")
	if b.provider.count() != 0 {
		t.Error("keys were loaded for a request without a token")
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()

	fine := google.Config{Audience: audience, ServiceAccounts: []string{account}}
	for name, c := range map[string]struct {
		change func(c *google.Config)
		want   string
	}{
		"NoAudience": {func(c *google.Config) { c.Audience = "" }, "Audience is required"},
		"NoAccounts": {func(c *google.Config) { c.ServiceAccounts = nil }, "ServiceAccounts is required"},
		"EmptyOne": {
			func(c *google.Config) { c.ServiceAccounts = []string{account, ""} }, "ServiceAccounts[1] must be an email address",
		},
		"NoEmail": {
			func(c *google.Config) { c.ServiceAccounts = []string{"tasks"} }, "ServiceAccounts[0] must be an email address",
		},
		"KeysTTL": {func(c *google.Config) { c.KeysTTL = -1 }, "KeysTTL must not be negative"},
		"PlainHTTP": {
			func(c *google.Config) { c.KeysURL = "http://keys.example/" },
			"KeysURL must be an https address, or an http one of this machine",
		},
		"NoURL": {
			func(c *google.Config) { c.KeysURL = "keys" }, "KeysURL must be an https address, or an http one of this machine",
		},
		"Loopback":    {func(c *google.Config) { c.KeysURL = "http://127.0.0.1:1/keys" }, ""},
		"LoopbackSix": {func(c *google.Config) { c.KeysURL = "http://[::1]:1/keys" }, ""},
		"Fine":        {func(*google.Config) {}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			config := fine
			c.change(&config)
			_, err := google.New(config)
			if c.want == "" && err == nil {
				return
			}
			if spool.CodeOf(err) != spool.Invalid || spool.MessageOf(err) != c.want {
				t.Errorf("New = %v, want %q", err, c.want)
			}
		})
	}
}

// A key that Google has taken back is not good for ever, and one that is new is found.
func TestKeysRotate(t *testing.T) {
	t.Parallel()

	b := setup(t)
	older, newer := good(), good()
	newer.key = keys()[2]
	older.claim("exp", now+86_400*2)
	newer.claim("exp", now+86_400*2)
	expect(t, b.verify(t, older), "")
	b.provider.set(func(p *provider) { p.published = []*rsa.PrivateKey{keys()[2]} })

	// Not at once: a token that nobody has signed looks alike.
	expect(t, b.verify(t, newer), "signature is invalid")
	b.clock.advance(10 * time.Second)
	expect(t, b.verify(t, newer), "")
	expect(t, b.verify(t, older), "signature is invalid")

	// Without an unknown key it is time that reloads them.
	b.provider.set(func(p *provider) { p.published = []*rsa.PrivateKey{keys()[1]} })
	expect(t, b.verify(t, newer), "")
	b.clock.advance(time.Hour)
	expect(t, b.verify(t, newer), "signature is invalid")
}

// expect looks for a part in the text of an error, and for a token, which is not in it.
func expect(t *testing.T, err error, part string) {
	t.Helper()

	switch {
	case part == "" && err != nil:
		t.Errorf("Verify = %v", err)
	case part != "" && (err == nil || !strings.Contains(err.Error(), part)):
		t.Errorf("Verify = %v, want %q in it", err, part)
	}
	if err != nil && strings.Contains(err.Error(), "eyJ") {
		t.Errorf("the error has the token: %v", err)
	}
}
