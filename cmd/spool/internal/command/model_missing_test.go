package command

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/cmd/spool/internal/config"
)

// A 404 of a provider names the URL that was asked, without the key of a gateway in its path, because a wrong base URL
// has no other symptom.
func TestMissingModelNamesURL(t *testing.T) {
	t.Parallel()

	peer := httptest.NewServer(http.NotFoundHandler())
	defer peer.Close()
	for provider, path := range map[string]string{
		"openai": "/chat/completions", "responses": "/responses", "anthropic": "/v1/messages",
		"gemini": "/v1beta/models/x:streamGenerateContent",
	} {
		env := map[string]string{"KEY": "a-key-of-a-model", "GATE": "a-key-of-a-gateway", "HOST": peer.URL}
		c, err := config.Parse("spool.yaml", []byte(`
models: {m: {provider: `+provider+`, model: x, api_key: "${KEY}", base_url: "${HOST}/of/${GATE}/api"}}
agents: {a: {model: m}}
`), func(name string) (string, bool) { v, ok := env[name]; return v, ok })
		if err != nil {
			t.Fatal(err)
		}
		m, _, err := newModel(c.Models[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		ask := spool.ModelRequest{Messages: []spool.Message{{Role: spool.RoleUser, Content: spool.TextContent("Hello")}}}
		for _, err = range m.Stream(t.Context(), ask) {
			if err != nil {
				break
			}
		}
		want := " (POST " + peer.URL + "/of/[redacted]/api" + path + ")"
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "a-key-of") {
			t.Errorf("%s: got error %v, want%s", provider, err, want)
		}
	}
}
