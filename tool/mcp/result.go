package mcp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
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
	// NotSaved says why the data are not an artifact.
	NotSaved string `json:"notSaved,omitempty"`
	// Artifact has the data if the engine stores artifacts.
	Artifact *spool.Artifact `json:"artifact,omitempty"`

	data []byte
}

// result returns the JSON of a result: its structured content, or its text as a JSON string, or the list of its
// parts. Images, sounds and files become artifacts if the engine stores them, and otherwise only the type and the
// size remain, also where other parts of the result repeat the data. A text that is too long is cut. A result with
// isError is an error with the text.
func (s *Server) result(ctx context.Context, call spool.ToolCall, r *sdk.CallToolResult) (json.RawMessage, error) {
	parts, most := partsOf(r.Content), s.maxResult(call)
	structured, repeated := withoutData(r.StructuredContent, parts)
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
	if repeated > 0 {
		s.config.Log.InfoContext(ctx, "the result of an MCP server repeats the data of its parts, which is left out",
			"server", s.config.Name, "tool", call.Name, "bytes", repeated)
	}
	var value any
	switch {
	case structured != nil && onlyText: // the text repeats the structured content
		value = structured
	case structured != nil:
		value = map[string]any{"structuredContent": structured, "content": parts}
	case onlyText:
		value = text
	default:
		value = parts
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return nil, spool.Wrap(spool.Invalid, "the result of MCP server "+s.config.Name+" cannot be encoded", err)
	}
	encoded = s.cleanBytes(encoded)
	if len(encoded) <= most {
		return encoded, nil
	}
	s.config.Log.WarnContext(ctx, "the result of an MCP server is too long and was cut", "server", s.config.Name, "tool", call.Name, "bytes", len(encoded))
	switch {
	case onlyText && text == "": // the server gives the structured content alone
		value = cutText(string(encoded), most)
	case onlyText:
		value = cutText(s.clean(text), most)
	default:
		value = cutParts(parts, most, s.clean)
	}
	if encoded, err = json.Marshal(value); err != nil {
		return nil, spool.Wrap(spool.Invalid, "the result of MCP server "+s.config.Name+" cannot be encoded", err)
	}
	if encoded = s.cleanBytes(encoded); len(encoded) > most {
		return nil, spool.Errorf(spool.Limit, "the tool was executed, but its result is larger than %d bytes", most)
	}
	return encoded, nil
}

// withoutData returns structured content, and changes the texts of the parts, so that neither repeats the base64 of a
// part's data. It returns the number of bytes that are left out.
func withoutData(structured any, parts []part) (any, int) {
	marks := make(map[string]string)
	for _, p := range parts {
		if len(p.data) > 0 {
			marks[base64.StdEncoding.EncodeToString(p.data)] = fmt.Sprintf("[the %d bytes of the part of type %s are left out]", len(p.data), p.Type)
		}
	}
	if len(marks) == 0 {
		return structured, 0
	}
	omitted := 0
	plain := func(text string) string {
		for data, mark := range marks {
			if n := strings.Count(text, data); n > 0 {
				omitted += n * len(data)
				text = strings.ReplaceAll(text, data, mark)
			}
		}
		return text
	}
	for i := range parts {
		parts[i].Text = plain(parts[i].Text)
	}
	return eachText(structured, plain), omitted
}

// eachText returns decoded JSON with fn of each of its texts.
func eachText(value any, fn func(string) string) any {
	switch value := value.(type) {
	case string:
		return fn(value)
	case []any:
		out := make([]any, len(value))
		for i, v := range value {
			out[i] = eachText(v, fn)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(value))
		for name, v := range value {
			out[name] = eachText(v, fn)
		}
		return out
	default:
		return value
	}
}

// cutParts returns the parts with their longest texts cut, so that their JSON fits into a number of bytes if it can.
func cutParts(parts []part, most int, clean func(string) string) []part {
	parts = slices.Clone(parts)
	for range parts {
		encoded, err := json.Marshal(parts)
		over := len(encoded) - most
		if err != nil || over <= 0 {
			break
		}
		longest := 0
		for i, p := range parts {
			if len(p.Text) > len(parts[longest].Text) {
				longest = i
			}
		}
		text, err := json.Marshal(parts[longest].Text)
		if err != nil {
			break
		}
		parts[longest].Text = cutText(clean(parts[longest].Text), max(0, len(text)-over))
	}
	return parts
}

// cutText returns a text whose JSON fits into a number of bytes.
func cutText(text string, most int) string {
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
