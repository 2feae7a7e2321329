package spool_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
)

func TestContentWireForm(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		content spool.Content
		want    string
	}{
		"Nil":    {nil, `[]`},
		"Empty":  {spool.Content{}, `[]`},
		"Text":   {spool.TextContent("hi"), `"hi"`},
		"NoText": {spool.TextContent(""), `""`},
		"Two": {
			spool.Content{{Type: spool.PartText, Text: "a"}, {Type: spool.PartText, Text: "b"}},
			`[{"type":"text","text":"a"},{"type":"text","text":"b"}]`,
		},
		"NotText": {spool.Content{{Type: spool.PartReasoning, Text: "a"}}, `[{"type":"reasoning","text":"a"}]`},
		"Summary": {
			spool.Content{{Type: spool.PartSummary, Text: "a", ThroughMessageID: "m"}},
			`{"type":"CONTEXT_SUMMARY","text":"a","throughMessageId":"m"}`,
		},
		"NullPart": {
			spool.Content{{Type: spool.PartToolResult, ToolCallID: "c", ToolName: "n", Result: json.RawMessage(`null`)}},
			`[{"type":"tool-result","toolCallId":"c","toolName":"n","result":null}]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b, err := json.Marshal(c.content)
			if err != nil || string(b) != c.want {
				t.Fatalf("written as %s, %v, want %s", b, err, c.want)
			}
			var back spool.Content
			if err := json.Unmarshal(b, &back); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(
				c.content, back,
				cmp.Transformer("nilIsEmpty", func(c spool.Content) []spool.Part { return append([]spool.Part{}, c...) }),
			); diff != "" {
				t.Errorf("read back (-want +got):\n%s", diff)
			}
		})
	}
}

// TestContentText: a text is read as package json reads it.
func TestContentText(t *testing.T) {
	t.Parallel()

	for _, in := range []string{
		`""`, `"a"`, `"Größe, τέλος"`, `"a\"b"`, `"a\\"`, `"a\u00e9\ud83d\ude00"`, "\"a\xffb\"", "\"\x7f\"", `"a"b"`,
		"\"a\nb\"", `"`, `"a`, `"a" `, `"\"`,
	} {
		var want string
		wantErr := json.Unmarshal([]byte(in), &want)
		var c spool.Content
		if err := c.UnmarshalJSON([]byte(in)); (err == nil) != (wantErr == nil) || c.Text() != want {
			t.Errorf("%q is %q, %v, want %q, %v", in, c.Text(), err, want, wantErr)
		}
	}
}

func TestContentRefuses(t *testing.T) {
	t.Parallel()

	for _, text := range []string{`1`, `true`, `{}`, `[1]`, `["a"]`, `"a`, `{"type":"text","text":"a"}`, `{"type":1}`} {
		var c spool.Content
		if err := json.Unmarshal([]byte(text), &c); err == nil {
			t.Errorf("%s is read as %v", text, c)
		}
	}
}

func TestMessageParts(t *testing.T) {
	t.Parallel()

	m := spool.Message{Content: spool.Content{
		{Type: spool.PartText, Text: "a"},
		{Type: spool.PartToolCall, ToolCallID: "1"},
		{Type: spool.PartReasoning, Text: "not text"},
		{Type: spool.PartToolResult, ToolCallID: "1"},
		{Type: spool.PartToolCall, ToolCallID: "2"},
		{Type: spool.PartText, Text: "b"},
	}}
	if got := m.Text(); got != "ab" {
		t.Errorf("text is %q", got)
	}
	if calls := m.ToolCalls(); len(calls) != 2 || calls[0].ToolCallID != "1" || calls[1].ToolCallID != "2" {
		t.Errorf("calls are %v", calls)
	}
	if results := m.ToolResults(); len(results) != 1 || results[0].ToolCallID != "1" {
		t.Errorf("results are %v", results)
	}
}

// TestMessageHidesWhatIsOurs keeps the engine's own fields off the wire.
func TestMessageHidesWhatIsOurs(t *testing.T) {
	t.Parallel()

	b, err := json.Marshal(spool.Message{ID: "m1", ThreadID: "t1", Role: spool.RoleUser, AfterSeq: 7})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"id":"m1","threadId":"t1","role":"user","content":[],"createdAt":"0001-01-01T00:00:00Z","agentId":null}`
	if string(b) != want {
		t.Errorf("written as %s, want %s", b, want)
	}
}
