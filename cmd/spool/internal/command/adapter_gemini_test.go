package command

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/cmd/spool/internal/config"
	fake "github.com/spoolhq/spool/internal/testing/fake/gemini"
)

// What the configuration says of a model of Google reaches its server.
func TestGeminiOptions(t *testing.T) {
	t.Parallel()

	server := fake.New(fake.Config{Key: "key-of-the-test"})
	peer := httptest.NewServer(server)
	defer peer.Close()
	env := map[string]string{"KEY": "key-of-the-test", "URL": peer.URL}
	c, err := config.Parse("spool.yaml", []byte(`
models:
  new:
    provider: gemini
    base_url: "${URL}"
    api_key: "${KEY}"
    model: gemini-3-pro-preview
    max_output_tokens: 4000
    thinking: high
    temperature: 0.5
    extra_body: {generationConfig: {topK: 5}, safetySettings: [], tools: [{googleSearch: {}}]}
  hidden: {provider: gemini, base_url: "${URL}", api_key: "${KEY}", model: gemini-3-pro-preview, thinking: minimal, include_thoughts: false}
  budget: {provider: gemini, base_url: "${URL}", api_key: "${KEY}", model: gemini-2.5-pro, thinking: budget, thinking_budget: 2000}
  off: {provider: gemini, base_url: "${URL}", api_key: "${KEY}", model: gemini-2.5-flash, thinking: off}
  plain: {provider: gemini, base_url: "${URL}", api_key: "${KEY}", model: gemini-2.0-flash}
  google: {provider: gemini, model: gemini-flash-latest}
agents: {a: {model: new}}
`), func(name string) (string, bool) { v, ok := env[name]; return v, ok })
	if err != nil {
		t.Fatal(err)
	}
	ask := spool.ModelRequest{
		Messages: []spool.Message{{Role: spool.RoleUser, Content: spool.TextContent("Hello")}},
		Tools:    []spool.ToolSpec{{Name: "coin"}},
	}
	for i, want := range []string{
		`"generationConfig":{"maxOutputTokens":4000,"temperature":0.5,"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"HIGH"},"topK":5},` +
			`"safetySettings":[],"tools":[{"functionDeclarations":[{"name":"coin"}]},{"googleSearch":{}}]`,
		`"thinkingConfig":{"thinkingLevel":"MINIMAL"}`,
		`"thinkingConfig":{"includeThoughts":true,"thinkingBudget":2000}`,
		`"thinkingConfig":{"thinkingBudget":0}`,
		`"generationConfig":{},`,
	} {
		m, remark, err := newModel(c.Models[i], nil)
		if err != nil || remark != c.Models[i].Model+" at "+strings.TrimPrefix(peer.URL, "http://") {
			t.Fatal(remark, err)
		}
		for _, err := range m.Stream(t.Context(), ask) {
			if err != nil {
				t.Fatalf("%s: %v", c.Models[i].Name, err)
			}
		}
		if body := server.Requests()[i]; !strings.Contains(body, want) {
			t.Errorf("%s: %s is not in %s", c.Models[i].Name, want, body)
		}
	}
	if _, remark, err := newModel(c.Models[5], nil); err != nil ||
		remark != "gemini-flash-latest at generativelanguage.googleapis.com" {
		t.Error(remark, err)
	}
}
