package command

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/cmd/spool/internal/config"
	fake "github.com/spoolhq/spool/internal/testing/fake/responses"
)

// What the configuration says of a model of the Responses API reaches its server.
func TestResponsesOptions(t *testing.T) {
	t.Parallel()

	server := fake.New(fake.Echo)
	peer := httptest.NewServer(server)
	defer peer.Close()
	env := map[string]string{"KEY": "sk-secret-key", "URL": peer.URL}
	c, err := config.Parse("spool.yaml", []byte(`
models:
  m:
    provider: responses
    base_url: "${URL}/v1"
    api_key: "${KEY}"
    model: gpt-5.2
    max_output_tokens: 4000
    temperature: 0.5
    reasoning_effort: low
    reasoning_summary: auto
    background: true
    headers: {OpenAI-Project: some-project}
    extra_body: {text: {verbosity: low}, tools: [{type: web_search}]}
  none: {provider: responses, model: gpt-5.2}
agents: {a: {model: m}}
`), func(name string) (string, bool) { v, ok := env[name]; return v, ok })
	if err != nil {
		t.Fatal(err)
	}
	m, remark, err := newModel(c.Models[0], nil)
	if err != nil || remark != "gpt-5.2 at "+strings.TrimPrefix(peer.URL, "http://") {
		t.Fatal(remark, err)
	}
	if _, remark, err := newModel(c.Models[1], nil); err != nil || remark != "gpt-5.2 at api.openai.com" {
		t.Error(remark, err)
	}
	ask := spool.ModelRequest{
		Messages: []spool.Message{{Role: spool.RoleUser, Content: spool.TextContent("Hello")}},
		Tools:    []spool.ToolSpec{{Name: "coin"}},
	}
	for _, err := range m.Stream(t.Context(), ask) {
		if err != nil {
			t.Fatal(err)
		}
	}
	got := server.Requests()[0]
	delete(got.Body, "input")
	want := map[string]any{
		"model": "gpt-5.2", "stream": true, "store": true, "background": true,
		"include": []any{"reasoning.encrypted_content"}, "max_output_tokens": 4000.0, "temperature": 0.5,
		"reasoning": map[string]any{"effort": "low", "summary": "auto"},
		"text":      map[string]any{"verbosity": "low"},
		"tools": []any{
			map[string]any{
				"type": "function", "name": "coin", "description": "", "strict": false,
				"parameters": map[string]any{"type": "object", "properties": map[string]any{}},
			},
			map[string]any{"type": "web_search"},
		},
	}
	if diff := cmp.Diff(want, got.Body); diff != "" {
		t.Error(diff)
	}
	if got.Header.Get("Authorization") != "Bearer sk-secret-key" || got.Header.Get("Openai-Project") != "some-project" {
		t.Errorf("headers %v", got.Header)
	}
}

// A provider counts the requests of both of its interfaces together.
func TestResponsesShareLimits(t *testing.T) {
	t.Parallel()

	chat := config.Model{Name: "chat", Provider: config.ProviderOpenAI, APIKey: "sk-1"}
	other := config.Model{Name: "other", Provider: config.ProviderResponses, APIKey: "sk-1"}
	if limitGroup(chat) != limitGroup(other) {
		t.Error("the same server and key are two groups")
	}
	other.APIKey = "sk-2"
	if limitGroup(chat) == limitGroup(other) {
		t.Error("two keys are one group")
	}
}
