package mcp_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/tool/mcp"
)

// The structured content and the texts of a result repeat the data of its parts, which no model reads.
func TestRepeatedData(t *testing.T) {
	t.Parallel()

	data := bytes.Repeat([]byte("pixel"), 20_000)
	encoded := base64.StdEncoding.EncodeToString(data)
	p := newPeer()
	p.add("photo", nil, func(context.Context, *sdk.CallToolRequest, text) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{
			Content: []sdk.Content{
				&sdk.ImageContent{MIMEType: "image/png", Data: data},
				&sdk.TextContent{Text: "data:image/png;base64," + encoded},
			},
			StructuredContent: map[string]any{
				"content": []any{map[string]any{"type": "image", "data": encoded, "mimeType": "image/png"}}, "n": 1,
			},
		}, nil
	})
	var log bytes.Buffer
	url := p.serve(t, nil).URL
	photo := tools(t, client(t, url, func(c *mcp.Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) }),
		mcp.Selection{})["photo"]
	const mark = `[the 100000 bytes of the part of type image are left out]`
	const structured = `,"structuredContent":{"content":[{"data":"` + mark +
		`","mimeType":"image/png","type":"image"}],"n":1}}`
	want := `{"content":[{"type":"image","mimeType":"image/png","omittedBytes":100000},{"type":"text","text":"data:image/png;base64,` + mark + `"}]` + structured
	if got, err := call(t, photo, `{"text":""}`); err != nil || got != want {
		t.Errorf("got %.1000s, %v", got, err)
	}
	if !strings.Contains(log.String(), "which is left out") || !strings.Contains(log.String(), "bytes=266672") {
		t.Errorf("the log is %s", log.String())
	}
	saves := func(c *spool.ToolCall) {
		c.SaveArtifactFunc = func(_ context.Context, f spool.NewArtifact) (spool.Artifact, error) {
			saved, err := io.ReadAll(f.Data)
			if !bytes.Equal(saved, data) {
				t.Errorf("%d bytes were saved", len(saved))
			}
			return spool.Artifact{ID: "art_1", Size: int64(len(saved))}, err
		}
	}
	if got, err := call(t, photo, `{"text":""}`, saves); err != nil || !strings.HasSuffix(got, structured) ||
		!strings.Contains(got, "art_1") || len(got) > 1000 {
		t.Errorf("with artifacts: %.1000s, %v", got, err)
	}
}

// A result that is too long keeps the beginning of its text, whatever else it has.
func TestLongResults(t *testing.T) {
	t.Parallel()

	const most = 1000
	long := strings.Repeat("so ä\"<", 1000)
	image := &sdk.ImageContent{MIMEType: "image/png", Data: []byte("12345")}
	p := newPeer()
	for name, result := range map[string]sdk.CallToolResult{
		"wrapped":    {Content: said(long).Content, StructuredContent: map[string]any{"result": long}},
		"structured": {StructuredContent: map[string]any{"result": long}},
		"parts":      {Content: []sdk.Content{&sdk.TextContent{Text: "first"}, image, &sdk.TextContent{Text: long}}},
		"both": {
			Content:           []sdk.Content{image, &sdk.TextContent{Text: long}},
			StructuredContent: map[string]any{"result": long},
		},
		"two": {Content: []sdk.Content{&sdk.TextContent{Text: long}, image, &sdk.TextContent{Text: long}}},
	} {
		p.add(name, nil, func(context.Context, *sdk.CallToolRequest, text) (*sdk.CallToolResult, error) {
			return &result, nil
		})
	}
	p.add("links", nil, func(context.Context, *sdk.CallToolRequest, text) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{
			Content: []sdk.Content{&sdk.ResourceLink{URI: "file:///" + strings.Repeat("a", most), Name: "a"}},
		}, nil
	})
	var log bytes.Buffer
	s := client(t, p.serve(t, stateless).URL,
		func(c *mcp.Config) { c.MaxResultBytes, c.Log = most, slog.New(slog.NewTextHandler(&log, nil)) })
	all := tools(t, s, mcp.Selection{})
	for name, want := range map[string]string{
		"wrapped": `"so ä\"\u003cso`, "structured": `"{\"result\":\"so ä`,
		"parts": `[{"type":"text","text":"first"},{"type":"image"`, "both": `[{"type":"image"`,
		"two": `[{"type":"text","text":"`,
	} {
		got, err := call(t, all[name], `{"text":""}`)
		if err != nil || len(got) > most || !json.Valid([]byte(got)) || !strings.HasPrefix(got, want) ||
			!strings.Contains(got, "[the rest was cut]") {
			t.Errorf("%s: %d bytes, %s, %v", name, len(got), got, err)
		}
		if name != "two" && len(got) < most/2 {
			t.Errorf("%s: too much was cut: %d bytes are left", name, len(got))
		}
	}
	if n := strings.Count(log.String(), "is too long and was cut"); n != 5 {
		t.Errorf("the log has %d warnings", n)
	}
	if _, err := call(t, all["links"], `{"text":""}`); spool.CodeOf(err) != spool.Limit {
		t.Errorf("without a text: %v", err)
	}
}

// Links to web pages are sources, which the engine shows to people. Nobody fetches them.
func TestSources(t *testing.T) {
	t.Parallel()

	link := func(uri, name, title string) sdk.Content {
		return &sdk.ResourceLink{URI: uri, Name: name, Title: title}
	}
	results := map[string]sdk.CallToolResult{
		"links": {Content: []sdk.Content{
			&sdk.TextContent{Text: "found"}, link("https://example.com/a", "a", "The A"), link("https://example.com/a", "a", ""),
			link("http://example.com/b", "b", ""), link("file:///c", "c", ""), link("javascript:alert(1)", "d", ""),
			link("https://ann:secret@example.com/", "e", ""), link("https://", "f", ""),
			link("https://example.com/"+strings.Repeat("g", 3000), "g", ""),
		}},
		"structured": {
			Content:           []sdk.Content{link("https://example.com/a", "a", "")},
			StructuredContent: map[string]any{"n": 1},
		},
		"long": {
			Content: []sdk.Content{
				&sdk.TextContent{Text: strings.Repeat("long ", 4000)}, link("https://example.com/a", "a", ""),
			},
		},
		"none": {Content: []sdk.Content{&sdk.TextContent{Text: "found"}, link("file:///c", "c", "")}},
	}
	p := newPeer()
	for name, result := range results {
		p.add(name, nil, func(context.Context, *sdk.CallToolRequest, text) (*sdk.CallToolResult, error) {
			return &result, nil
		})
	}
	all := tools(t, client(t, p.serve(t, stateless).URL, func(c *mcp.Config) { c.MaxResultBytes = 8000 }), mcp.Selection{})
	for name, want := range map[string]string{
		"links":      `[{"url":"https://example.com/a","title":"The A"},{"url":"http://example.com/b","title":"b"}]`,
		"structured": `[{"url":"https://example.com/a","title":"a"}]`,
		"long":       `[{"url":"https://example.com/a","title":"a"}]`,
		"none":       "",
	} {
		got, err := call(t, all[name], `{"text":""}`)
		var result struct {
			Content []struct{ Type, URI string }
			Sources json.RawMessage
		}
		if want != "" && err == nil {
			err = json.Unmarshal([]byte(got), &result)
		}
		if err != nil || string(result.Sources) != want || want != "" && len(result.Content) != len(results[name].Content) {
			t.Errorf("%s: %.2000s, %v", name, got, err)
		}
	}
}
