package command

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/cmd/spool/internal/config"
)

// check says which profile a model has, why, and which points of it the file changes.
func TestCheckTellsProfiles(t *testing.T) {
	t.Parallel()

	file := writeConfig(t, `
models:
  deep: {provider: openai, base_url: "https://api.deepseek.com", model: deepseek-chat}
  local: {provider: openai, base_url: "http://127.0.0.1:9/v1", model: qwen3, profile: ollama, first_byte_timeout: 20m}
  other: {provider: openai, base_url: "http://127.0.0.1:9/v1", model: qwen3, stream_usage: false, idle_timeout: 0}
  plain: {provider: openai, base_url: "http://127.0.0.1:9/v1", model: qwen3}
agents: {helper: {model: deep}}
`)
	got := command(map[string]string{}, "check", file)
	const want = "profiles  deep (deepseek, by its host), local (ollama, by its name; with first_byte_timeout), other (with stream_usage, idle_timeout)\n"
	if got.code != exitOK || !strings.Contains(got.stdout, want) {
		t.Errorf("got %+v, want %s", got, want)
	}
}

func TestWrongProfiles(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		"profile: deepsek":                 "must be openai, azure, openrouter,",
		"max_tokens_field: tokens":         "must be max_tokens or max_completion_tokens",
		"reasoning_needed: sometimes":      "must be never, calls or always",
		"receipt_currency: dollars":        `must be none, or three capitals such as "USD"`,
		"first_byte_timeout: soon":         `must be 0 for no limit, or a duration such as "10m"`,
		"stream_usage: maybe":              "must be true or false",
		"reasoning_field: reasoning field": "must not have spaces",
	} {
		_, err := config.Parse("spool.yaml",
			[]byte("models: {m: {provider: openai, model: x, "+text+"}}\nagents: {a: {model: m}}"),
			func(string) (string, bool) { return "", false })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
	_, err := config.Parse("spool.yaml",
		[]byte("models: {m: {provider: gemini, model: x, profile: gemini}}\nagents: {a: {model: m}}"),
		func(string) (string, bool) { return "", false })
	if err == nil || !strings.Contains(err.Error(), "the gemini provider has no use for it") {
		t.Errorf("got %v", err)
	}
}

// Each key of a profile reaches the requests, or the reading of answers.
func TestProfileKeys(t *testing.T) {
	t.Parallel()

	requests := make(chan string, 1)
	peer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		requests <- string(text)
		_, _ = io.WriteString(w, `data: {"choices":[{"delta":{"content":"<think>Hm.</think>Hi."},"finish_reason":"stop"}],`+
			`"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":10,"cost":0.5}}`+"\n\n")
	}))
	defer peer.Close()
	call := spool.Part{Type: spool.PartToolCall, ToolCallID: "c", ToolName: "draw", Args: json.RawMessage(`{}`)}
	r := spool.ModelRequest{
		MaxOutputTokens: 5, Extra: map[string]any{"parallel_tool_calls": true},
		Output: &spool.OutputSchema{
			Name: "o", Schema: json.RawMessage(`{"type":"object","properties":{},"required":[],"additionalProperties":false}`),
		},
		Messages: []spool.Message{
			{Role: spool.RoleUser, Content: spool.TextContent("Hello")},
			{Role: spool.RoleAssistant, Content: spool.Content{call}},
			{Role: spool.RoleTool, Content: spool.Content{
				{Type: spool.PartToolResult, ToolCallID: "c", ToolName: "draw", Result: json.RawMessage(`"done"`)},
				{Type: spool.PartImage, Image: "data:image/png;base64,iVBORw0KGgo="},
			}},
			{Role: spool.RoleUser, Content: spool.TextContent("And?")},
		},
	}
	for _, c := range []struct{ keys, sent, heard string }{
		{"profile: default", `"stream_options"`, "(Hm.)Hi. 2 <nil>"},
		{"stream_usage: false", `!"stream_options"`, "(Hm.)Hi. 2 <nil>"},
		{"max_tokens_field: max_completion_tokens", `"max_completion_tokens":5`, "(Hm.)Hi. 2 <nil>"},
		{"reasoning_field: reasoning, reasoning_needed: always", `"reasoning":" "`, "(Hm.)Hi. 2 <nil>"},
		{"profile: deepseek", `"reasoning_content":" "`, "(Hm.)Hi. 2 <nil>"},
		{"profile: deepseek, reasoning_field: none", `!"reasoning_content"`, "(Hm.)Hi. 2 <nil>"},
		{"strict_schemas: false", `!"strict"`, "(Hm.)Hi. 2 <nil>"},
		{"strict_schemas: true", `"strict":true`, "(Hm.)Hi. 2 <nil>"},
		{"result_images: true", `"image_url"`, "(Hm.)Hi. 2 <nil>"},
		{"result_images: false", `!"image_url"`, "(Hm.)Hi. 2 <nil>"},
		{"parallel_tool_calls: false", `!"parallel_tool_calls"`, "(Hm.)Hi. 2 <nil>"},
		{"thinking_tags: false", `"stream"`, "<think>Hm.</think>Hi. 2 <nil>"},
		{"output_from_total: true", `"stream"`, "(Hm.)Hi. 9 <nil>"},
		{"answer_after_results: true", `"Understood."`, "(Hm.)Hi. 2 <nil>"},
		{"profile: mistral, answer_after_results: false", `!"Understood."`, "(Hm.)Hi. 2 <nil>"},
		{"receipt_currency: EUR", `"stream"`, "(Hm.)Hi. 2 500000 EUR"},
		{"profile: openrouter, receipt_currency: none", `"stream"`, "(Hm.)Hi. 2 <nil>"},
	} {
		file, err := config.Parse("spool.yaml",
			[]byte("models: {m: {provider: openai, model: x, base_url: "+peer.URL+", "+c.keys+"}}\nagents: {a: {model: m}}"),
			func(string) (string, bool) { return "", false })
		if err != nil {
			t.Fatalf("%s: %v", c.keys, err)
		}
		m, _, err := newModel(file.Models[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		var heard strings.Builder
		for event, err := range m.Stream(t.Context(), r) {
			if err != nil {
				t.Fatal(err)
			}
			heard.WriteString(heardOf(event))
		}
		text, absent := strings.CutPrefix(c.sent, "!")
		if body := <-requests; strings.Contains(body, text) == absent || heard.String() != c.heard {
			t.Errorf("%s: sent %s and heard %q, want %s and %q", c.keys, body, heard.String(), c.sent, c.heard)
		}
	}
}

// A server on the user's own machine may need longer than others until its first byte, and a test server less.
func TestSilenceOfAFile(t *testing.T) {
	t.Parallel()

	for keys, c := range map[string]struct{ first, want string }{
		"first_byte_timeout: 30ms, idle_timeout: 0": {"", "silent for 30ms"},
		"first_byte_timeout: 0, idle_timeout: 30ms": {"data: {\"choices\":[]}\n\n", "silent for 30ms"},
	} {
		peer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.ReadAll(r.Body)
			_, _ = io.WriteString(w, c.first)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}))
		file, err := config.Parse("spool.yaml",
			[]byte("models: {m: {provider: openai, model: x, base_url: "+peer.URL+", "+keys+"}}\nagents: {a: {model: m}}"),
			func(string) (string, bool) { return "", false })
		if err != nil {
			t.Fatal(err)
		}
		m, _, err := newModel(file.Models[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, err = range m.Stream(t.Context(), spool.ModelRequest{}) {
			if err != nil {
				break
			}
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v", keys, err)
		}
		peer.Close()
	}
}

func heardOf(event spool.ModelEvent) string {
	switch e := event.(type) {
	case spool.TextDelta:
		return e.Text
	case spool.ReasoningDelta:
		return "(" + e.Text + ")"
	case spool.Finish:
		cost := "<nil>"
		if e.Cost != nil {
			cost = fmt.Sprint(e.Cost.Micros, " ", e.Cost.Currency)
		}
		return fmt.Sprint(" ", *e.Usage.Output, " ", cost)
	default:
		return ""
	}
}
