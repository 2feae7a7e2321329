package google_test

import (
	"bytes"
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spoolhq/spool/server/verify/google"
)

const (
	audience = "https://agents.example.com/api/queue/agent-run"
	account  = "tasks@project.iam.gserviceaccount.com"
	now      = 1_700_000_000
)

// keys are made once: finding primes is slow.
var keys = sync.OnceValue(func() (keys [3]*rsa.PrivateKey) {
	for i := range keys {
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			panic(err)
		}
		keys[i] = key
	}
	return keys
})

// provider publishes keys, without a network.
type provider struct {
	mu        sync.Mutex
	published []*rsa.PrivateKey
	// answer is what comes instead of keys, and failure instead of an answer.
	status  int
	answer  string
	failure error
	loads   int
	// block, if there is one, holds up an answer until it is closed.
	block chan struct{}
}

func (p *provider) set(change func(p *provider)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(p)
}

func (p *provider) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.loads
}

// RoundTrip implements [http.RoundTripper].
func (p *provider) RoundTrip(r *http.Request) (*http.Response, error) {
	p.mu.Lock()
	p.loads++
	block := p.block
	p.mu.Unlock()
	if block != nil {
		select {
		case <-block:
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()

	if p.failure != nil {
		return nil, p.failure
	}
	status, text := http.StatusOK, []byte(p.answer)
	if p.status != 0 {
		status = p.status
	}
	if p.answer == "" {
		text = keySet(p.published...)
	}
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Body: io.NopCloser(bytes.NewReader(text)), Request: r,
		Header: http.Header{"Location": {"https://elsewhere.example/"}},
	}, nil
}

func keySet(list ...*rsa.PrivateKey) []byte {
	var set []map[string]string
	for _, key := range list {
		exponent := binary.BigEndian.AppendUint32(nil, uint32(key.E))
		set = append(set, map[string]string{
			"kty": "RSA", "use": "sig", "alg": "RS256", "kid": encode(key.N.Bytes()[:8]),
			"n": encode(key.N.Bytes()), "e": encode(bytes.TrimLeft(exponent, "\x00")),
		})
	}
	text, err := json.Marshal(map[string]any{"keys": set})
	if err != nil {
		panic(err)
	}
	return text
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// clock stands where a test puts it.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Unix(now, 0)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

type object = map[string]any

// token is one of Google's unless a test changes it.
type token struct {
	header, claims object
	key            *rsa.PrivateKey
	mangle         func(text string) string
}

func good() *token {
	return &token{
		header: object{"alg": "RS256", "typ": "JWT", "kid": "any"},
		claims: object{
			"iss": "https://accounts.google.com", "aud": audience, "sub": "113774264463038321964",
			"azp": "113774264463038321964", "email": account, "email_verified": true, "iat": now - 60, "exp": now + 3540,
		},
		key: keys()[0],
	}
}

func (k *token) claim(name string, value any) { k.claims[name] = value }

func (k *token) text(t *testing.T) string {
	t.Helper()

	var parts []string
	for _, part := range []object{k.header, k.claims} {
		b, err := json.Marshal(part)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, encode(b))
	}
	text := strings.Join(parts, ".")
	hash := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, k.key, crypto.SHA256, hash[:])
	if err != nil {
		t.Fatal(err)
	}
	text += "." + encode(signature)
	if k.mangle != nil {
		text = k.mangle(text)
	}
	return text
}

// withSecret signs again with what is public, taken for a secret.
func withSecret(key *rsa.PrivateKey) func(string) string {
	return func(text string) string {
		text = text[:strings.LastIndex(text, ".")]
		mac := hmac.New(sha256.New, key.N.Bytes())
		mac.Write([]byte(text))
		return text + "." + encode(mac.Sum(nil))
	}
}

type bundle struct {
	provider *provider
	clock    *clock
	verifier *google.Verifier
}

func setup(t *testing.T) *bundle {
	t.Helper()

	b := &bundle{provider: &provider{published: []*rsa.PrivateKey{keys()[1], keys()[0]}}, clock: newClock()}
	v, err := google.New(google.Config{
		Audience: audience, ServiceAccounts: []string{"other@project.iam.gserviceaccount.com", account},
		Client: &http.Client{Transport: b.provider}, Clock: b.clock,
	})
	if err != nil {
		t.Fatal(err)
	}
	b.verifier = v
	return b
}

func (b *bundle) verify(t *testing.T, k *token) error {
	t.Helper()
	return b.verifier.Verify(request(t, k.text(t)), []byte("{}"))
}

func request(t *testing.T, text string) *http.Request {
	t.Helper()

	r := (&http.Request{Header: http.Header{}}).WithContext(t.Context())
	r.Header.Set("Authorization", "Bearer "+text)
	return r
}

var errNetwork = errors.New("no route to host")
