package mcp_test

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/tool/mcp"
)

// Images, sounds and files of a result become artifacts.
func TestFiles(t *testing.T) {
	t.Parallel()

	p := newPeer()
	p.add("files", nil, func(context.Context, *sdk.CallToolRequest, text) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{
			&sdk.ImageContent{MIMEType: "image/png", Data: []byte("12345")},
			&sdk.AudioContent{MIMEType: "audio/wav", Data: []byte("1234")},
			&sdk.EmbeddedResource{
				Resource: &sdk.ResourceContents{URI: "file:///a/b.zip", MIMEType: "application/zip", Blob: []byte("123")},
			},
			&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "file:///a/c.txt", MIMEType: "text/plain", Text: "text"}},
		}}, nil
	})
	tool := tools(t, client(t, p.serve(t, nil).URL), mcp.Selection{})["files"]
	call := spool.ToolCall{
		RunID: "run", Step: 1, ID: "c1", Args: json.RawMessage(`{"text":""}`),
		SaveArtifactFunc: func(_ context.Context, f spool.NewArtifact) (spool.Artifact, error) {
			data, err := io.ReadAll(f.Data)
			return spool.Artifact{
				ID: spool.ArtifactID("art_" + string(data)), Name: f.Name, MediaType: f.MediaType, Size: int64(len(data)),
			}, err
		},
	}
	got, err := tool.Call(t.Context(), call)
	var parts []struct {
		Type         string
		Text         string
		OmittedBytes int
		Artifact     spool.Artifact
	}
	if err != nil || json.Unmarshal(got, &parts) != nil || len(parts) != 4 {
		t.Fatalf("got %s, %v", got, err)
	}
	for i, want := range []spool.Artifact{
		{ID: "art_12345", MediaType: "image/png", Size: 5},
		{ID: "art_1234", MediaType: "audio/wav", Size: 4},
		{ID: "art_123", Name: "b.zip", MediaType: "application/zip", Size: 3},
		{},
	} {
		if a := parts[i].Artifact; a != want || parts[i].OmittedBytes != 0 {
			t.Errorf("part %d: %+v, want %+v", i, parts[i], want)
		}
	}
	call.SaveArtifactFunc = func(context.Context, spool.NewArtifact) (spool.Artifact, error) {
		return spool.Artifact{}, spool.Errorf(spool.Limit, "too large")
	}
	const large = `[{"type":"image","mimeType":"image/png","omittedBytes":5,"notSaved":"too large"},`
	if got, err := tool.Call(t.Context(), call); err != nil || !strings.HasPrefix(string(got), large) ||
		!strings.Contains(string(got), `"text":"text"`) {
		t.Errorf("too large: %s, %v", got, err)
	}
	call.SaveArtifactFunc = func(context.Context, spool.NewArtifact) (spool.Artifact, error) {
		return spool.Artifact{}, spool.Errorf(spool.StorageFull, "no room")
	}
	const want = "the tool was executed, but a file of its result was not saved: no room"
	if _, err := tool.Call(t.Context(), call); spool.CodeOf(err) != spool.StorageFull || spool.MessageOf(err) != want {
		t.Errorf("no room: %v", err)
	}
}

// The name and the type of a file have no secrets: other results name the file too.
func TestFileNameSecret(t *testing.T) {
	t.Parallel()

	p := newPeer()
	p.add("file", nil, func(context.Context, *sdk.CallToolRequest, text) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{
			&sdk.EmbeddedResource{
				Resource: &sdk.ResourceContents{
					URI: "file:///a/sesame-street.zip", MIMEType: "application/sesame-street", Blob: []byte("123"),
				},
			},
		}}, nil
	})
	s := client(t, p.serve(t, nil).URL, func(c *mcp.Config) { c.Headers = map[string]string{"X-Key": "sesame-street"} })
	var saved spool.NewArtifact
	if _, err := call(t, tools(t, s, mcp.Selection{})["file"], `{"text":""}`, func(c *spool.ToolCall) {
		c.SaveArtifactFunc = func(_ context.Context, f spool.NewArtifact) (spool.Artifact, error) {
			saved = f
			return spool.Artifact{ID: "art_1", Name: f.Name, MediaType: f.MediaType}, nil
		}
	}); err != nil || saved.Name != "[redacted].zip" || saved.MediaType != "application/[redacted]" {
		t.Errorf("saved %+v, %v", saved, err)
	}
}
