package anthropic_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	fake "github.com/spoolhq/spool/internal/testing/fake/anthropic"
	"github.com/spoolhq/spool/model/anthropic"
)

// sent is what the provider got of a request.
type sent struct {
	fake.Request

	fields map[string]json.RawMessage
}

// send asks for an answer and returns what the provider got. The fake refuses what the provider refuses.
func send(t *testing.T, config anthropic.Config, r spool.ModelRequest) sent {
	t.Helper()

	var got sent
	_, url := newPeer(t, func(r fake.Request) fake.Answer {
		got.Request = r
		return blocks(fake.Text("Fine."))
	})
	if _, err := stream(t, newModel(t, url, config), r); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(got.Raw, &got.fields); err != nil {
		t.Fatal(err)
	}
	return got
}

// wantField compares a field of a request with JSON. "" stands for no field.
func (s sent) wantField(t *testing.T, name, want string) {
	t.Helper()

	got, ok := s.fields[name]
	if want == "" {
		if ok {
			t.Errorf("%s is %s", name, got)
		}
		return
	}
	var a, b any
	if err := json.Unmarshal([]byte(want), &b); err != nil {
		t.Fatal(err)
	}
	if json.Unmarshal(got, &a) != nil {
		t.Errorf("no field %s", name)
		return
	}
	if diff := cmp.Diff(b, a); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestMessages(t *testing.T) {
	t.Parallel()

	part := func(p spool.Part) spool.Content { return spool.Content{p} }
	s := send(t, anthropic.Config{}, spool.ModelRequest{
		Instructions: "Be brief.",
		Messages: []spool.Message{
			{Role: spool.RoleSystem, Content: spool.TextContent("Before: nothing.")},
			user("Hello?"),
			{Role: spool.RoleAssistant, Content: spool.Content{
				{Type: spool.PartReasoning, Text: "Unsigned."},
				{Type: spool.PartText, Text: ""},
				{Type: spool.PartText, Text: "Looking."},
				{Type: spool.PartToolCall, ToolCallID: "call 1|äöü", ToolName: "weather", Args: json.RawMessage(`{"a":"<b>&"}`)},
				{Type: spool.PartToolCall, ToolCallID: "call_2", ToolName: "clock", Args: json.RawMessage(`"{\"zone\""`)},
			}},
			{
				Role: spool.RoleTool,
				Content: part(spool.Part{
					Type: spool.PartToolResult, ToolCallID: "call 1|äöü", Result: json.RawMessage(`{"ok":true}`),
				}),
			},
			{
				Role:    spool.RoleTool,
				Content: part(spool.Part{Type: spool.PartToolResult, ToolCallID: "call_2", Result: json.RawMessage(`""`)}),
			},
			{
				Role:    spool.RoleAssistant,
				Content: part(spool.Part{Type: spool.PartToolCall, ToolCallID: "call_2", ToolName: "clock"}),
			},
			{
				Role:    spool.RoleTool,
				Content: part(spool.Part{Type: spool.PartToolResult, ToolCallID: "call_2", Result: json.RawMessage(`"noon"`)}),
			},
			user(" \n"),
			user("Thanks."),
			{Role: spool.RoleAssistant, Content: spool.TextContent("Well, ")},
		},
	})
	s.wantField(t, "system", `[{"type":"text","text":"Be brief."}]`)
	s.wantField(t, "max_tokens", "32000")
	s.wantField(t, "tools", "")
	s.wantField(t, "thinking", "")
	s.wantField(t, "messages", `[
		{"role":"user","content":[{"type":"text","text":"Before: nothing."},{"type":"text","text":"Hello?"}]},
		{"role":"assistant","content":[
			{"type":"text","text":"Looking."},
			{"type":"tool_use","id":"call_1_____393bd8f156b46273","name":"weather","input":{"a":"<b>&"}},
			{"type":"tool_use","id":"call_2","name":"clock","input":{"invalid_arguments":"{\"zone\""}}]},
		{"role":"user","content":[
			{"type":"tool_result","tool_use_id":"call_1_____393bd8f156b46273","content":"{\"ok\":true}"},
			{"type":"tool_result","tool_use_id":"call_2"}]},
		{"role":"assistant","content":[{"type":"tool_use","id":"call_2_2","name":"clock","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_2_2","content":"noon"},{"type":"text","text":"Thanks."}]},
		{"role":"assistant","content":[{"type":"text","text":"Well,"}]}]`)
	if !strings.Contains(string(s.Raw), `"<b>&"`) {
		t.Errorf("the arguments are written differently: %s", s.Raw)
	}
}

func TestMedia(t *testing.T) {
	t.Parallel()

	file := func(url, kind, name string) spool.Part {
		return spool.Part{Type: spool.PartFile, File: url, MIMEType: kind, FileName: name}
	}
	image := func(url string) spool.Part { return spool.Part{Type: spool.PartImage, Image: url} }
	s := send(t, anthropic.Config{}, spool.ModelRequest{Messages: []spool.Message{{
		Role: spool.RoleUser,
		Content: spool.Content{
			image("https://example.com/a.png"),
			image("data:image/png;base64,iVBORw0KGgo="),
			image("data:image/tiff;base64,AAAA"),
			file("data:application/pdf;base64,JVBERi0=", "application/pdf", "a.pdf"),
			file("https://example.com/a.pdf", "application/pdf", ""),
			file("data:application/octet-stream;base64,YSxi", "text/csv", "a.csv"),
			file("data:text/plain,a%20b", "", ""),
			file("data:application/json;base64,e30", "", "a.json"),
			file("data:text/plain;base64,//79", "text/plain", "broken.txt"),
			file("data:image/webp;base64,UklGRg==", "image/webp", "a.webp"),
			file("https://example.com/a.csv", "text/csv", ""),
			file("data:application/zip;base64,UEs=", "application/zip", "a.zip"),
		},
	}}})
	s.wantField(t, "messages", `[{"role":"user","content":[
		{"type":"image","source":{"type":"url","url":"https://example.com/a.png"}},
		{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}},
		{"type":"text","text":"[an image of the type image/tiff, which cannot be shown]"},
		{"type":"document","title":"a.pdf","source":{"type":"base64","media_type":"application/pdf","data":"JVBERi0="}},
		{"type":"document","source":{"type":"url","url":"https://example.com/a.pdf"}},
		{"type":"document","title":"a.csv","source":{"type":"text","media_type":"text/plain","data":"a,b"}},
		{"type":"document","source":{"type":"text","media_type":"text/plain","data":"a b"}},
		{"type":"document","title":"a.json","source":{"type":"text","media_type":"text/plain","data":"{}"}},
		{"type":"text","text":"[a file \"broken.txt\" of the type text/plain, which cannot be shown]"},
		{"type":"image","source":{"type":"base64","media_type":"image/webp","data":"UklGRg=="}},
		{"type":"text","text":"[a file of the type text/csv at https://example.com/a.csv, which cannot be shown]"},
		{"type":"text","text":"[a file \"a.zip\" of the type application/zip, which cannot be shown]"}]}]`)
}

func TestImagesInResults(t *testing.T) {
	t.Parallel()

	for result, want := range map[string]string{
		`{"content":[{"type":"text","text":"A cat."},{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"}],"isError":true}`: `{"type":"tool_result","tool_use_id":"c1","is_error":true,"content":[{"type":"text","text":"A cat."},
			{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}]}`,
		`[{"type":"image","image":"https://example.com/a.png"}]`: `{"type":"tool_result","tool_use_id":"c1","content":[{"type":"image","source":{"type":"url","url":"https://example.com/a.png"}}]}`,
		`[{"type":"image","width":3}]`:                           `{"type":"tool_result","tool_use_id":"c1","content":"[{\"type\":\"image\",\"width\":3}]"}`,
		`{"content":[],"kind":"image"}`:                          `{"type":"tool_result","tool_use_id":"c1","content":"{\"content\":[],\"kind\":\"image\"}"}`,
	} {
		s := send(t, anthropic.Config{}, spool.ModelRequest{Messages: []spool.Message{
			user("Draw."),
			{Role: spool.RoleAssistant, Content: spool.Content{{Type: spool.PartToolCall, ToolCallID: "c1", ToolName: "draw"}}},
			{
				Role:    spool.RoleTool,
				Content: spool.Content{{Type: spool.PartToolResult, ToolCallID: "c1", Result: json.RawMessage(result)}},
			},
		}})
		s.wantField(t, "messages", `[{"role":"user","content":[{"type":"text","text":"Draw."}]},
			{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"draw","input":{}}]},
			{"role":"user","content":[`+want+`]}]`)
	}
}

// Images and files after a result belong to it.
func TestMediaAfterResults(t *testing.T) {
	t.Parallel()

	s := send(t, anthropic.Config{}, spool.ModelRequest{Messages: []spool.Message{
		user("Draw."),
		{Role: spool.RoleAssistant, Content: spool.Content{
			{Type: spool.PartToolCall, ToolCallID: "c1", ToolName: "draw"},
			{Type: spool.PartToolCall, ToolCallID: "c2", ToolName: "draw"},
		}},
		{Role: spool.RoleTool, Content: spool.Content{
			{Type: spool.PartImage, Image: "data:image/png;base64,iVBORw0KGgo="}, // of no result
			{Type: spool.PartToolResult, ToolCallID: "c1", Result: json.RawMessage(`"drawn"`)},
			{Type: spool.PartImage, Image: "data:image/png;base64,iVBORw0KGgo="},
			{Type: spool.PartFile, File: "data:application/pdf;base64,JVBERg==", FileName: "a.pdf"},
			{Type: spool.PartToolResult, ToolCallID: "c2", Result: json.RawMessage(`""`)},
			{Type: spool.PartImage, Image: "data:image/gif;base64,R0lG"},
		}},
	}})
	s.wantField(t, "messages", `[{"role":"user","content":[{"type":"text","text":"Draw."}]},
		{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"draw","input":{}},{"type":"tool_use","id":"c2","name":"draw","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"drawn"},
				{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}},
				{"type":"document","title":"a.pdf","source":{"type":"base64","media_type":"application/pdf","data":"JVBERg=="}}]},
			{"type":"tool_result","tool_use_id":"c2","content":[{"type":"image","source":{"type":"base64","media_type":"image/gif","data":"R0lG"}}]}]}]`)
}

func TestTools(t *testing.T) {
	t.Parallel()

	tools := []spool.ToolSpec{
		{Name: "coin", Description: "Flips."},
		{Name: "sum", Parameters: json.RawMessage(`{"type":"object","required":["a"]}`)},
	}
	search := map[string]any{"tools": []any{map[string]any{"type": "web_search_20250305", "name": "web_search"}}}
	r := asks("Hi?")
	r.Tools = tools
	send(t, anthropic.Config{Extra: search}, r).wantField(t, "tools", `[
		{"name":"coin","description":"Flips.","input_schema":{"type":"object","properties":{}},"eager_input_streaming":true},
		{"name":"sum","input_schema":{"type":"object","required":["a"]},"eager_input_streaming":true},
		{"type":"web_search_20250305","name":"web_search"}]`)
	send(t, anthropic.Config{BufferedInput: true}, r).wantField(t, "tools", `[
		{"name":"coin","description":"Flips.","input_schema":{"type":"object","properties":{}}},
		{"name":"sum","input_schema":{"type":"object","required":["a"]}}]`)
	r.Tools, r.Extra = nil, search
	send(t, anthropic.Config{}, r).wantField(t, "tools", `[{"type":"web_search_20250305","name":"web_search"}]`)
}

func TestExtra(t *testing.T) {
	t.Parallel()

	r := asks("Hi?")
	r.Extra = map[string]any{"temperature": json.Number("0.50"), "stream": false}
	s := send(t, anthropic.Config{Extra: map[string]any{"temperature": 0.1, "top_k": 5}}, r)
	s.wantField(t, "temperature", "0.5")
	s.wantField(t, "top_k", "5")
	s.wantField(t, "stream", "true")
	if !strings.Contains(string(s.Raw), "0.50") {
		t.Errorf("the number has changed: %s", s.Raw)
	}
}

func TestMaxTokens(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		config    anthropic.Config
		asked     int
		want      string
		budget    string
		wantModel string
	}{
		{config: anthropic.Config{}, want: "32000"},
		{config: anthropic.Config{Model: "claude-3-haiku-20240307"}, want: "4096"},
		{config: anthropic.Config{Model: "us.anthropic.claude-3-5-sonnet-20241022-v2:0"}, want: "8192"},
		{config: anthropic.Config{MaxOutputTokens: 500}, want: "500"},
		{config: anthropic.Config{MaxOutputTokens: 500}, asked: 400, want: "400"},
		{config: anthropic.Config{MaxOutputTokens: 500}, asked: 600, want: "500"},
		{
			config: anthropic.Config{Thinking: anthropic.Thinking{Mode: anthropic.ThinkingBudget, Budget: 2000}}, want: "34000",
			budget: `{"type":"enabled","budget_tokens":2000}`,
		},
		{
			config: anthropic.Config{Thinking: anthropic.Thinking{Mode: anthropic.ThinkingBudget, Budget: 2000}}, asked: 1500,
			want: "1500", budget: `{"type":"enabled","budget_tokens":1499}`,
		},
		{
			config: anthropic.Config{Thinking: anthropic.Thinking{Mode: anthropic.ThinkingBudget, Budget: 2000}}, asked: 1024,
			want: "1024", budget: `{"type":"disabled"}`,
		},
		{
			config: anthropic.Config{
				Thinking: anthropic.Thinking{Mode: anthropic.ThinkingAdaptive, Display: anthropic.DisplayOmitted},
			}, asked: 100, want: "100",
			budget: `{"type":"adaptive","display":"omitted"}`,
		},
		{
			config: anthropic.Config{Thinking: anthropic.Thinking{Mode: anthropic.ThinkingOff}}, want: "32000",
			budget: `{"type":"disabled"}`,
		},
	} {
		r := asks("Hi?")
		r.MaxOutputTokens = c.asked
		s := send(t, c.config, r)
		s.wantField(t, "max_tokens", c.want)
		s.wantField(t, "thinking", c.budget)
	}
}

// Every prefix ends with a mark, the longest ones if there are too many. Blocks that cannot have a mark pass it
// on to an earlier one.
func TestCacheMarks(t *testing.T) {
	t.Parallel()

	marks := func(s sent) (at []string) {
		count := func(name string, raw json.RawMessage) {
			if raw != nil {
				at = append(at, name+string(raw))
			}
		}
		for _, tool := range s.Tools {
			count(tool.Name, tool.CacheControl)
		}
		for _, b := range s.System {
			count(*b.Text, b.CacheControl)
		}
		for _, m := range s.Messages {
			for _, b := range m.Content {
				text := b.ToolUseID
				if b.Text != nil {
					text = *b.Text
				}
				count(text, b.CacheControl)
			}
		}
		return at
	}
	const short, long = `{"type":"ephemeral"}`, `{"type":"ephemeral","ttl":"1h"}`
	r := asks("a", "b", "c", "d", "e")
	r.Instructions, r.Tools = "system", []spool.ToolSpec{{Name: "coin"}}
	bare := asks("a")
	bare.Tools = r.Tools
	only := asks("a")
	for _, c := range []struct {
		cache anthropic.Cache
		r     spool.ModelRequest
		marks []int
		want  []string
	}{
		{"", r, []int{0, 2, 5}, []string{"system" + short, "b" + short, "e" + short}},
		{anthropic.CacheLong, r, []int{0}, []string{"system" + long}},
		{anthropic.CacheOff, r, []int{0, 2, 5}, nil},
		{"", r, []int{0, 1, 2, 3, 4, 5}, []string{"b" + short, "c" + short, "d" + short, "e" + short}},
		{"", r, []int{-1, 99}, nil},
		{"", bare, []int{0, 1}, []string{"coin" + short, "a" + short}},
		{"", only, []int{0, 1}, []string{"a" + short}},
	} {
		c.r.CacheMarks = c.marks
		if got := marks(send(t, anthropic.Config{Cache: c.cache}, c.r)); !slices.Equal(got, c.want) {
			t.Errorf("%s %v: marks at %q, want %q", c.cache, c.marks, got, c.want)
		}
	}
}
