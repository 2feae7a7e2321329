package store_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// Clients see no provider data. The stored form keeps it byte for byte.
func TestContentStored(t *testing.T) {
	t.Parallel()

	data := json.RawMessage("{\"x\":\"<sig>&\u2028\\u003c\"}")
	for name, c := range map[string]struct {
		content       spool.Content
		stored, shown string
	}{
		"Plain": {spool.TextContent("the \"provider\""), `"the \"provider\""`, `"the \"provider\""`},
		"Signed": {
			spool.Content{{Type: spool.PartText, Text: "a", Provider: data}},
			`[{"type":"text","text":"a","provider":DATA}]`,
			`"a"`,
		},
		"Call": {
			spool.Content{{Type: spool.PartToolCall, ToolCallID: "c", Provider: data}},
			`[{"type":"tool-call","toolCallId":"c","provider":DATA}]`, `[{"type":"tool-call","toolCallId":"c"}]`,
		},
		"Thought": {
			spool.Content{{Type: spool.PartReasoning, Text: "hm", Provider: data}},
			`[{"type":"reasoning","text":"hm","provider":DATA}]`, `[{"type":"reasoning","text":"hm"}]`,
		},
		"Hidden": {
			spool.Content{
				{Type: spool.PartReasoning, Provider: data},
				{Type: spool.PartText, Provider: data},
				{Type: spool.PartProvider, Provider: data},
				{Type: spool.PartProvider},
			},
			`[{"type":"reasoning","provider":DATA},{"type":"text","provider":DATA},{"type":"provider","provider":DATA},{"type":"provider"}]`, `[]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			stored, err := c.content.MarshalStored()
			if want := strings.ReplaceAll(c.stored, "DATA", string(data)); err != nil || string(stored) != want {
				t.Errorf("stored as %s, %v, want %s", stored, err, want)
			}
			var back spool.Content
			if err := json.Unmarshal(stored, &back); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.content, back); diff != "" {
				t.Errorf("read back (-want +got):\n%s", diff)
			}
			shown, err := json.Marshal(c.content)
			if err != nil || string(shown) != c.shown {
				t.Errorf("shown as %s, %v, want %s", shown, err, c.shown)
			}
			if spool.MayHaveProviderData(stored) != (string(shown) != string(stored)) {
				t.Errorf("the scan of %s is wrong", stored)
			}
			if again, err := c.content.Shown().MarshalStored(); err != nil || string(again) != c.shown {
				t.Errorf("the stored form of what is shown is %s, %v", again, err)
			}
		})
	}
}

// A draft is stored, and never shown.
func TestDraftStored(t *testing.T) {
	t.Parallel()

	want := store.Draft{
		Message: spool.Message{
			ID: "m", AgentID: "a", Role: spool.RoleAssistant,
			Content: spool.Content{{Type: spool.PartText, Text: "a<", Provider: json.RawMessage(`{"x":"1"}`)}},
		},
		Usage: spool.TokenCount{InputTokens: 1},
	}
	text, err := json.Marshal(store.RunState{Draft: &want})
	if err != nil {
		t.Fatal(err)
	}
	var back store.RunState
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&want, back.Draft); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
	old := `{"draft":{"message":{"id":"m","threadId":"","role":"assistant","content":[{"type":"text","text":"a<","provider":{"x":"1"}}],"createdAt":"0001-01-01T00:00:00Z","agentId":"a"},"usage":{"inputTokens":1,"cachedInputTokens":0,"outputTokens":0,"totalTokens":0}}}`
	back = store.RunState{}
	if err := json.Unmarshal([]byte(old), &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&want, back.Draft); diff != "" {
		t.Errorf("an old draft is read as (-want +got):\n%s", diff)
	}
}
