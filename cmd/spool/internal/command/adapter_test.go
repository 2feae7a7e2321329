package command

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/cmd/spool/internal/config"
	fake "github.com/spoolhq/spool/internal/testing/fake/anthropic"
)

// What the configuration says of a model of Anthropic reaches its server.
func TestAnthropicOptions(t *testing.T) {
	t.Parallel()

	var got fake.Request
	peer := httptest.NewServer(fake.New(fake.Config{Key: "sk-secret-key", Answer: func(r fake.Request) fake.Answer {
		got = r
		return fake.Echo(r)
	}}))
	defer peer.Close()
	env := map[string]string{"KEY": "sk-secret-key", "URL": peer.URL}
	c, err := config.Parse("spool.yaml", []byte(`
models:
  m:
    provider: anthropic
    base_url: "${URL}"
    api_key: "${KEY}"
    model: claude-sonnet-4-5
    max_output_tokens: 4000
    thinking: budget
    thinking_budget: 2000
    thinking_display: omitted
    prompt_cache: 1h
    structured_output: tool
    headers: {Anthropic-Beta: some-beta}
    extra_body: {top_k: 5, tools: [{type: web_search_20250305, name: web_search}]}
  none: {provider: anthropic, model: claude-sonnet-4-5, prompt_cache: none}
agents: {a: {model: m}}
`), func(name string) (string, bool) { v, ok := env[name]; return v, ok })
	if err != nil {
		t.Fatal(err)
	}
	m, remark, err := newModel(c.Models[0], nil)
	if err != nil || remark != "claude-sonnet-4-5 at "+strings.TrimPrefix(peer.URL, "http://") {
		t.Fatal(remark, err)
	}
	if _, remark, err := newModel(c.Models[1], nil); err != nil || remark != "claude-sonnet-4-5 at api.anthropic.com" {
		t.Error(remark, err)
	}
	ask := spool.ModelRequest{
		Messages: []spool.Message{{Role: spool.RoleUser, Content: spool.TextContent("Hello")}}, CacheMarks: []int{1},
		Output: &spool.OutputSchema{Name: "answer", Schema: []byte(`{"type":"object"}`)},
	}
	for _, err := range m.Stream(t.Context(), ask) {
		if err != nil {
			t.Fatal(err)
		}
	}
	type facts struct {
		MaxTokens, Budget       int
		Thinking, Display, Mark string
		Tools                   []string
		Beta                    string
		TopK                    bool
	}
	have := facts{
		got.MaxTokens, got.Budget, got.Thinking, got.Display, string(got.Messages[0].Content[0].CacheControl), nil,
		got.Header.Get("Anthropic-Beta"), strings.Contains(string(got.Raw), `"top_k":5`),
	}
	for _, tool := range got.Tools {
		have.Tools = append(have.Tools, tool.Name)
	}
	want := facts{
		4000, 2000, "enabled", "omitted", `{"type":"ephemeral","ttl":"1h"}`,
		[]string{"answer", "web_search"},
		"some-beta",
		true,
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
