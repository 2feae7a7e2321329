package responses_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/model/responses"
)

// A request that forbids calls keeps its tools, and says so whatever the extra fields say.
func TestNoCalls(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		config responses.Config
		tools  []spool.ToolSpec
		choice any
	}{
		"tools":    {tools: []spool.ToolSpec{{Name: "coin"}}, choice: "none"},
		"no tools": {},
		"extra": {
			config: responses.Config{Extra: map[string]any{"tool_choice": "required"}},
			tools:  []spool.ToolSpec{{Name: "coin"}},
			choice: "none",
		},
	} {
		body := sent(t, c.config, spool.ModelRequest{
			NoCalls: true, Tools: c.tools, Messages: []spool.Message{user("Hello?")},
		})
		tools, _ := body["tools"].([]any)
		if diff := cmp.Diff(c.choice, body["tool_choice"]); diff != "" || len(tools) != len(c.tools) {
			t.Errorf("%s: %d tools, and the choice (-want +got):\n%s", name, len(tools), diff)
		}
	}
}
