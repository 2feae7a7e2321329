package openai_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/model/openai"
)

// A request that forbids calls keeps its tools, and says so whatever the extra fields say. Only the tool that takes the
// output may be called.
func TestNoCalls(t *testing.T) {
	t.Parallel()

	tools := []spool.ToolSpec{{Name: "coin"}}
	output := &spool.OutputSchema{Name: "sky", Schema: json.RawMessage(`{"type":"object"}`)}
	for name, c := range map[string]struct {
		config  openai.Config
		request spool.ModelRequest
		choice  any
		tools   int
	}{
		"tools":    {request: spool.ModelRequest{Tools: tools}, choice: "none", tools: 1},
		"no tools": {},
		"extra": {
			config: openai.Config{Extra: map[string]any{"tool_choice": "required"}}, request: spool.ModelRequest{Tools: tools},
			choice: "none", tools: 1,
		},
		"output": {request: spool.ModelRequest{Tools: tools, Output: output}, choice: "none", tools: 1},
		"output by a tool": {
			config: openai.Config{Structured: openai.StructuredTool}, request: spool.ModelRequest{Tools: tools, Output: output},
			choice: map[string]any{"type": "function", "function": map[string]any{"name": "sky"}}, tools: 2,
		},
	} {
		c.request.NoCalls, c.request.Messages = true,
			[]spool.Message{{Role: spool.RoleUser, Content: spool.TextContent("Hello?")}}
		body := sent(t, c.config, c.request)
		sentTools, _ := body["tools"].([]any)
		if diff := cmp.Diff(c.choice, body["tool_choice"]); diff != "" || len(sentTools) != c.tools {
			t.Errorf("%s: %d tools, and the choice (-want +got):\n%s", name, len(sentTools), diff)
		}
	}
}
