package mcp

import (
	"context"
	"encoding/json"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/spoolhq/spool"
)

// maxErrorText bounds the text of an error for the model, in bytes.
const maxErrorText = 2000

// part is an element of a result that is not one text.
type part struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	URI      string `json:"uri,omitempty"`
	Name     string `json:"name,omitempty"`
	MIMEType string `json:"mimeType,omitempty"`
	// OmittedBytes is the size of data that a model cannot read in a JSON text.
	OmittedBytes int `json:"omittedBytes,omitempty"`
	// Artifact has the data if the engine stores artifacts.
	Artifact *spool.Artifact `json:"artifact,omitempty"`

	data []byte
}

// result returns the JSON of a result: its structured content, or its text as a JSON string, or the list of its
// parts. Images, sounds and files become artifacts if the engine stores them, and otherwise only the type and the
// size remain. A result with isError is an error with the text.
func (s *Server) result(ctx context.Context, call spool.ToolCall, r *sdk.CallToolResult) (json.RawMessage, error) {
	parts, most := partsOf(r.Content), s.maxResult(call)
	text, onlyText := textOf(parts)
	if r.IsError {
		if text == "" {
			text = "the tool failed"
		}
		return nil, spool.Errorf(spool.Invalid, "%s", cut(s.clean(text), maxErrorText))
	}
	if err := s.saveData(ctx, call, parts); err != nil {
		return nil, err
	}
	var value any
	switch {
	case r.StructuredContent != nil && onlyText: // the text repeats the structured content
		value = r.StructuredContent
	case r.StructuredContent != nil:
		value = map[string]any{"structuredContent": r.StructuredContent, "content": parts}
	case onlyText:
		value = s.cutText(text, most)
	default:
		value = parts
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return nil, spool.Wrap(spool.Invalid, "the result of MCP server "+s.config.Name+" cannot be encoded", err)
	}
	if encoded = s.cleanBytes(encoded); len(encoded) > most {
		return nil, spool.Errorf(spool.Limit, "the tool was executed, but its result is larger than %d bytes", most)
	}
	return encoded, nil
}

// cutText returns a text whose JSON fits into a number of bytes.
func (s *Server) cutText(text string, most int) string {
	const mark = "\n[the rest was cut]"
	encoded, err := json.Marshal(text)
	if err != nil || len(encoded) <= most {
		return text
	}
	// A character takes up to six bytes more in JSON than in the text. Shorten in proportion until it fits.
	for len(encoded) > most && text != "" {
		text = cut(text, len(text)*most/(len(encoded)+len(mark)+2)*15/16)
		if encoded, err = json.Marshal(text + mark); err != nil {
			return mark
		}
	}
	return text + mark
}

func partsOf(contents []sdk.Content) []part {
	parts := make([]part, 0, len(contents))
	for _, c := range contents {
		switch c := c.(type) {
		case *sdk.TextContent:
			parts = append(parts, part{Type: "text", Text: c.Text})
		case *sdk.ImageContent:
			parts = append(parts, part{Type: "image", MIMEType: c.MIMEType, OmittedBytes: len(c.Data), data: c.Data})
		case *sdk.AudioContent:
			parts = append(parts, part{Type: "audio", MIMEType: c.MIMEType, OmittedBytes: len(c.Data), data: c.Data})
		case *sdk.ResourceLink:
			parts = append(parts, part{Type: "resource_link", URI: c.URI, Name: c.Name, MIMEType: c.MIMEType, Text: c.Description})
		case *sdk.EmbeddedResource:
			if c.Resource != nil {
				parts = append(parts, part{
					Type: "resource", URI: c.Resource.URI, MIMEType: c.Resource.MIMEType, Text: c.Resource.Text, OmittedBytes: len(c.Resource.Blob),
					data: c.Resource.Blob,
				})
			}
		default:
			parts = append(parts, part{Type: "unknown"})
		}
	}
	return parts
}

// textOf returns the texts of the parts, and whether there are no other parts.
func textOf(parts []part) (string, bool) {
	var texts []string
	only := true
	for _, p := range parts {
		if p.Type == "text" {
			texts = append(texts, p.Text)
		} else {
			only = false
		}
	}
	return strings.ToValidUTF8(strings.Join(texts, "\n"), "\ufffd"), only
}
