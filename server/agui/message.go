package agui

import (
	"encoding/json"
	"strings"

	"github.com/spoolhq/spool"
)

// roleReasoning is the protocol's role of a message of reasoning. Threads do not have it.
const roleReasoning spool.Role = "reasoning"

// Message is a message of a conversation.
type Message struct {
	// ID is the message's id. For a user's turn it is the client's own id, if there is one.
	ID   string     `json:"id"`
	Role spool.Role `enum:"user,assistant,system,tool,reasoning" json:"role"` // Who speaks.
	// Content is the text or parts. Left out: the message has only calls or files.
	//
	// A string, or a list of [Part] with the images and documents of a user. Nil only for an assistant's message.
	Content   any        `json:"content,omitempty"`
	ToolCalls []ToolCall `json:"toolCalls,omitempty"` // The calls of an assistant.
	// ToolCallID is the call whose result this is. Only for the role tool.
	ToolCallID spool.ToolCallID `json:"toolCallId,omitempty"`
	// More from this server.
	//
	// Metadata is nil if the message has no sources and no files.
	Metadata *Metadata[Extra] `json:"metadata,omitempty"`
}

// ToolCall is a call that an assistant's message made.
type ToolCall struct {
	ID       spool.ToolCallID `json:"id"`       // The call's id.
	Type     string           `json:"type"`     // Always function.
	Function Function         `json:"function"` // The tool and its arguments.
}

// Function is the tool's name, and the arguments as the model wrote them.
type Function struct {
	Name      string `json:"name"`      // The tool.
	Arguments string `json:"arguments"` // The arguments as the model wrote them.
}

// Part is a part of a message with more than text.
type Part struct {
	Type   string  `json:"type"`             // text, image or document; others are refused.
	Text   string  `json:"text,omitempty"`   // The text of a text part.
	Source *Source `json:"source,omitempty"` // The bytes of an image or a document, or their address.
}

// Source has the bytes of an image or a document, or their address.
type Source struct {
	Type     string `json:"type"`               // url, or data for base64 in value.
	Value    string `json:"value"`              // The URL, or the bytes.
	MIMEType string `json:"mimeType,omitempty"` // The type of the image or the document.
}

// turnID returns the sending client's own id of a turn, by which the client recognizes it.
func turnID(m spool.Message) string {
	if m.ClientMessageID != "" {
		return m.ClientMessageID
	}
	return string(m.ID)
}

func call(id spool.ToolCallID, name, args string) ToolCall {
	return ToolCall{ID: id, Type: "function", Function: Function{Name: name, Arguments: args}}
}

// argsText returns the text of the arguments as the model wrote it. A JSON string stands for a text that was
// not JSON, and null for an empty one.
func argsText(args json.RawMessage) string {
	if len(args) == 0 || string(args) == "null" {
		return "{}"
	}
	return resultText(args)
}

// resultText returns the value of a JSON string, and any other JSON as text.
func resultText(v json.RawMessage) string {
	var text string
	if len(v) > 0 && v[0] == '"' && json.Unmarshal(v, &text) == nil { //nolint:forbidigo // a saved string
		return text
	}
	return string(v)
}

func userContent(c spool.Content) any {
	parts, media := make([]Part, 0, len(c)), false
	for _, p := range c {
		switch p.Type {
		case spool.PartText:
			parts = append(parts, Part{Type: partText, Text: p.Text})
		case spool.PartImage:
			media = true
			parts = append(parts, Part{Type: partImage, Source: source(p.Image, p.MIMEType)})
		case spool.PartFile:
			media = true
			parts = append(parts, Part{Type: partDocument, Source: source(p.File, p.MIMEType)})
		default:
		}
	}
	if !media {
		return c.Text()
	}
	return parts
}

const (
	partText     = "text"
	partImage    = "image"
	partDocument = "document"

	sourceURL  = "url"
	sourceData = "data"

	base64Mark = ";base64,"
)

// source returns the bytes of a data URL, and any other URL as the address.
func source(from, mimeType string) *Source {
	if data, ok := strings.CutPrefix(from, "data:"); ok {
		if media, bytes, ok := strings.Cut(data, base64Mark); ok {
			return &Source{Type: sourceData, Value: bytes, MIMEType: media}
		}
	}
	return &Source{Type: sourceURL, Value: from, MIMEType: mimeType}
}

func mustJSON(v any) json.RawMessage {
	text, _ := json.Marshal(v) //nolint:errchkjson // texts, and JSON that was checked
	return text
}
