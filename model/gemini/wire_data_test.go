package gemini_test

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/model/gemini"
)

// wireCase is a request to record. Its BaseURL is added to the server's. Without messages, it says hello.
type wireCase struct {
	config   gemini.Config
	request  spool.ModelRequest
	deadline bool
	// refused is true if the Gemini API refuses the request.
	refused bool
}

// wireCases has all fields of a configuration and of a request, alone and together with the fields that change them.
func wireCases() map[string]wireCase {
	budget, none, dynamic := 2048, 0, -1
	const old = "gemini-2.5-test"
	messages := func(m ...spool.Message) spool.ModelRequest { return spool.ModelRequest{Messages: m} }
	extra := func(text string) map[string]any {
		var fields map[string]any
		if err := json.Unmarshal([]byte(text), &fields); err != nil {
			panic(err)
		}
		return fields
	}
	output := &spool.OutputSchema{
		Name: "weather", Description: "The <weather>.",
		Schema: json.RawMessage(`{ "type": "object", "properties": {"z": {"maximum": 12345678901234567890}, "a": {"pattern": "<&>"}} }`),
	}

	return map[string]wireCase{
		"text": {},
		"conversation": {
			request: messages(user("Hello <you> & \"me\" \u2028 🌞\x00."), answered("Hi."), user("And?"), user("Well?")),
		},
		"not-utf8": {request: messages(user("a\xff\xfeb"))},
		"turns": {
			request: messages(answered("Half"),
				spool.Message{Role: spool.RoleSystem, Content: spool.Content{{Type: spool.PartSummary, Text: "Summary."}}},
				answered("Half")),
		},
		"instructions": {request: spool.ModelRequest{Instructions: "Be <kind> & \"brief\".\n\u2028🌞"}},
		"purpose":      {request: spool.ModelRequest{Kind: spool.UsageCompaction, CacheKey: "k", CacheMarks: []int{0, 1}}},
		"media":        {request: messages(spool.Message{Role: spool.RoleUser, Content: media()})},
		"tools":        {request: spool.ModelRequest{Tools: wireTools()}},
		"calls":        {request: messages(called()...)},
		"calls-old":    {config: gemini.Config{Model: old}, request: messages(called()...)},
		"signed":       {request: messages(user("Go."), signedAnswer(testModel), results(), user("And?")), refused: true},
		"signed-other": {
			config:  gemini.Config{Model: "gemini-3-other"},
			request: messages(user("Go."), signedAnswer(testModel), results(), user("And?")),
		},
		"continuation":  {request: messages(user("Count."), interrupted(testModel))},
		"output":        {request: spool.ModelRequest{Output: output}},
		"output-tools":  {request: spool.ModelRequest{Output: output, Tools: wireTools()}},
		"output-old":    {config: gemini.Config{Model: old}, request: spool.ModelRequest{Output: output}},
		"output-forced": {config: gemini.Config{Model: old}, request: spool.ModelRequest{Output: output, Tools: wireTools()}},
		"level":         {config: gemini.Config{ThinkingLevel: gemini.ThinkingHigh, IncludeThoughts: true}},
		"budget":        {config: gemini.Config{Model: old, ThinkingBudget: &budget, IncludeThoughts: true}},
		"budget-none":   {config: gemini.Config{Model: old, ThinkingBudget: &none}},
		"budget-any":    {config: gemini.Config{Model: old, ThinkingBudget: &dynamic}},
		"thoughts":      {config: gemini.Config{IncludeThoughts: true}},
		"bound":         {config: gemini.Config{MaxOutputTokens: 1<<31 - 1}},
		"bound-lower":   {config: gemini.Config{MaxOutputTokens: 100}, request: spool.ModelRequest{MaxOutputTokens: 40}},
		"bound-huge":    {request: spool.ModelRequest{MaxOutputTokens: 1 << 40}},
		"extra": {
			refused: true, // the seed is too large
			config: gemini.Config{MaxOutputTokens: 7, ThinkingLevel: gemini.ThinkingLow, Extra: extra(`{
				"safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}], "cachedContent": "cachedContents/<x>",
				"generationConfig": {"temperature": 0.2, "stopSequences": ["<end>"], "thinkingConfig": {"includeThoughts": true}}, "labels": {"a": "b"}
			}`)},
			request: spool.ModelRequest{Instructions: "Be kind.", Extra: map[string]any{
				"generationConfig": map[string]any{
					"temperature": json.Number("0.250"), "seed": json.Number("12345678901234567890"), "maxOutputTokens": nil,
				},
				"systemInstruction": map[string]any{"role": "system"}, "labels": "none",
				"raw": json.RawMessage(`{ "z": "<", "a": 1e2 }`),
			}},
		},
		"extra-wins": {
			request: spool.ModelRequest{
				Extra: extra(`{"contents": [{"parts": [{"text": "Mine."}]}], "generationConfig": null}`),
			},
			refused: true,
		},
		"extra-tools": {
			config: gemini.Config{
				Extra: extra(`{"tools": [{"googleSearch": {}}], "toolConfig": {"includeServerSideToolInvocations": true}}`),
			},
			request: spool.ModelRequest{
				Tools: wireTools(), Extra: map[string]any{"tools": []map[string]any{{"urlContext": map[string]any{}}}},
			},
		},
		"extra-tool": {config: gemini.Config{Extra: extra(`{"tools": [{"codeExecution": {}}]}`)}},
		"extra-forced": {
			config: gemini.Config{
				Model: old,
				Extra: extra(`{"toolConfig": {"functionCallingConfig": {"allowedFunctionNames": ["a"]}, "retrievalConfig": {"languageCode": "en"}}}`),
			},
			request: spool.ModelRequest{Output: output, Tools: wireTools()},
		},
		"key": {config: gemini.Config{APIKey: "key-of-the-test"}},
		"headers": {
			config: gemini.Config{
				APIKey: "key-of-the-test",
				Headers: map[string]string{
					"x-gate": "<a> b", "accept": "text/plain", "user-agent": "mine/1", "x-goog-api-client": "mine/2",
					"X-Goog-Api-Key": "other",
				},
			},
		},
		"headers-type": {
			config: gemini.Config{
				Headers: map[string]string{"Content-Type": "application/json; charset=utf-8", "X-Server-Timeout": "5"},
			},
		},
		"deadline":          {deadline: true},
		"client-timeout":    {config: gemini.Config{HTTPClient: &http.Client{Timeout: time.Minute}}},
		"base-slash":        {config: gemini.Config{BaseURL: "/"}},
		"base-version":      {config: gemini.Config{BaseURL: "/v1beta"}},
		"base-gate":         {config: gemini.Config{BaseURL: "/gate/v1beta/"}, refused: true},
		"base-escaped":      {config: gemini.Config{BaseURL: "/a%2Fb//c%20d/../e%21/?"}, refused: true},
		"base-escaped-v1":   {config: gemini.Config{BaseURL: "/a%2Fb%21/v1beta"}, refused: true},
		"base-escaped-bare": {config: gemini.Config{BaseURL: "/a%2Fb%21"}, refused: true},
		"model":             {config: gemini.Config{Model: "models/gemini-3-Test_1.0"}},
		"model-tuned":       {config: gemini.Config{Model: "tunedModels/mine-4711"}, refused: true},
	}
}

func answered(text string) spool.Message {
	return spool.Message{Role: spool.RoleAssistant, Content: spool.TextContent(text)}
}

// media is content of each kind.
func media() spool.Content {
	file := func(url, mimeType, name string) spool.Part {
		return spool.Part{Type: spool.PartFile, File: url, MIMEType: mimeType, FileName: name}
	}
	return spool.Content{
		{Type: spool.PartText, Text: "See."},
		{Type: spool.PartText},
		{Type: spool.PartImage, Image: "https://example.com/cat.png?a=1&b=<2>"},
		{Type: spool.PartImage, Image: "data:image/png;base64,iVBORw0KGgo+/w=="},
		{Type: spool.PartImage, Image: "DATA:text/plain;charset=utf-8,a%20b"},
		file("https://generativelanguage.googleapis.com/v1beta/files/x", "application/pdf", "x.pdf"),
		file("https://example.com/odd", "", ""),
		file("data:application/pdf;base64,JVBERg==", "", ""),
		file("data:audio/wav;base64,UklGRg==", "", "a.wav"),
		file("data:video/mp4;base64,AAAA", "video/mp4", "a.mp4"),
		file("data:text/csv,a<b", "", "a.csv"),
		file("data:application/zip;base64,UEs=", "", "a.zip"),
	}
}

func wireTools() []spool.ToolSpec {
	return []spool.ToolSpec{
		{
			Name: "weather", Description: "Tells the <weather> & more.",
			Parameters: json.RawMessage(`{ "type": "object", "properties": {"z": {"maximum": 12345678901234567890, "default": 1.0}, "a": {"pattern": "^<&>\u2028$"}}, "required": ["z"] }`),
		},
		{Name: "coin"},
	}
}

// called is a conversation with calls of another provider's model, whose results have files.
func called() []spool.Message {
	return []spool.Message{
		user("Look."),
		{Role: spool.RoleAssistant, Content: spool.Content{
			{
				Type: spool.PartReasoning, Text: "Foreign.",
				Provider: json.RawMessage(`{"anthropic":{"model":"x","signature":"s"}}`),
			},
			{Type: spool.PartText, Text: "Looking."},
			{
				Type: spool.PartToolCall, ToolCallID: "a", ToolName: "camera",
				Args: json.RawMessage(`{ "z": 12345678901234567890, "a": "<&>" }`),
			},
			{Type: spool.PartToolCall, ToolCallID: "b", ToolName: "clock"},
			{Type: spool.PartToolCall, ToolCallID: "c", ToolName: "clock", Args: json.RawMessage(`"{\"city\":\"Os"`)},
			{Type: spool.PartToolCall, ToolCallID: "lost", ToolName: "clock", Args: json.RawMessage(`null`)},
		}},
		{Role: spool.RoleTool, Content: spool.Content{
			{Type: spool.PartToolResult, ToolCallID: "c", ToolName: "clock", Result: json.RawMessage(`"<noon>"`)},
			{
				Type: spool.PartToolResult, ToolCallID: "a", ToolName: "camera",
				Result: json.RawMessage(`{ "n": 12345678901234567890, "ok": "<&>" }`),
			},
			{Type: spool.PartImage, Image: "data:image/png;base64,iVBORw0KGgo="},
			{Type: spool.PartFile, File: "https://example.com/a.pdf"},
			{Type: spool.PartFile, File: "data:application/zip;base64,UEs="},
		}},
		{
			Role: spool.RoleTool,
			Content: spool.Content{
				{Type: spool.PartToolResult, ToolCallID: "b", ToolName: "clock", Result: json.RawMessage(`[ 1.0 ]`)},
			},
		},
		user("And?"),
	}
}

// provider returns the data that a model has saved in a part.
func provider(model, fields string) json.RawMessage {
	return json.RawMessage(`{"gemini":{"model":"` + model + `",` + fields + `}}`)
}

// signedAnswer has each kind of part that a model signs.
func signedAnswer(model string) spool.Message {
	return spool.Message{Role: spool.RoleAssistant, Content: spool.Content{
		{Type: spool.PartReasoning, Text: "I <think>.", Provider: provider(model, `"signature":"sigR/+A=="`)},
		{Type: spool.PartReasoning, Provider: provider(model, `"signature":"sealed"`)},
		{Type: spool.PartText, Text: "Looking.", Provider: provider(model, `"signature":"sigT/+A=="`)},
		{Type: spool.PartText, Provider: provider(model, `"signature":"sigE"`)},
		{
			Type: spool.PartProvider,
			Provider: provider(model,
				`"part":{ "executableCode": {"language": "PYTHON", "code": "1 < 2", "n": 12345678901234567890} }`),
		},
		{
			Type: spool.PartToolCall, ToolCallID: "a", ToolName: "weather", Args: json.RawMessage(`{"city": "Oslo"}`),
			Provider: provider(model, `"signature":"sigC/+A==","id":"call-<1>"`),
		},
		{Type: spool.PartToolCall, ToolCallID: "b", ToolName: "coin", Provider: provider(model, `"id":"call-2"`)},
	}}
}

// results are the results of the calls of a signed answer.
func results() spool.Message {
	return spool.Message{Role: spool.RoleTool, Content: spool.Content{
		{Type: spool.PartToolResult, ToolCallID: "a", ToolName: "weather", Result: json.RawMessage(`{"degrees": 21.0}`)},
		{Type: spool.PartToolResult, ToolCallID: "b", ToolName: "coin", Result: json.RawMessage(`"head"`)},
	}}
}

// interrupted is an answer that can go on.
func interrupted(model string) spool.Message {
	m := answered("One, ")
	m.Content = append(m.Content, spool.Part{
		Type: spool.PartProvider, Provider: provider(model, `"continuation":"dG9rZW4x+/<"`),
	})
	return m
}
