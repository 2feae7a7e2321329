package qstash_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"hash"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/verify"
	"github.com/spoolhq/spool/server/verify/qstash"
)

var _ verify.Verifier = (*qstash.Verifier)(nil)

const (
	endpoint   = "https://agents.example.com/api/queue/agent-run"
	currentKey = "sig_currentcurrentcurrent"
	nextKey    = "sig_nextnextnextnextnext"
	body       = `{"threadId":"t1","runId":"r1","agent":"assistant"}`
)

// now is when the tokens of the tests are good.
const now = 1_656_580_400

type clock struct{}

func (clock) Now() time.Time { return time.Unix(now, 0) }

type object = map[string]any

// delivery is a request that is good unless a test changes it.
type delivery struct {
	header, claims object
	key, body      string
	hash           func() hash.Hash
	mangle         func(token string) string
}

func good() *delivery {
	return &delivery{
		header: object{"alg": "HS256", "typ": "JWT"},
		claims: object{
			"iss": "Upstash", "sub": endpoint, "exp": now + 200, "nbf": now - 100, "iat": now - 100,
			"jti": "jwt_67kxXD6UBAk7DqU6hzuHMDdXFXfP", "body": bodyHash(body),
		},
		key: currentKey, body: body, hash: sha256.New,
	}
}

func bodyHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.URLEncoding.EncodeToString(sum[:])
}

func (d *delivery) token(t *testing.T) string {
	t.Helper()

	var parts []string
	for _, part := range []object{d.header, d.claims} {
		text, err := json.Marshal(part)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, base64.RawURLEncoding.EncodeToString(text))
	}
	text := strings.Join(parts, ".")
	mac := hmac.New(d.hash, []byte(d.key))
	mac.Write([]byte(text))
	text += "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
	if d.mangle != nil {
		text = d.mangle(text)
	}
	return text
}

func (d *delivery) verify(t *testing.T, v *qstash.Verifier) error {
	t.Helper()
	return v.Verify(&http.Request{Header: http.Header{"Upstash-Signature": {d.token(t)}}}, []byte(d.body))
}

func (d *delivery) claim(name string, value any) { d.claims[name] = value }

func TestVerify(t *testing.T) {
	t.Parallel()

	const otherBody = "the token of QStash is for another body"
	cutSignature := func(token string) string { return token[:strings.LastIndex(token, ".")+1] }
	for name, c := range map[string]struct {
		change func(d *delivery)
		want   string // a part of the error
	}{
		"Current":         {},
		"Next":            {change: func(d *delivery) { d.key = nextKey }},
		"HashWithoutPad":  {change: func(d *delivery) { d.claim("body", strings.TrimRight(bodyHash(body), "=")) }},
		"EmptyBody":       {change: func(d *delivery) { d.body = ""; d.claim("body", bodyHash("")) }},
		"ClockABitBehind": {change: func(d *delivery) { d.claim("nbf", now+10) }},
		"ClockABitAhead":  {change: func(d *delivery) { d.claim("exp", now-9) }},
		"WrongKey":        {change: func(d *delivery) { d.key = "sig_somebodyelseskey0000" }, want: "signature is invalid"},
		"EmptyKey":        {change: func(d *delivery) { d.key = "" }, want: "signature is invalid"},
		"ChangedBody":     {change: func(d *delivery) { d.body += " " }, want: otherBody},
		"NoBodyHash":      {change: func(d *delivery) { delete(d.claims, "body") }, want: otherBody},
		"EmptyBodyHash":   {change: func(d *delivery) { d.claim("body", "") }, want: otherBody},
		"HashNoText":      {change: func(d *delivery) { d.claim("body", 7) }, want: "could not JSON decode claim"},
		"HashOfHash":      {change: func(d *delivery) { d.claim("body", bodyHash(bodyHash(body))) }, want: otherBody},
		"OtherURL": {
			change: func(d *delivery) { d.claim("sub", "https://other.example.com/api/queue/agent-run") },
			want:   "invalid subject",
		},
		"LongerURL":   {change: func(d *delivery) { d.claim("sub", endpoint+"/") }, want: "invalid subject"},
		"NoURL":       {change: func(d *delivery) { delete(d.claims, "sub") }, want: "sub claim is required"},
		"OtherIssuer": {change: func(d *delivery) { d.claim("iss", "upstash") }, want: "invalid issuer"},
		"NoIssuer":    {change: func(d *delivery) { delete(d.claims, "iss") }, want: "iss claim is required"},
		"Expired":     {change: func(d *delivery) { d.claim("exp", now-11) }, want: "token is expired"},
		"NoExpiry":    {change: func(d *delivery) { delete(d.claims, "exp") }, want: "exp claim is required"},
		"NotYetValid": {change: func(d *delivery) { d.claim("nbf", now+11) }, want: "token is not valid yet"},
		"NoBeginning": {change: func(d *delivery) { delete(d.claims, "nbf") }, want: "nbf claim is required"},
		"AlgNone": {
			change: func(d *delivery) { d.header["alg"] = "none"; d.mangle = cutSignature },
			want:   "signing method none is invalid",
		},
		"AlgNoneSigned": {change: func(d *delivery) { d.header["alg"] = "none" }, want: "signing method none is invalid"},
		"AlgNothing": {
			change: func(d *delivery) { delete(d.header, "alg") }, want: "signing method (alg) is unspecified",
		},
		"AlgStronger": {
			change: func(d *delivery) { d.header["alg"] = "HS512"; d.hash = sha512.New },
			want:   "signing method HS512 is invalid",
		},
		"Critical":       {change: func(d *delivery) { d.header["crit"] = []string{"b64"} }, want: "critical headers"},
		"EmptySignature": {change: func(d *delivery) { d.mangle = cutSignature }, want: "signature is invalid"},
		"CutSignature": {
			change: func(d *delivery) { d.mangle = func(s string) string { return s[:len(s)-3] } }, want: "signature is invalid",
		},
		"TwoParts": {
			change: func(d *delivery) { d.mangle = func(s string) string { return s[:strings.LastIndex(s, ".")] } },
			want:   "malformed",
		},
		"NoToken": {
			change: func(d *delivery) { d.mangle = func(string) string { return "" } },
			want:   "the header Upstash-Signature is missing",
		},
		"Garbage": {change: func(d *delivery) { d.mangle = func(string) string { return "a.b.c" } }, want: "malformed"},
		"TooLong": {
			change: func(d *delivery) { d.claim("pad", strings.Repeat("x", 8192)) },
			want:   "the header Upstash-Signature is too long",
		},
		"PayloadNoObject": {change: func(d *delivery) {
			d.mangle = func(s string) string { header, _, _ := strings.Cut(s, "."); return header + ".bnVsbA.AAAA" }
		}, want: "signature is invalid"},
		"SignatureOfOthers": {change: func(d *delivery) {
			d.mangle = func(s string) string { return s[:strings.LastIndex(s, ".")] + transplant }
		}, want: "signature is invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			v, err := qstash.New(qstash.Config{URL: endpoint, CurrentKey: currentKey, NextKey: nextKey, Clock: clock{}})
			if err != nil {
				t.Fatal(err)
			}
			d := good()
			if c.change != nil {
				c.change(d)
			}
			expect(t, d.verify(t, v), c.want)
		})
	}
}

// transplant is a well-formed signature of something else.
var transplant = "." + base64.RawURLEncoding.EncodeToString(make([]byte, sha256.Size))

// Rolling the keys makes the next one the current one, and brings a new next one.
func TestRotation(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		config qstash.Config
		key    string
		want   string
	}{
		"Before":    {config: qstash.Config{CurrentKey: currentKey, NextKey: nextKey}, key: currentKey},
		"Rolled":    {config: qstash.Config{CurrentKey: currentKey, NextKey: nextKey}, key: nextKey},
		"Restarted": {config: qstash.Config{CurrentKey: nextKey, NextKey: "sig_newestnewestnewest"}, key: nextKey},
		"Retired": {
			config: qstash.Config{CurrentKey: nextKey, NextKey: "sig_newestnewestnewest"}, key: currentKey,
			want: "signature is invalid",
		},
		"OnlyCurrent":  {config: qstash.Config{CurrentKey: currentKey}, key: currentKey},
		"OnlyNext":     {config: qstash.Config{NextKey: nextKey}, key: nextKey},
		"EmptyIsNoKey": {config: qstash.Config{CurrentKey: currentKey}, key: "", want: "signature is invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c.config.URL, c.config.Clock = endpoint, clock{}
			v, err := qstash.New(c.config)
			if err != nil {
				t.Fatal(err)
			}
			d := good()
			d.key = c.key
			expect(t, d.verify(t, v), c.want)
		})
	}
}

func TestLeeway(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		leeway time.Duration
		clock  verify.Clock
		exp    int64
		want   string
	}{
		"Wide":          {leeway: time.Minute, clock: clock{}, exp: now - 59},
		"None":          {leeway: -1, clock: clock{}, exp: now - 1, want: "token is expired"},
		"MachinesClock": {exp: now + 200, want: "token is expired"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			v, err := qstash.New(qstash.Config{URL: endpoint, CurrentKey: currentKey, Leeway: c.leeway, Clock: c.clock})
			if err != nil {
				t.Fatal(err)
			}
			d := good()
			d.claim("exp", c.exp)
			expect(t, d.verify(t, v), c.want)
		})
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		config qstash.Config
		want   string
	}{
		"NoURL": {
			qstash.Config{CurrentKey: currentKey}, "URL must be the http or https address to which QStash delivers",
		},
		"PathOnly": {
			qstash.Config{URL: "/api/queue/agent-run", CurrentKey: currentKey},
			"URL must be the http or https address to which QStash delivers",
		},
		"NoKeys": {qstash.Config{URL: endpoint}, "CurrentKey or NextKey is required"},
		"ShortKey": {
			qstash.Config{URL: endpoint, CurrentKey: "hunter2"}, "CurrentKey must have 16 characters or more, and no spaces",
		},
		"SpacedNext": {
			qstash.Config{URL: endpoint, CurrentKey: currentKey, NextKey: nextKey + "\n"},
			"NextKey must have 16 characters or more, and no spaces",
		},
		"Leeway": {qstash.Config{URL: endpoint, CurrentKey: currentKey, Leeway: -time.Second}, "Leeway must not be negative"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := qstash.New(c.config)
			if spool.CodeOf(err) != spool.Invalid || spool.MessageOf(err) != c.want {
				t.Errorf("New = %v, want %s", err, c.want)
			}
		})
	}
}

// expect looks for a part in the text of an error, and for what must not be in it.
func expect(t *testing.T, err error, part string) {
	t.Helper()

	switch {
	case part == "" && err != nil:
		t.Errorf("Verify = %v", err)
	case part != "" && (err == nil || !strings.Contains(err.Error(), part)):
		t.Errorf("Verify = %v, want %q in it", err, part)
	}
	for _, secret := range []string{currentKey, nextKey, "eyJ"} {
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("the error has %q in it: %v", secret, err)
		}
	}
}
