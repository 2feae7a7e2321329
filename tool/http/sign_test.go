package httptool_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/verify/webhook"
	httptool "github.com/spoolhq/spool/tool/http"
)

const (
	oldSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	newSecret = "whsec_QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFB"
)

// TestSigned has receivers with the old and with the new secret verify each attempt of a call.
func TestSigned(t *testing.T) {
	t.Parallel()

	var verifiers []*webhook.Verifier
	for _, secret := range []string{oldSecret, newSecret} {
		v, err := webhook.New(webhook.Config{Secrets: []string{secret}})
		if err != nil {
			t.Fatal(err)
		}
		verifiers = append(verifiers, v)
	}
	other, err := webhook.New(webhook.Config{Secrets: []string{"whsec_QkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJC"}})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		for i, v := range verifiers {
			if err := v.Verify(r, body); err != nil {
				t.Errorf("secret %d, %s: %v", i, r.Method, err)
			}
			if v.Verify(r, append(body, ' ')) == nil {
				t.Error("another body fits")
			}
		}
		if other.Verify(r, body) == nil {
			t.Error("another secret fits")
		}
		if ids = append(ids, r.Header.Get("Webhook-Id")); len(ids) == 1 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_ = json.NewEncoder(w).Encode(oldSecret + r.Header.Get("Webhook-Signature"))
	})
	for _, method := range []string{http.MethodPost, http.MethodGet} {
		ids = nil
		tl := open(t, httptool.Config{
			URL: s.URL, Method: method, Egress: loopback, Parameters: json.RawMessage(`{"type":"object"}`),
			SigningSecrets: []string{newSecret, oldSecret}, Retry: httptool.Retry{Attempts: 2, Backoff: time.Millisecond},
		})
		call := spool.ToolCall{
			RunID: "a.b", Step: 1, ID: spool.ToolCallID(strings.Repeat("c", 300)), Args: json.RawMessage(`{"n":1}`),
		}
		got, err := tl.Call(t.Context(), call)
		if err != nil || !strings.HasPrefix(string(got), `"[redacted]v1,`) {
			t.Errorf("%s: %s, %v", method, got, err)
		}
		call.Step = 2
		if _, err := tl.Call(t.Context(), call); err != nil {
			t.Errorf("%s: %v", method, err)
		}
		if len(ids) != 3 || ids[0] != ids[1] || ids[0] == ids[2] || ids[2] != httptool.WebhookID(call) ||
			len(ids[0]) != len("call_")+32 {
			t.Errorf("%s: the ids are %v", method, ids)
		}
	}
}

// TestSecretsStay has an endpoint repeat every secret that it gets, in results and in errors.
func TestSecretsStay(t *testing.T) {
	t.Parallel()

	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("fail") != "" {
			w.WriteHeader(http.StatusTeapot)
		}
		_, _ = io.WriteString(w, strings.Join(
			[]string{r.Header.Get("Authorization"), r.Header.Get("X-Key"), r.URL.RawQuery, r.Header.Get("X-Api-Version")}, "|",
		))
	})
	config := httptool.Config{
		URL: s.URL + "/?key=in+the+url", Egress: loopback, Secrets: []string{"in the url"},
		Headers: map[string]string{
			"Authorization": "Bearer token-0815", "X-Key": "key-4711-0815", "X-Api-Version": "2026-11-24",
		},
	}
	const want = "[redacted]|[redacted]|key=[redacted]|2026-11-24"
	if got, err := open(t, config).Call(t.Context(), spool.ToolCall{}); err != nil || string(got) != `"`+want+`"` {
		t.Errorf("got %s, %v", got, err)
	}
	slashes := config
	slashes.Headers = map[string]string{"Authorization": "Bearer 0815/4711=", "X-Api-Version": `["0815\/4711="]`}
	if got, err := open(t, slashes).Call(t.Context(), spool.ToolCall{}); err != nil ||
		strings.Contains(string(got), "4711") {
		t.Errorf("with slashes: %s, %v", got, err)
	}
	config.URL += "&fail=1"
	_, err := open(t, config).Call(t.Context(), spool.ToolCall{})
	if text := spool.MessageOf(err); !strings.Contains(
		text, "status 418: [redacted]|[redacted]|key=[redacted]&fail=1|2026-11-24",
	) {
		t.Fatalf("got %v", err)
	}
	for _, secret := range []string{"token-0815", "key-4711-0815", "in+the+url", "in the url"} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the error has %s", secret)
		}
	}
}
