package gemini_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	fake "github.com/spoolhq/spool/internal/testing/fake/gemini"
	"github.com/spoolhq/spool/model/gemini"
)

// body returns the body of the request that a model makes.
func body(t *testing.T, config gemini.Config, r spool.ModelRequest) string {
	t.Helper()

	p := newPeer(t, fake.Config{})
	mustAsk(t, p.model(t, config), r)
	return p.Requests()[0]
}

func wantIn(t *testing.T, body string, wants ...string) {
	t.Helper()

	for _, want := range wants {
		if !strings.Contains(body, want) {
			t.Errorf("%s is not in %s", want, body)
		}
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()

	budget, none := 2048, 0
	for name, c := range map[string]struct {
		config  gemini.Config
		request spool.ModelRequest
		want    string
	}{
		"Level":   {gemini.Config{ThinkingLevel: gemini.ThinkingMinimal}, hello(), `"generationConfig":{"thinkingConfig":{"thinkingLevel":"MINIMAL"}}`},
		"Budget":  {gemini.Config{Model: "gemini-2.5-x", ThinkingBudget: &budget, IncludeThoughts: true}, hello(), `"thinkingConfig":{"includeThoughts":true,"thinkingBudget":2048}`},
		"Off":     {gemini.Config{Model: "gemini-2.5-x", ThinkingBudget: &none}, hello(), `"thinkingConfig":{"thinkingBudget":0}`},
		"Lower":   {gemini.Config{MaxOutputTokens: 100}, spool.ModelRequest{Messages: hello().Messages, MaxOutputTokens: 40}, `"maxOutputTokens":40`},
		"System":  {gemini.Config{}, spool.ModelRequest{Messages: hello().Messages, Instructions: "Be <kind>."}, `"systemInstruction":{"parts":[{"text":"Be \u003ckind\u003e."}]`},
		"Extra":   {gemini.Config{MaxOutputTokens: 7, Extra: map[string]any{"generationConfig": map[string]any{"topK": 3}}}, hello(), `"generationConfig":{"maxOutputTokens":7,"topK":3}`},
		"Numbers": {gemini.Config{}, spool.ModelRequest{Messages: hello().Messages, Extra: map[string]any{"generationConfig": map[string]any{"temperature": json.Number("0.250")}}}, `"temperature":0.250`},
		"GoogleTools": {
			gemini.Config{Extra: map[string]any{"tools": []any{map[string]any{"googleSearch": map[string]any{}}}}},
			spool.ModelRequest{Messages: hello().Messages, Tools: []spool.ToolSpec{{Name: "coin"}}},
			`"tools":[{"functionDeclarations":[{"name":"coin"}]},{"googleSearch":{}}]`,
		},
		"TypedTools": {
			gemini.Config{Extra: map[string]any{"tools": []map[string]any{{"urlContext": map[string]any{}}}}},
			spool.ModelRequest{Messages: hello().Messages, Tools: []spool.ToolSpec{{Name: "coin"}}},
			`"tools":[{"functionDeclarations":[{"name":"coin"}]},{"urlContext":{}}]`,
		},
		"Schema": {
			gemini.Config{},
			spool.ModelRequest{Messages: hello().Messages, Tools: []spool.ToolSpec{{Name: "coin", Parameters: json.RawMessage(`{"type":"object","properties":{"z":{"maximum":12345678901234567890},"a":{}}}`)}}},
			`"parametersJsonSchema":{"type":"object","properties":{"z":{"maximum":12345678901234567890},"a":{}}}`,
		},
		"Output": {
			gemini.Config{},
			spool.ModelRequest{Messages: hello().Messages, Output: &spool.OutputSchema{Name: "x", Schema: json.RawMessage(`{"type":"object","properties":{"z":{},"a":{}}}`)}},
			`"responseJsonSchema":{"type":"object","properties":{"z":{},"a":{}}},"responseMimeType":"application/json"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantIn(t, body(t, c.config, c.request), c.want)
		})
	}
}

func TestMedia(t *testing.T) {
	t.Parallel()

	image := func(url, mimeType string) spool.Part {
		return spool.Part{Type: spool.PartImage, Image: url, MIMEType: mimeType}
	}
	r := spool.ModelRequest{Messages: []spool.Message{{Role: spool.RoleUser, Content: spool.Content{
		image("https://example.com/cat.png?sig=1", ""), image("data:image/png;base64,iVBORw0KGgo=", ""), image("DATA:text/plain;charset=utf-8,a%20b", ""),
		{Type: spool.PartFile, File: "https://generativelanguage.googleapis.com/v1beta/files/x", MIMEType: "application/pdf", FileName: "x.pdf"},
		{Type: spool.PartFile, File: "data:application/pdf;base64,JVBERg=="},
		{Type: spool.PartFile, File: "data:text/csv,a", FileName: "a.csv"},
		{Type: spool.PartFile, File: "data:application/zip;base64,UEs=", FileName: "a.zip"},
	}}}}
	wantIn(t, body(t, gemini.Config{}, r), `"parts":[{"fileData":{"mimeType":"image/png","fileUri":"https://example.com/cat.png?sig=1"}},`+
		`{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}},{"inlineData":{"mimeType":"text/plain","data":"YSBi"}},`+
		`{"fileData":{"mimeType":"application/pdf","fileUri":"https://generativelanguage.googleapis.com/v1beta/files/x"}},`+
		`{"inlineData":{"mimeType":"application/pdf","data":"JVBERg=="}},{"text":"The file \"a.csv\":\n\na\n"},`+
		`{"text":"[a file \"a.zip\" of the type application/zip, which cannot be shown]"}]`)

	for _, url := range []string{"data:image/png;base64", "data:text/plain,%zz"} {
		p := newPeer(t, fake.Config{})
		r.Messages[0].Content = spool.Content{image(url, "image/png")}
		if err := mustFail(t, p.model(t, gemini.Config{}), r); !err.Permanent() || p.Count() != 0 {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// An image in a tool's result is a part of the response, or stands after all responses.
func TestMediaInResults(t *testing.T) {
	t.Parallel()

	messages := []spool.Message{
		user("Look."),
		{Role: spool.RoleAssistant, Content: spool.Content{
			{Type: spool.PartToolCall, ToolCallID: "a", ToolName: "camera", Args: json.RawMessage(`"{\"city\":\"Os"`)},
			{Type: spool.PartToolCall, ToolCallID: "b", ToolName: "clock"},
		}},
		{Role: spool.RoleTool, Content: spool.Content{
			{Type: spool.PartToolResult, ToolCallID: "b", ToolName: "clock", Result: json.RawMessage(`[1]`)},
			{Type: spool.PartToolResult, ToolCallID: "a", ToolName: "camera", Result: json.RawMessage(`{"ok":true}`)},
			{Type: spool.PartImage, Image: "data:image/png;base64,iVBORw0KGgo="},
			{Type: spool.PartFile, File: "data:application/pdf;base64,JVBERg=="},
			{Type: spool.PartFile, File: "data:application/zip;base64,UEs="},
		}},
		user("And?"),
	}
	const call = `"functionCall":{"name":"camera","args":{"invalid_arguments":"{\"city\":\"Os"}}},{"functionCall":{"name":"clock","args":{}}}`
	const inline = `{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}},{"inlineData":{"mimeType":"application/pdf","data":"JVBERg=="}}`
	const clocked = `{"functionResponse":{"name":"clock","response":{"output":[1]}}}`
	wantIn(t, body(t, gemini.Config{}, spool.ModelRequest{Messages: messages}), `{"thoughtSignature":"skip_thought_signature_validator",`+call,
		`[{"functionResponse":{"name":"camera","response":{"ok":true},"parts":[`+inline+`]}},`+clocked+`,{"text":"And?"}]`)
	wantIn(t, body(t, gemini.Config{Model: "gemini-2.5-x"}, spool.ModelRequest{Messages: messages}), `[{`+call,
		`[{"functionResponse":{"name":"camera","response":{"ok":true}}},`+clocked+`,`+inline+`,{"text":"And?"}]`)
}

// The API wants a user first and last, and a response to each call.
func TestTurns(t *testing.T) {
	t.Parallel()

	got := body(t, gemini.Config{}, spool.ModelRequest{Messages: []spool.Message{
		{Role: spool.RoleAssistant, Content: spool.Content{{Type: spool.PartToolCall, ToolCallID: "a", ToolName: "clock"}}},
		{Role: spool.RoleAssistant, Content: spool.Content{{Type: spool.PartReasoning, Text: "Foreign."}, {Type: spool.PartText}}},
		{Role: spool.RoleTool, Content: spool.Content{{Type: spool.PartToolResult, ToolCallID: "lost", ToolName: "clock", Result: json.RawMessage(`1`)}}},
		{Role: spool.RoleSystem, Content: spool.Content{{Type: spool.PartSummary, Text: "Summary."}}},
		{Role: spool.RoleAssistant, Content: spool.TextContent("Half")},
	}})
	wantIn(t, got, `[{"role":"user","parts":[{"text":"(The messages before this one are not shown.)"}]},`,
		`{"role":"user","parts":[{"functionResponse":{"name":"clock","response":{"error":"the call has no result"}}},{"text":"Summary."}]},`+
			`{"role":"model","parts":[{"text":"Half"}]},{"role":"user","parts":[{"text":"Continue."}]}]`)
}

// The name of the function for the output is one that no tool has.
func TestOutputToolName(t *testing.T) {
	t.Parallel()

	long := strings.Repeat("x", 64)
	p := newPeer(t, fake.Config{Answer: func(r *fake.Request) fake.Answer {
		return fake.Answer{Parts: []fake.Part{fake.FunctionCall(r.Functions[len(r.Functions)-1], `{"a":1}`)}}
	}})
	got := mustAsk(t, p.model(t, gemini.Config{Model: "gemini-2.5-x"}), spool.ModelRequest{
		Messages: hello().Messages, Tools: []spool.ToolSpec{{Name: long}}, Output: &spool.OutputSchema{Name: long, Schema: json.RawMessage(`{"type":"object"}`)},
	})
	if got.message.Text() != `{"a":1}` || got.finish.Reason != spool.FinishStop || len(got.message.ToolCalls()) != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestWrongConfig(t *testing.T) {
	t.Parallel()

	budget, tooLow := 1, -2
	for want, config := range map[string]gemini.Config{
		"Model is required":                                    {},
		"Model is not the name of a model":                     {Model: "../x"},
		"BaseURL is not an http or https URL":                  {Model: "x", BaseURL: "localhost:1"},
		"BaseURL must not have a user, use APIKey or Headers":  {Model: "x", BaseURL: "http://a:b@c"},
		"BaseURL must not have a query, use APIKey or Headers": {Model: "x", BaseURL: "http://c?key=1"},
		"APIKey has a blank or a line break in it":             {Model: "x", APIKey: "a b"},
		"ContextWindow must not be negative":                   {Model: "x", ContextWindow: -1},
		"MaxOutputTokens must be from 0 to 2147483647":         {Model: "x", MaxOutputTokens: -1},
		"ThinkingLevel must be MINIMAL, LOW, MEDIUM or HIGH":   {Model: "x", ThinkingLevel: "low"},
		"ThinkingBudget and ThinkingLevel exclude each other":  {Model: "x", ThinkingLevel: "LOW", ThinkingBudget: &budget},
		"ThinkingBudget must be from -1 to 2147483647":         {Model: "x", ThinkingBudget: &tooLow},
	} {
		if _, err := gemini.New(config); err == nil || err.Error() != want || spool.CodeOf(err) != spool.Invalid {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	m, err := gemini.New(gemini.Config{Model: "models/gemini-3-pro-preview", ContextWindow: 5})
	if err != nil || m.ContextWindow() != 5 || m.LookupWindow("x") != 1_048_576 {
		t.Errorf("got %v", err)
	}
}
