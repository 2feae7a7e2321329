package anthropic_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/testing/recorder"
	"github.com/spoolhq/spool/model/anthropic"
)

var update = flag.Bool("update", false, "write the requests again")

// changed maps headers of the golden file to what they are now. Empty: they are not sent.
var changed = map[string]string{
	"User-Agent: Anthropic/Go 1.84.0":       "User-Agent: Go-http-client/1.1",
	"X-Stainless-Arch: x64":                 "",
	"X-Stainless-Lang: go":                  "",
	"X-Stainless-Os: Linux":                 "",
	"X-Stainless-Package-Version: 1.84.0":   "",
	"X-Stainless-Retry-Count: 0":            "",
	"X-Stainless-Runtime: go":               "",
	"X-Stainless-Runtime-Version: go1.26.8": "",
}

// wireCase is a request that a golden file has.
type wireCase struct {
	name string
	// under follows the URL of the server.
	under  string
	config anthropic.Config
	r      spool.ModelRequest
}

// The requests are those of the golden file, byte for byte. It was recorded when Anthropic's own SDK made the
// requests.
func TestRequestsOnTheWire(t *testing.T) {
	t.Parallel()

	got := &recorder.Recorder{Next: recorder.Says(`{"type":"message","content":[],"stop_reason":"end_turn"}`)}
	web := serve(t, got)
	file := filepath.Join("testdata", "requests.txt")
	golden, err := os.ReadFile(file)
	if err != nil && !*update {
		t.Fatal(err)
	}
	var now strings.Builder
	for _, c := range wireCases() {
		if _, err := stream(t, newModel(t, web.URL+c.under, c.config), c.r); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		fmt.Fprintf(&now, "== %s\n%s", c.name, got.Last)
		if *update {
			continue
		}
		if want, ok := recorded(string(golden), c.name); !ok {
			t.Errorf("%s is not in %s", c.name, file)
		} else if diff := cmp.Diff(want.String(), got.Last.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(now.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// recorded returns a request of a golden file, with the headers as they are now.
func recorded(golden, name string) (want recorder.Request, ok bool) {
	_, rest, ok := strings.Cut("\n"+golden, "\n== "+name+"\n")
	lines := strings.SplitN(rest, "\n", 4)
	if !ok || len(lines) < 3 {
		return want, false
	}
	want = recorder.Request{Line: lines[0], Body: lines[2]}
	for header := range strings.SplitSeq(lines[1], "\t") {
		if now, ok := changed[header]; ok {
			header = now
		}
		if header != "" {
			want.Headers = append(want.Headers, header)
		}
	}
	return want, true
}

func wireCases() []wireCase {
	const (
		signed   = `{"anthropic":{"model":"claude-test-4","signature":"s1=="}}`
		redacted = `{"anthropic":{"model":"claude-test-4","redacted":"d1=="}}`
		cited    = `{"anthropic":{"model":"claude-test-4","citations":[{"type":"char_location","cited_text":"<a>"}]}}`
		called   = `{"anthropic":{"model":"claude-test-4","id":"toolu_1","caller":{"type":"code_execution","tool_id":"srvtoolu_1"}}}`
		whole    = `{"anthropic":{"model":"claude-test-4","block":{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"1 < 2"}}}}`
	)
	part := func(kind spool.PartType, text, provider string) spool.Part {
		return spool.Part{Type: kind, Text: text, Provider: json.RawMessage(provider)}
	}
	call := func(id spool.ToolCallID, args, provider string) spool.Part {
		return spool.Part{
			Type: spool.PartToolCall, ToolCallID: id, ToolName: "weather", Args: json.RawMessage(args),
			Provider: json.RawMessage(provider),
		}
	}
	result := func(id spool.ToolCallID, value string, more ...spool.Part) spool.Message {
		return spool.Message{Role: spool.RoleTool, Content: append(spool.Content{
			{Type: spool.PartToolResult, ToolCallID: id, ToolName: "weather", Result: json.RawMessage(value)},
		}, more...)}
	}
	says := func(parts ...spool.Part) spool.Message {
		return spool.Message{Role: spool.RoleAssistant, Content: parts}
	}
	shows := func(parts ...spool.Part) spool.ModelRequest {
		return spool.ModelRequest{Messages: []spool.Message{{Role: spool.RoleUser, Content: parts}}}
	}
	image := func(url string) spool.Part { return spool.Part{Type: spool.PartImage, Image: url} }
	file := func(url, kind, name string) spool.Part {
		return spool.Part{Type: spool.PartFile, File: url, MIMEType: kind, FileName: name}
	}
	with := func(change func(r *spool.ModelRequest), texts ...string) spool.ModelRequest {
		r := asks(texts...)
		change(&r)
		return r
	}
	talk := func(messages ...spool.Message) spool.ModelRequest { return spool.ModelRequest{Messages: messages} }
	tools := []spool.ToolSpec{
		{
			Name: "weather", Description: "The weather of <city> & around.",
			Parameters: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}}}`),
		},
		{Name: "coin"},
	}
	hasTools := func(r *spool.ModelRequest) { r.Tools = tools }
	output := &spool.OutputSchema{Name: "report", Description: "A report.", Schema: json.RawMessage(
		`{"type":"object","properties":{"n":{"type":"integer","minimum":1},"s":{"type":"string","description":"x < y","maxLength":9}},"required":["n"]}`)}
	hasOutput := func(r *spool.ModelRequest) { r.Output = output }
	hasBoth := func(r *spool.ModelRequest) { r.Tools, r.Output = tools, output }
	thinking := func(mode anthropic.Mode, budget int, display anthropic.Display) anthropic.Config {
		return anthropic.Config{Thinking: anthropic.Thinking{Mode: mode, Budget: budget, Display: display}}
	}
	marked := with(func(r *spool.ModelRequest) {
		r.Instructions, r.Tools, r.CacheMarks = "Be brief.", tools, []int{0, 1, 2, 3}
	}, "a", "b", "c")
	history := talk(
		user("Oslo?"),
		says(part(spool.PartReasoning, "Hm.", signed), part(spool.PartReasoning, "", redacted),
			part(spool.PartReasoning, "Not signed.", ""),
			part(spool.PartText, "Looking <there> & here.", cited), call("call_1", `{"city":"<Oslo>"}`, called),
			call("call 2|ä", `{"city":`, "")),
		result("call_1", `{"ok":true}`), result("call 2|ä", `"no"`),
		says(part(spool.PartProvider, "", whole), part(spool.PartText, "Sunny.", "")),
		user("And now?"),
	)
	return []wireCase{
		{name: "text", r: asks("Hello <you> & me ✓\u2028")},
		{name: "key", config: anthropic.Config{APIKey: "sk-0123456789"}, r: asks("Hi?")},
		{name: "headers", config: anthropic.Config{APIKey: "sk-0123456789", Headers: map[string]string{
			"anthropic-beta": "one-2025-01-01,two-2025-02-02", "X-Team": "a b", "x-api-key": "other", "accept": "text/plain",
			"anthropic-version": "2024-01-01", "user-agent": "mine/1",
		}}, r: asks("Hi?")},
		{name: "path", under: "/gateway/v2", r: asks("Hi?")},
		{name: "path with a slash", under: "/gateway/", r: asks("Hi?")},
		{name: "path with a blank", under: "/a%20b", r: asks("Hi?")},
		{name: "query", under: "/gateway?key=value", r: asks("Hi?")},
		{name: "instructions", r: with(func(r *spool.ModelRequest) { r.Instructions = "Be <brief>." }, "Hi?", "There?")},
		{
			name: "system message",
			r:    talk(spool.Message{Role: spool.RoleSystem, Content: spool.TextContent("Now in German.")}, user("Hi?")),
		},
		{
			name: "images",
			r: shows(image("https://example.com/a.png?b=c&d=e"), image("data:image/png;base64,iVBORw0KGgo="),
				image("data:image/tiff;base64,AAAA")),
		},
		{name: "documents", r: shows(
			file("data:application/pdf;base64,JVBERi0=", "application/pdf", "a.pdf"),
			file("https://example.com/a.pdf", "application/pdf", ""),
			file("data:text/csv;base64,YSxi", "text/csv", "a.csv"),
			file("data:application/zip;base64,UEs=", "application/zip", "a.zip"))},
		{name: "tools", r: with(hasTools, "Hi?")},
		{name: "buffered input", config: anthropic.Config{BufferedInput: true}, r: with(hasTools, "Hi?")},
		{name: "tool choice", r: with(func(r *spool.ModelRequest) {
			r.Tools, r.Extra = tools, map[string]any{
				"tool_choice": map[string]any{"type": "tool", "name": "coin", "disable_parallel_tool_use": true},
			}
		}, "Hi?")},
		{
			name: "tools of the provider", config: anthropic.Config{
				Extra: map[string]any{"tools": []any{map[string]any{"type": "web_search_20250305", "name": "web_search"}}},
			},
			r: with(hasTools, "Hi?"),
		},
		{name: "history", r: history},
		{name: "history of another model", config: anthropic.Config{Model: "claude-other-5"}, r: history},
		{name: "images in a result", r: talk(user("Look."), says(call("call_1", `{}`, "")),
			result("call_1",
				`{"content":[{"type":"text","text":"Here."},{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"}],"isError":true}`,
				file("data:application/pdf;base64,JVBERi0=", "application/pdf", "a.pdf")))},
		{name: "continued answer", r: talk(user("Go on."), says(part(spool.PartText, "Half of ", "")))},
		{
			name: "continued after a pause",
			r:    talk(user("Cats?"), says(part(spool.PartReasoning, "I search.", signed), part(spool.PartProvider, "", whole))),
		},
		{name: "cache", r: marked},
		{name: "cache for an hour", config: anthropic.Config{Cache: anthropic.CacheLong}, r: marked},
		{name: "no cache", config: anthropic.Config{Cache: anthropic.CacheOff}, r: marked},
		{
			name: "adaptive thinking", config: thinking(anthropic.ThinkingAdaptive, 0, anthropic.DisplaySummarized),
			r: asks("Hi?"),
		},
		{
			name: "budget of thinking", config: thinking(anthropic.ThinkingBudget, 2000, anthropic.DisplayOmitted),
			r: asks("Hi?"),
		},
		{
			name: "budget cut", config: thinking(anthropic.ThinkingBudget, 2000, ""),
			r: with(func(r *spool.ModelRequest) { r.MaxOutputTokens = 1500 }, "Hi?"),
		},
		{
			name: "budget in an unfinished turn", config: thinking(anthropic.ThinkingBudget, 2000, ""),
			r: talk(user("Hi?"), says(call("call_1", `{}`, "")), result("call_1", `1`)),
		},
		{name: "no thinking", config: thinking(anthropic.ThinkingOff, 0, ""), r: asks("Hi?")},
		{name: "bounded", config: anthropic.Config{MaxOutputTokens: 500}, r: asks("Hi?")},
		{name: "older model", config: anthropic.Config{Model: "claude-3-5-haiku-20241022"}, r: asks("Hi?")},
		{
			name: "extra", config: anthropic.Config{
				Extra: map[string]any{
					"temperature": 0.25, "top_k": 5, "stop_sequences": []string{"<end>", "\n\n"}, "stream": false,
				},
			},
			r: with(func(r *spool.ModelRequest) {
				r.Extra = map[string]any{
					"top_k": json.Number("1e2"), "metadata": map[string]any{"user_id": "u-1"}, "model": "claude-3-opus-latest",
					"service_tier": "auto",
				}
			}, "Hi?"),
		},
		{name: "output", r: with(hasOutput, "Hi?")},
		{name: "output with tools", r: with(hasBoth, "Hi?")},
		{
			name: "output with effort", config: anthropic.Config{
				Extra: map[string]any{"output_config": map[string]any{"effort": "low", "format": "lost"}},
			},
			r: with(hasOutput, "Hi?"),
		},
		{name: "output of any type", r: with(func(r *spool.ModelRequest) {
			r.Output = &spool.OutputSchema{
				Name: "any", Schema: json.RawMessage(`{"type":["object","null"],"minProperties":1,"a":"<"}`),
			}
		}, "Hi?")},
		{name: "output by a tool", config: anthropic.Config{Output: anthropic.OutputTool}, r: with(hasOutput, "Hi?")},
		{name: "output by one of the tools", config: anthropic.Config{Output: anthropic.OutputTool}, r: with(hasBoth, "Hi?")},
		{
			name: "output by a tool with thinking",
			config: anthropic.Config{
				Output: anthropic.OutputTool, Thinking: anthropic.Thinking{Mode: anthropic.ThinkingAdaptive},
			},
			r: with(hasBoth, "Hi?"),
		},
	}
}
