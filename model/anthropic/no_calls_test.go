package anthropic_test

import (
	"encoding/json"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/model/anthropic"
)

// A request that forbids calls keeps its tools, and says so whatever the extra fields say. Only the tool that takes the
// output may be called.
func TestNoCalls(t *testing.T) {
	t.Parallel()

	tools := []spool.ToolSpec{{Name: "coin"}}
	output := &spool.OutputSchema{
		Name: "sky", Schema: json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
	}
	for name, c := range map[string]struct {
		config  anthropic.Config
		request spool.ModelRequest
		choice  string
	}{
		"tools":    {request: spool.ModelRequest{Tools: tools}, choice: `{"type":"none"}`},
		"no tools": {},
		"extra": {
			config:  anthropic.Config{Extra: map[string]any{"tool_choice": map[string]any{"type": "any"}}},
			request: spool.ModelRequest{Tools: tools},
			choice:  `{"type":"none"}`,
		},
		"output": {request: spool.ModelRequest{Tools: tools, Output: output}, choice: `{"type":"none"}`},
		"output by a tool": {
			config:  anthropic.Config{Output: anthropic.OutputTool},
			request: spool.ModelRequest{Tools: tools, Output: output},
			choice:  `{"type":"tool","name":"sky"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.request.NoCalls, c.request.Messages = true, []spool.Message{user("Hello?")}
			s := send(t, c.config, c.request)
			s.wantField(t, "tool_choice", c.choice)
			if len(c.request.Tools) > 0 && s.fields["tools"] == nil {
				t.Error("the tools are missing")
			}
		})
	}
}
