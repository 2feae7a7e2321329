package gemini_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/model/gemini"
)

// A request that forbids calls keeps its tools, and says so whatever the extra fields say. Only the function that takes
// the output may be called.
func TestNoCalls(t *testing.T) {
	t.Parallel()

	tools := []spool.ToolSpec{{Name: "coin", Parameters: json.RawMessage(`{"type":"object"}`)}}
	output := &spool.OutputSchema{Name: "sky", Schema: json.RawMessage(`{"type":"object"}`)}
	forced := map[string]any{"toolConfig": map[string]any{
		"functionCallingConfig": map[string]any{"mode": "ANY", "allowedFunctionNames": []string{"coin"}},
		"retrievalConfig":       map[string]any{"languageCode": "en"},
	}}
	for name, c := range map[string]struct {
		config  gemini.Config
		request spool.ModelRequest
		want    string
	}{
		"tools":    {request: spool.ModelRequest{Tools: tools}, want: `{"functionCallingConfig":{"mode":"NONE"}}`},
		"no tools": {want: "null"},
		"extra": {
			config:  gemini.Config{Extra: forced},
			request: spool.ModelRequest{Tools: tools},
			want:    `{"functionCallingConfig":{"mode":"NONE"},"retrievalConfig":{"languageCode":"en"}}`,
		},
		"output by a function": {
			config: gemini.Config{Model: "gemini-2.5-test"}, request: spool.ModelRequest{Tools: tools, Output: output},
			want: `{"functionCallingConfig":{"allowedFunctionNames":["sky"],"mode":"ANY"}}`,
		},
	} {
		c.request.NoCalls, c.request.Messages = true, []spool.Message{user("Hello?")}
		var got struct {
			ToolConfig any
			Tools      []any
		}
		if err := json.Unmarshal([]byte(body(t, c.config, c.request)), &got); err != nil {
			t.Fatal(err)
		}
		var want any
		if err := json.Unmarshal([]byte(c.want), &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got.ToolConfig); diff != "" || (len(got.Tools) > 0) != (len(c.request.Tools) > 0) {
			t.Errorf("%s: %d tools, and the config (-want +got):\n%s", name, len(got.Tools), diff)
		}
	}
	if inner, ok := forced["toolConfig"].(map[string]any); !ok || len(inner) != 2 ||
		!cmp.Equal(inner["functionCallingConfig"], map[string]any{"mode": "ANY", "allowedFunctionNames": []string{"coin"}}) {
		t.Errorf("the configuration has changed: %v", forced)
	}
}
