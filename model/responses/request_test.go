package responses_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	fake "github.com/spoolhq/spool/internal/testing/fake/responses"
	"github.com/spoolhq/spool/model/responses"
)

// sent returns the body of the request that a model makes.
func sent(t *testing.T, config responses.Config, r spool.ModelRequest) map[string]any {
	t.Helper()

	server, http := serve(t, always(fake.Text("Hi.")))
	mustAsk(t, open(t, http, config), r)
	var body map[string]any
	if err := json.Unmarshal([]byte(server.Bodies()[0]), &body); err != nil {
		t.Fatal(err)
	}
	return body
}

func wantBody(t *testing.T, got map[string]any, want string) {
	t.Helper()

	var body map[string]any
	if err := json.Unmarshal([]byte(want), &body); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(body, got); diff != "" {
		t.Error(diff)
	}
}

func TestRequestBody(t *testing.T) {
	t.Parallel()

	got := sent(t, responses.Config{
		ReasoningEffort: "low", ReasoningSummary: "auto",
		Extra: map[string]any{
			"temperature": 0,
			"top_p":       1,
			"reasoning":   map[string]any{"effort": "high"},
			"text":        map[string]any{"verbosity": "low"},
			"tools":       []any{map[string]any{"type": "web_search"}},
		},
	}, spool.ModelRequest{
		Instructions: "Be brief.", MaxOutputTokens: 9, CacheKey: "key",
		Extra: map[string]any{"temperature": 1, "stream": false, "seed": json.Number("7"), "verbosity": "high"},
		Output: &spool.OutputSchema{
			Name: "x", Description: "An x.", Schema: []byte(`{"type":"object","properties":{"a":{"type":"string"}}}`),
		},
		Tools: []spool.ToolSpec{{Name: "coin", Description: "Flips."}},
		Messages: []spool.Message{
			{Role: spool.RoleSystem, Content: spool.TextContent("A summary.")},
			{Role: spool.RoleUser, Content: spool.Content{
				{Type: spool.PartText, Text: "Look:"},
				{Type: spool.PartImage, Image: "https://example.com/a.png"},
				{Type: spool.PartFile, File: "data:application/pdf;base64,JVBERg", MIMEType: "application/pdf"},
				{Type: spool.PartFile, File: "https://example.com/b.pdf", FileName: "b.pdf"},
				{Type: spool.PartFile, File: "data:text/csv,a", FileName: "c.csv"},
				{Type: spool.PartFile, File: "data:application/zip;base64,UEs=", FileName: "d.zip"},
				{Type: spool.PartFile, File: "data:image/png;base64,iVBORw0KGgo", FileName: "e.png"},
			}},
			{Role: spool.RoleAssistant, Content: spool.Content{
				{Type: spool.PartReasoning, Text: "Hm."},
				{Type: spool.PartText, Text: "<Looking>"},
				{Type: spool.PartToolCall, ToolCallID: "a", ToolName: "coin", Args: json.RawMessage(`{"n":1}`)},
				{Type: spool.PartToolCall, ToolCallID: "b", ToolName: "coin", Args: json.RawMessage(`"{oops"`)},
				{Type: spool.PartToolCall, ToolCallID: spool.ToolCallID(strings.Repeat("long", 20)), ToolName: "coin"},
			}},
			{Role: spool.RoleTool, Content: spool.Content{
				{Type: spool.PartToolResult, ToolCallID: "a", Result: json.RawMessage(`"heads"`)},
				{Type: spool.PartImage, Image: "data:image/png;base64,iVBORw0KGgo"},
				{Type: spool.PartToolResult, ToolCallID: "b", Result: json.RawMessage(`{"error":"bad"}`)},
				{Type: spool.PartToolResult, ToolCallID: spool.ToolCallID(strings.Repeat("long", 20))},
			}},
			{Role: spool.RoleAssistant, Content: spool.Content{{Type: spool.PartReasoning, Text: "nothing said"}}},
			user("Again."),
		},
	})
	wantBody(t, got, `{
		"model": "test-model", "stream": true, "store": false, "include": ["reasoning.encrypted_content"], "instructions": "Be brief.",
		"max_output_tokens": 16, "temperature": 1, "top_p": 1, "seed": 7, "prompt_cache_key": "key",
		"reasoning": {"effort": "high", "summary": "auto"},
		"text": {"verbosity": "high", "format": {"type": "json_schema", "name": "x", "description": "An x.", "strict": false,
			"schema": {"type": "object", "properties": {"a": {"type": "string"}}}}},
		"tools": [
			{"type": "function", "name": "coin", "description": "Flips.", "parameters": {"type": "object", "properties": {}}, "strict": false},
			{"type": "web_search"}
		],
		"input": [
			{"type": "message", "role": "system", "content": [{"type": "input_text", "text": "A summary."}]},
			{"type": "message", "role": "user", "content": [
				{"type": "input_text", "text": "Look:"}, {"type": "input_image", "image_url": "https://example.com/a.png", "detail": "auto"},
				{"type": "input_file", "filename": "file.pdf", "file_data": "data:application/pdf;base64,JVBERg"},
				{"type": "input_file", "file_url": "https://example.com/b.pdf"},
				{"type": "input_text", "text": "The file \"c.csv\":\n\na\n"},
				{"type": "input_text", "text": "[a file \"d.zip\" of the type application/zip, which cannot be shown]"},
				{"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo", "detail": "auto"}
			]},
			{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "<Looking>"}]},
			{"type": "function_call", "call_id": "a", "name": "coin", "arguments": "{\"n\":1}"},
			{"type": "function_call", "call_id": "b", "name": "coin", "arguments": "{\"invalid_arguments\":\"{oops\"}"},
			{"type": "function_call", "call_id": "longlonglonglonglonglonglonglonglonglonglonglon_5aa1dce72836fe4d", "name": "coin", "arguments": "{}"},
			{"type": "function_call_output", "call_id": "a", "output": [
				{"type": "input_text", "text": "heads"}, {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo", "detail": "auto"}
			]},
			{"type": "function_call_output", "call_id": "b", "output": "{\"error\":\"bad\"}"},
			{"type": "function_call_output", "call_id": "longlonglonglonglonglonglonglonglonglonglonglon_5aa1dce72836fe4d", "output": "null"},
			{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Again."}]}
		]
	}`)
}

// The options of an agent reach the request, and the model keeps its own.
func TestOptions(t *testing.T) {
	t.Parallel()

	config := responses.Config{ReasoningSummary: "auto", Extra: map[string]any{"text": map[string]any{"verbosity": "low"}}}
	server, http := serve(t, always(fake.Text("Hi.")))
	m := open(t, http, config)
	for _, extra := range []map[string]any{
		{"reasoning_effort": "high", "text": map[string]any{"verbosity": "medium"}},
		{"background": true},
		{"background": true, "store": true},
		nil,
	} {
		r := hello()
		r.Extra = extra
		mustAsk(t, m, r)
	}
	for i, want := range []string{
		`{"reasoning":{"effort":"high","summary":"auto"},"text":{"verbosity":"medium"},"store":false}`,
		`{"reasoning":{"summary":"auto"},"text":{"verbosity":"low"},"store":true,"background":true}`,
		`{"reasoning":{"summary":"auto"},"text":{"verbosity":"low"},"store":true,"background":true}`,
		`{"reasoning":{"summary":"auto"},"text":{"verbosity":"low"},"store":false}`,
	} {
		var got map[string]any
		if err := json.Unmarshal([]byte(server.Bodies()[i]), &got); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"input", "model", "stream", "include"} {
			delete(got, name)
		}
		wantBody(t, got, want)
	}
}

// OpenAI's models that do not reason refuse to encrypt their reasoning.
func TestEncryptedReasoning(t *testing.T) {
	t.Parallel()

	for name, want := range map[string]bool{
		"gpt-5.2": true, "o4-mini": true, "qwen3": true, "gpt-4.1-mini": false, "openai/gpt-4o": false,
	} {
		_, got := sent(t, responses.Config{Model: name}, hello())["include"]
		if got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if _, got := sent(t, responses.Config{NoEncryptedReasoning: true}, hello())["include"]; got {
		t.Error("NoEncryptedReasoning sends include")
	}
}

func TestHeadersAndQuery(t *testing.T) {
	t.Parallel()

	server, listener := serve(t, always(fake.Text("Hi.")))
	transport := new(http.Transport)
	t.Cleanup(transport.CloseIdleConnections)
	m, err := responses.New(responses.Config{
		Model: "m", BaseURL: listener.URL + "/openai?api-version=7", APIKey: "sk-1",
		Headers: map[string]string{"X-Title": "spool"}, Transport: transport,
	})
	if err != nil {
		t.Fatal(err)
	}
	mustAsk(t, m, hello())
	got := server.Requests()[0]
	if got.Header.Get("Authorization") != "Bearer sk-1" || got.Header.Get("X-Title") != "spool" ||
		got.Query != "api-version=7" {
		t.Errorf("got %+v", got)
	}
}

func TestNew(t *testing.T) {
	t.Parallel()

	for want, config := range map[string]responses.Config{
		"Model is required":                    {},
		"BaseURL is not":                       {Model: "m", BaseURL: "localhost:11434"},
		"BaseURL must not have a user":         {Model: "m", BaseURL: "http://a:b@localhost"},
		"APIKey has a blank":                   {Model: "m", APIKey: "a\nb"},
		"ContextWindow must not be negative":   {Model: "m", ContextWindow: -1},
		"MaxOutputTokens must not be negative": {Model: "m", MaxOutputTokens: -1},
	} {
		_, err := responses.New(config)
		if spool.CodeOf(err) != spool.Invalid || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	m, err := responses.New(responses.Config{Model: "gpt-5.2"})
	if err != nil || m.Describe().ContextWindow != 0 || m.Describe().KnownWindow(m.Describe().Model) != 400_000 {
		t.Errorf("got %v, %v", m, err)
	}
}
