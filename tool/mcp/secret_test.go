package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/tool/mcp"
)

// A server repeats what it was given wherever it can write a text. Nobody sees the secrets in it.
func TestSecrets(t *testing.T) {
	t.Parallel()

	const credentials = `dXNlcjpwYXNz"<&>`
	const word = "hunter2-hunter2"
	told := credentials + " and " + word
	p := newPeer()
	p.server.AddTool(&sdk.Tool{
		Name: "tell", Description: told, InputSchema: map[string]any{"type": "object", "description": told},
	}, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		switch {
		case bytes.Contains(r.Params.Arguments, []byte("ask")):
			return &sdk.CallToolResult{
				RequestState: "s", InputRequests: sdk.InputRequestMap{"a": &sdk.ElicitParams{
					Mode: "form", Message: told, RequestedSchema: map[string]any{"type": "object", "description": told},
				}},
			}, nil
		case bytes.Contains(r.Params.Arguments, []byte("fail")):
			return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: told}}}, nil
		default:
			return &sdk.CallToolResult{StructuredContent: map[string]any{"told": told}}, nil
		}
	})
	s := client(t, p.serve(t, stateless).URL+"/?key="+word, func(c *mcp.Config) {
		c.Headers = map[string]string{"Authorization": "Basic " + credentials}
	})
	source := must(s.Tools(mcp.Selection{}))
	seen := []string{string(must(source.List(t.Context(), "", "")))}
	tool := tools(t, s, mcp.Selection{})["tell"]
	for _, args := range []string{`{}`, `{"a":"ask"}`, `{"a":"fail"}`} {
		result, err := tool.Call(t.Context(), spool.ToolCall{RunID: "r", ID: "c", Args: json.RawMessage(args)})
		text := string(result)
		if park, ok := errors.AsType[*spool.ParkRequest](err); ok {
			text = string(must(json.Marshal(park.Payload))) + string(park.Schema)
		} else if err != nil {
			text = err.Error()
		}
		if !strings.Contains(text, "[redacted]") {
			t.Errorf("%s: got %s", args, text)
		}
		seen = append(seen, text)
	}
	for _, text := range seen {
		if strings.Contains(text, "dXNlcjpwYXNz") || strings.Contains(text, word) {
			t.Errorf("a secret is in %s", text)
		}
	}
}

// The URL of a server may be its key. It is not in an error's cause, which the log has.
func TestSecretURL(t *testing.T) {
	t.Parallel()

	for _, link := range []string{
		"http://127.0.0.1:1/k/hunter2-hunter2/mcp", "http://127.0.0.1:1/?key=hunter2-hunter2",
		"http://user:hunter2-hunter2@127.0.0.1:1/",
	} {
		var log bytes.Buffer
		s := client(t, link, func(c *mcp.Config) { c.Optional, c.Log = true, slog.New(slog.NewTextHandler(&log, nil)) })
		if _, err := s.List(t.Context()); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", link, err)
		}
		must(must(s.Tools(mcp.Selection{})).List(t.Context(), "", ""))
		if log.Len() == 0 || strings.Contains(log.String(), "hunter2") {
			t.Errorf("the log has %s", log.String())
		}
	}
}
