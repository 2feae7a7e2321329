package openai_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/model/openai"
)

// A server that repeats a request in its error repeats no secret of it, wherever in the request
// the secret was.
func TestSecretsOfTheBody(t *testing.T) {
	t.Parallel()

	const said = `access-0123 and nested-0123 in listed-0123, 12345678901, struct-0123 and of-the-start-0123, said-0123; ` +
		`scheme-0123, a\"quote-0123. But priority, short and mistral-large stay.`
	config := openai.Config{
		Headers: map[string]string{"Authorization": "ApiKey scheme-0123", "X-Title": "mistral and others"},
		Extra: map[string]any{
			"access_token": "access-0123", "service_tier": "priority", "apiKey": "short",
			"provider": map[string]any{
				"order":       []any{"mistral-large"},
				"credentials": map[string]any{"mistral": map[string]any{"id": "nested-0123"}},
			},
			"SECRETS":     []any{"listed-0123", json.Number("12345678901"), map[string]any{"x": `a"quote-0123`}},
			"plugin_auth": struct{ Value string }{"struct-0123"},
		},
		Secrets: []string{"said-0123", "stay"},
	}
	ask := spool.ModelRequest{Extra: map[string]any{"user_key": "of-the-start-0123"}}
	const want = `[redacted] and [redacted] in [redacted], [redacted], [redacted] and [redacted], [redacted]; ` +
		`[redacted], [redacted]. But priority, short and mistral-large stay.`
	for name, script := range map[string]func(w http.ResponseWriter){
		"Status": func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, said)
		},
		"Stream": func(w http.ResponseWriter) {
			send(w, `{"error":{"message":"`+strings.ReplaceAll(said, `\`, `\\\`)+`"}}`)
		},
		"Malformed": func(w http.ResponseWriter) { send(w, said) },
	} {
		p := newPeer(t, func(w http.ResponseWriter, _ *http.Request, _ string) { script(w) })
		_, err := stream(t, p.model(t, config), ask)
		if diff := cmp.Diff(want, strings.TrimPrefix(modelError(t, err).Message, "malformed chunk: ")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
