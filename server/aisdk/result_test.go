package aisdk_test

import (
	"encoding/json"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/aisdk"
	"github.com/spoolhq/spool/wire"
)

// A call that failed is a part with an error in each form that the engine gives the result.
func TestResultStates(t *testing.T) {
	t.Parallel()

	for result, want := range map[string]string{
		`"sent"`: "output-available", `{"error":1}`: "output-available", `{"error":"none","rows":[]}`: "output-available",
		`"error: shop answered with status 500: no"`:            "output-error",
		`{"error":"shop answered with status 500"}`:             "output-error",
		`{"approved":true,"reason":"go","error":"status 500"}`:  "output-error",
		`{"error":"the call was cut off","outcome":"unknown"}`:  "output-error",
		`{"approved":true,"result":{"error":"a field of its"}}`: "output-available",
		`{"denied":true}`: "output-denied",
	} {
		s := &wire.Snapshot{Messages: []spool.Message{
			{ID: "m1", Role: spool.RoleAssistant, RunID: "r1", Content: spool.Content{
				{Type: spool.PartToolCall, ToolCallID: "c1", ToolName: "shop", Args: json.RawMessage(`{}`)},
			}},
			{ID: "m2", Role: spool.RoleTool, RunID: "r1", Content: spool.Content{
				{Type: spool.PartToolResult, ToolCallID: "c1", ToolName: "shop", Result: json.RawMessage(result)},
			}},
		}}
		messages, err := aisdk.Messages(aisdk.V7, s, nil, address)
		if err != nil {
			t.Fatal(err)
		}
		parts := messages[len(messages)-1].Parts
		if got := parts[len(parts)-1].State; got != want {
			t.Errorf("%s is %s, want %s", result, got, want)
		}
	}
}
