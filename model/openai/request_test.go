package openai_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/model/openai"
)

// sent returns the body of the request that a model makes.
func sent(t *testing.T, config openai.Config, r spool.ModelRequest) map[string]any {
	t.Helper()

	p := newPeer(t, func(w http.ResponseWriter, _ *http.Request, _ string) { send(w, finishChunk("stop")) })
	if _, err := stream(t, p.model(t, config), r); err != nil {
		t.Fatal(err)
	}
	var body map[string]any
	if err := json.Unmarshal([]byte(p.requests()[0]), &body); err != nil {
		t.Fatal(err)
	}
	return body
}

func TestRequestBody(t *testing.T) {
	t.Parallel()

	got := sent(t, openai.Config{Extra: map[string]any{"temperature": 0, "top_p": 1}, ReasoningField: "reasoning_content"},
		spool.ModelRequest{
			Instructions:    "Be brief.",
			MaxOutputTokens: 9,
			Extra: map[string]any{
				"temperature": 1, "stream": false, "seed": json.Number("7"), "reasoning": map[string]any{"effort": "low"},
			},
			Tools: []spool.ToolSpec{
				{Name: "coin", Description: "Flips."},
				{Name: "pick", Parameters: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`)},
			},
			Messages: []spool.Message{
				{Role: spool.RoleSystem, Content: spool.TextContent("A summary.")},
				{Role: spool.RoleUser, Content: spool.Content{
					{Type: spool.PartText, Text: "Look:"}, {Type: spool.PartImage, Image: "https://example.com/a.png"},
				}},
				{Role: spool.RoleAssistant, Content: spool.Content{
					{Type: spool.PartReasoning, Text: "Hm."},
					{Type: spool.PartToolCall, ToolCallID: "a", ToolName: "coin", Args: json.RawMessage(`{"n":1}`)},
					{Type: spool.PartToolCall, ToolCallID: "b", ToolName: "coin", Args: json.RawMessage(`"{oops"`)},
					{Type: spool.PartToolCall, ToolCallID: "c", ToolName: "coin", Args: json.RawMessage(`[1]`)},
					{Type: spool.PartToolCall, ToolCallID: "d", ToolName: "coin"},
				}},
				{Role: spool.RoleTool, Content: spool.Content{
					{Type: spool.PartToolResult, ToolCallID: "a", Result: json.RawMessage(`"heads"`)},
					{Type: spool.PartToolResult, ToolCallID: "b", Result: json.RawMessage(`{"error":"bad"}`)},
					{Type: spool.PartToolResult, ToolCallID: "c"},
					{Type: spool.PartToolResult, ToolCallID: "d", Result: json.RawMessage(`null`)},
				}},
				{Role: spool.RoleAssistant, Content: spool.Content{{Type: spool.PartReasoning, Text: "nothing said"}}},
				{Role: spool.RoleAssistant, Content: spool.TextContent("Heads.")},
				{Role: spool.RoleUser, Content: spool.TextContent("Again.")},
			},
		})
	var want map[string]any
	err := json.Unmarshal([]byte(`{
		"model": "test-model", "stream": true, "stream_options": {"include_usage": true},
		"max_tokens": 9, "temperature": 1, "top_p": 1, "seed": 7, "reasoning": {"effort": "low"},
		"tools": [
			{"type": "function", "function": {"name": "coin", "description": "Flips.", "parameters": {"type": "object", "properties": {}}}},
			{"type": "function", "function": {"name": "pick", "description": "", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}}
		],
		"messages": [
			{"role": "system", "content": "Be brief."},
			{"role": "system", "content": "A summary."},
			{"role": "user", "content": [{"type": "text", "text": "Look:"}, {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}]},
			{"role": "assistant", "content": null, "reasoning_content": "Hm.", "tool_calls": [
				{"id": "a", "type": "function", "function": {"name": "coin", "arguments": "{\"n\":1}"}},
				{"id": "b", "type": "function", "function": {"name": "coin", "arguments": "{\"invalid_arguments\":\"{oops\"}"}},
				{"id": "c", "type": "function", "function": {"name": "coin", "arguments": "{\"invalid_arguments\":[1]}"}},
				{"id": "d", "type": "function", "function": {"name": "coin", "arguments": "{}"}}
			]},
			{"role": "tool", "tool_call_id": "a", "content": "heads"},
			{"role": "tool", "tool_call_id": "b", "content": "{\"error\":\"bad\"}"},
			{"role": "tool", "tool_call_id": "c", "content": "null"},
			{"role": "tool", "tool_call_id": "d", "content": "null"},
			{"role": "assistant", "content": "Heads."},
			{"role": "user", "content": "Again."}
		]
	}`), &want)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A PDF is a file, a text file a text, and any other file a text with its name.
func TestFiles(t *testing.T) {
	t.Parallel()

	file := func(url, name string) spool.Part {
		return spool.Part{Type: spool.PartFile, File: url, FileName: name}
	}
	asks := func(files ...spool.Part) spool.ModelRequest {
		return spool.ModelRequest{
			Messages: []spool.Message{{Role: spool.RoleUser, Content: append(spool.TextContent("Read: "), files...)}},
		}
	}
	for name, c := range map[string]struct {
		files []spool.Part
		want  string
	}{
		"texts": {
			[]spool.Part{file("data:text/csv,a", "a.csv"), file("data:application/zip;base64,UEs=", "a.zip")},
			`"Read: The file \"a.csv\":\n\na\n[a file \"a.zip\" of the type application/zip, which cannot be shown]"`,
		},
		"a PDF": {
			[]spool.Part{
				file("data:application/pdf;base64,JVBERg==", "a.pdf"), file("data:application/pdf;base64,JVBERg==", ""),
			},
			`[{"type":"text","text":"Read: "},{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,JVBERg=="}},
				{"type":"file","file":{"filename":"file.pdf","file_data":"data:application/pdf;base64,JVBERg=="}}]`,
		},
		"a URL": {
			[]spool.Part{{Type: spool.PartFile, File: "https://example.com/a.pdf", MIMEType: "application/pdf"}},
			`"Read: [a file of the type application/pdf at https://example.com/a.pdf, which cannot be shown]"`,
		},
	} {
		wantMessages(t, name, sent(t, openai.Config{}, asks(c.files...)), `[{"role":"user","content":`+c.want+`}]`)
	}
}

func TestImagesOfResults(t *testing.T) {
	t.Parallel()

	r := spool.ModelRequest{Messages: []spool.Message{
		{Role: spool.RoleAssistant, Content: spool.Content{{Type: spool.PartToolCall, ToolCallID: "a", ToolName: "draw"}}},
		{Role: spool.RoleTool, Content: spool.Content{
			{Type: spool.PartToolResult, ToolCallID: "a", ToolName: "draw", Result: json.RawMessage(`"done"`)},
			{Type: spool.PartImage, Image: "data:image/png;base64,iVBORw0KGgo="},
		}},
	}}
	const results = `{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"draw","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"a","content":"done"}`
	wantMessages(t, "off", sent(t, openai.Config{ResultImages: new(false)}, r), `[`+strings.Replace(results, `"done"`,
		`"done\n\n[an image or a file of this result is not shown: this model does not take it]"`, 1)+`]`)
	wantMessages(t, "on", sent(t, openai.Config{}, r), `[`+results+`,{"role":"user","content":[
		{"type":"text","text":"From the result of the call a of the tool draw:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]}]`)
}

func wantMessages(t *testing.T, name string, got map[string]any, want string) {
	t.Helper()

	var messages any
	if err := json.Unmarshal([]byte(want), &messages); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(messages, got["messages"]); diff != "" {
		t.Errorf("%s: %s", name, diff)
	}
}

func TestRequestSwitches(t *testing.T) {
	t.Parallel()

	got := sent(t, openai.Config{StreamUsage: new(false), MaxTokensField: "max_completion_tokens"},
		spool.ModelRequest{MaxOutputTokens: 5})
	if _, ok := got["stream_options"]; ok {
		t.Error("stream_options is sent")
	}
	if got["max_completion_tokens"] != 5.0 || got["max_tokens"] != nil {
		t.Errorf("bounds %v, %v", got["max_completion_tokens"], got["max_tokens"])
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()

	p := newPeer(t, func(w http.ResponseWriter, _ *http.Request, _ string) { send(w, finishChunk("stop")) })
	for _, config := range []openai.Config{{APIKey: "sk-1", Headers: map[string]string{"X-Title": "spool"}}, {}} {
		if _, err := stream(t, p.model(t, config), spool.ModelRequest{}); err != nil {
			t.Fatal(err)
		}
	}
	if got := p.headers[0]; got.Get("Authorization") != "Bearer sk-1" || got.Get("X-Title") != "spool" {
		t.Errorf("headers %v", got)
	}
	if _, ok := p.headers[1]["Authorization"]; ok {
		t.Error("Authorization without a key")
	}
}

func TestNew(t *testing.T) {
	t.Parallel()

	for want, config := range map[string]openai.Config{
		"Model is required":                  {},
		"BaseURL is not":                     {Model: "m", BaseURL: "localhost:11434"},
		"BaseURL must not have a user":       {Model: "m", BaseURL: "http://a:b@localhost"},
		"APIKey has a blank":                 {Model: "m", APIKey: "a\nb"},
		"ContextWindow must not be negative": {Model: "m", ContextWindow: -1},
	} {
		_, err := openai.New(config)
		if spool.CodeOf(err) != spool.Invalid || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	m, err := openai.New(openai.Config{Model: "m", ContextWindow: 7})
	if err != nil || m.Describe().ContextWindow != 7 {
		t.Errorf("got %v, %v", m, err)
	}
}
