package command

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/cmd/spool/internal/config"
)

// What the configuration says of a model reaches its server, with each request. The engine's own
// options, and those of a start, count before it.
func TestModelOptions(t *testing.T) {
	t.Parallel()

	type request struct {
		header http.Header
		body   map[string]any
	}
	requests := make(chan request, 1)
	peer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := request{header: r.Header.Clone()}
		if text, err := io.ReadAll(r.Body); err == nil {
			_ = json.Unmarshal(text, &got.body)
		}
		requests <- got
		_, _ = io.WriteString(w,
			"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	defer peer.Close()
	env := map[string]string{"KEY": "sk-secret-key", "URL": peer.URL}
	c, err := config.Parse("spool.yaml", []byte(`
models:
  m:
    provider: openai
    base_url: "${URL}/v1"
    model: x
    temperature: 0.2
    max_output_tokens: 400
    reasoning_effort: low
    headers: {X-Title: Spool, X-Api-Key: "${KEY}", Authorization: "Key ${KEY}"}
    extra_body: {top_p: 0.9, provider: {order: [a, b]}, seed: 12345678901234567890}
agents: {a: {model: m}}
`), func(name string) (string, bool) { v, ok := env[name]; return v, ok })
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := newModel(c.Models[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		ask  spool.ModelRequest
		want string
	}{
		"Alone": {
			spool.ModelRequest{},
			`{"temperature": 0.2, "reasoning_effort": "low", "max_tokens": 400, "seed": 12345678901234567890}`,
		},
		"Engine": {
			spool.ModelRequest{MaxOutputTokens: 100, Extra: map[string]any{"temperature": 1, "reasoning_effort": "high"}},
			`{"temperature": 1, "reasoning_effort": "high", "max_tokens": 100, "seed": 12345678901234567890}`,
		},
		"EngineMore": {
			spool.ModelRequest{MaxOutputTokens: 16000},
			`{"temperature": 0.2, "reasoning_effort": "low", "max_tokens": 400, "seed": 12345678901234567890}`,
		},
	} {
		test.ask.Messages = []spool.Message{{Role: spool.RoleUser, Content: spool.TextContent("Hello")}}
		for _, err := range m.Stream(t.Context(), test.ask) {
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		got := <-requests
		want := map[string]any{
			"model": "x", "stream": true, "stream_options": map[string]any{"include_usage": true}, "top_p": 0.9,
			"provider": map[string]any{"order": []any{"a", "b"}},
			"messages": []any{map[string]any{"role": "user", "content": "Hello"}},
		}
		if err := json.Unmarshal([]byte(test.want), &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got.body); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
		for header, value := range map[string]string{
			"X-Title": "Spool", "X-Api-Key": "sk-secret-key", "Authorization": "Key sk-secret-key",
			"Content-Type": "application/json",
		} {
			if got.header.Get(header) != value {
				t.Errorf("%s: %s is %q", name, header, got.header.Get(header))
			}
		}
	}
}

// What a model's section has from the environment is not in the errors of a server that repeats it,
// nor are values that are named like a secret. Without that, the run's error would have them.
func TestModelSecrets(t *testing.T) {
	t.Parallel()

	peer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, r.Header.Get("X-Gateway")+" "+string(body))
	}))
	defer peer.Close()
	env := map[string]string{"GATE": "gate-0123", "USER_OF": "user-0123", "URL": peer.URL, "MODEL": "mistral-large"}
	c, err := config.Parse("spool.yaml", []byte(`
models:
  m:
    provider: openai
    base_url: "${URL}/v1"
    model: "${MODEL}"
    headers: {X-Gateway: "Key of ${GATE}"}
    extra_body: {user: "is ${USER_OF}", service_tier: priority, gateway: {api_key: written-0123}}
agents: {a: {model: m}}
`), func(name string) (string, bool) { v, ok := env[name]; return v, ok })
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := newModel(c.Models[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range m.Stream(t.Context(), spool.ModelRequest{}) {
		const want = `[redacted] {"gateway":{"api_key":"[redacted]"},"messages":[],"model":"mistral-large","service_tier":"priority",` +
			`"stream":true,"stream_options":{"include_usage":true},"user":"is [redacted]"}`
		if diff := cmp.Diff("model: "+want+" (status 400)", err.Error()); diff != "" {
			t.Error(diff)
		}
	}
}
