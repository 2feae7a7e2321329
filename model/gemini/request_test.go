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

// A malformed data URL is refused without a request.
func TestMalformedMedia(t *testing.T) {
	t.Parallel()

	for _, url := range []string{"data:image/png;base64", "data:text/plain,%zz"} {
		p := newPeer(t, fake.Config{})
		image := spool.Content{{Type: spool.PartImage, Image: url, MIMEType: "image/png"}}
		r := spool.ModelRequest{Messages: []spool.Message{{Role: spool.RoleUser, Content: image}}}
		if err := mustFail(t, p.model(t, gemini.Config{}), r); !err.Permanent() || p.Count() != 0 {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// The API wants a user first and last, and a response to each call.
func TestTurns(t *testing.T) {
	t.Parallel()

	got := body(t, gemini.Config{}, spool.ModelRequest{Messages: []spool.Message{
		{Role: spool.RoleAssistant, Content: spool.Content{{Type: spool.PartToolCall, ToolCallID: "a", ToolName: "clock"}}},
		{
			Role:    spool.RoleAssistant,
			Content: spool.Content{{Type: spool.PartReasoning, Text: "Foreign."}, {Type: spool.PartText}},
		},
		{
			Role: spool.RoleTool,
			Content: spool.Content{
				{Type: spool.PartToolResult, ToolCallID: "lost", ToolName: "clock", Result: json.RawMessage(`1`)},
			},
		},
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
		Messages: hello().Messages, Tools: []spool.ToolSpec{{Name: long}},
		Output: &spool.OutputSchema{Name: long, Schema: json.RawMessage(`{"type":"object"}`)},
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
	if err != nil || m.Describe().ContextWindow != 5 || m.Describe().KnownWindow(m.Describe().Model) != 1_048_576 {
		t.Errorf("got %v", err)
	}
}
