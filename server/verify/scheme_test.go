package verify_test

import (
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spoolhq/spool/server/verify"
	"github.com/spoolhq/spool/server/verify/google"
	"github.com/spoolhq/spool/server/verify/qstash"
	"github.com/spoolhq/spool/server/verify/secret"
	"github.com/spoolhq/spool/server/verify/webhook"
)

const (
	endpoint      = "https://agents.example.com/api/queue/agent-run"
	webhookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	wrongSecret   = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	qstashKey     = "sig_currentcurrentcurrent"
	sharedSecret  = "shared-secret-0123456789"
	account       = "tasks@project.iam.gserviceaccount.com"
)

// scheme is a verifier and those who deliver to it.
type scheme struct {
	verifier func(t *testing.T) verify.Verifier
	sign     func(t *testing.T, h http.Header, body []byte)
	// forgers lack something that the queue has.
	forgers map[string]func(t *testing.T, h http.Header, body []byte)
	// needBody names the forgers whose headers alone look good.
	needBody []string
	// signsBody says that a signature is for one body only.
	signsBody bool
}

func schemes() map[string]scheme {
	return map[string]scheme{
		"Webhook": {
			verifier: func(t *testing.T) verify.Verifier {
				t.Helper()
				return made(webhook.New(webhook.Config{Secrets: []string{webhookSecret}}))(t)
			},
			sign: webhookSigner(webhookSecret, 0),
			forgers: map[string]func(*testing.T, http.Header, []byte){
				"Key": webhookSigner(wrongSecret, 0), "Replay": webhookSigner(webhookSecret, -6*time.Minute),
			},
			needBody:  []string{"Key"},
			signsBody: true,
		},
		"QStash": {
			verifier: func(t *testing.T) verify.Verifier {
				t.Helper()
				return made(qstash.New(qstash.Config{URL: endpoint, CurrentKey: qstashKey}))(t)
			},
			sign: qstashSigner(qstashKey, endpoint, 0),
			forgers: map[string]func(*testing.T, http.Header, []byte){
				"Key": qstashSigner("sig_wrongwrongwrong", endpoint, 0), "URL": qstashSigner(qstashKey, endpoint+"2", 0),
				"Replay": qstashSigner(qstashKey, endpoint, -6*time.Minute),
			},
			signsBody: true,
		},
		"Google": {
			verifier: func(t *testing.T) verify.Verifier {
				t.Helper()
				return made(google.New(google.Config{
					Audience: endpoint, ServiceAccounts: []string{account}, Client: &http.Client{Transport: published{}},
				}))(t)
			},
			sign: googleSigner(0, account, 0),
			forgers: map[string]func(*testing.T, http.Header, []byte){
				"Key": googleSigner(1, account, 0), "Account": googleSigner(0, "eve@example.com", 0),
				"Replay": googleSigner(0, account, -2*time.Hour),
			},
		},
		"Secret": {
			verifier: func(t *testing.T) verify.Verifier {
				t.Helper()
				return made(secret.New(secret.Config{Secrets: []string{sharedSecret}}))(t)
			},
			sign:    bearer(sharedSecret),
			forgers: map[string]func(*testing.T, http.Header, []byte){"Key": bearer("shared-secret-guessed")},
		},
	}
}

func made[V verify.Verifier](v V, err error) func(t *testing.T) verify.Verifier {
	return func(t *testing.T) verify.Verifier {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func webhookSigner(secret string, age time.Duration) func(*testing.T, http.Header, []byte) {
	return func(t *testing.T, h http.Header, body []byte) {
		t.Helper()

		s, err := webhook.NewSigner([]string{secret})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Sign(h, "msg_1", time.Now().Add(age), body); err != nil {
			t.Fatal(err)
		}
	}
}

func bearer(token string) func(*testing.T, http.Header, []byte) {
	return func(_ *testing.T, h http.Header, _ []byte) { h.Set("Authorization", "Bearer "+token) }
}

func qstashSigner(key, url string, age time.Duration) func(*testing.T, http.Header, []byte) {
	return func(t *testing.T, h http.Header, body []byte) {
		t.Helper()

		sum, at := sha256.Sum256(body), time.Now().Add(age).Unix()
		text := unsigned(t, "HS256", map[string]any{
			"iss": "Upstash", "sub": url, "iat": at, "nbf": at, "exp": at + 300,
			"body": base64.URLEncoding.EncodeToString(sum[:]),
		})
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write([]byte(text))
		h.Set("Upstash-Signature", text+"."+encode(mac.Sum(nil)))
	}
}

// googleKeys are one of Google's and one of somebody else's.
var googleKeys = sync.OnceValue(func() (keys [2]*rsa.PrivateKey) {
	for i := range keys {
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			panic(err)
		}
		keys[i] = key
	}
	return keys
})

// published answers with the keys of Google.
type published struct{}

func (published) RoundTrip(r *http.Request) (*http.Response, error) {
	text := fmt.Sprintf(`{"keys":[{"kty":"RSA","alg":"RS256","use":"sig","e":"AQAB","n":%q}]}`,
		encode(googleKeys()[0].N.Bytes()))
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(text)), Request: r}, nil
}

func googleSigner(key int, email string, age time.Duration) func(*testing.T, http.Header, []byte) {
	return func(t *testing.T, h http.Header, _ []byte) {
		t.Helper()

		at := time.Now().Add(age).Unix()
		text := unsigned(t, "RS256", map[string]any{
			"iss": "https://accounts.google.com", "aud": endpoint, "iat": at, "exp": at + 3600, "email": email,
			"email_verified": true,
		})
		sum := sha256.Sum256([]byte(text))
		signature, err := rsa.SignPKCS1v15(rand.Reader, googleKeys()[key], crypto.SHA256, sum[:])
		if err != nil {
			t.Fatal(err)
		}
		h.Set("Authorization", "Bearer "+text+"."+encode(signature))
	}
}

func unsigned(t *testing.T, alg string, claims map[string]any) string {
	t.Helper()

	text, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	return encode([]byte(`{"alg":"`+alg+`","typ":"JWT"}`)) + "." + encode(text)
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
