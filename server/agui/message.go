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
	ID   string     `doc:"The message's id. For a user's turn it is the client's own id, if there is one." json:"id"`
	Role spool.Role `doc:"Who speaks."                                                                     enum:"user,assistant,system,tool,reasoning" json:"role"`
	// Content is a string, or a list of [Part] with the images and documents of a user. Nil only for an assistant's message
	// that has only calls or files.
	Content    any              `doc:"The text or parts. Left out: the message has only calls or files." json:"content,omitempty"`
	ToolCalls  []ToolCall       `doc:"The calls of an assistant."                                        json:"toolCalls,omitempty"`
	ToolCallID spool.ToolCallID `doc:"The call whose result this is. Only for the role tool."            json:"toolCallId,omitempty"`
	// Metadata is nil if the message has no sources and no files.
	Metadata *Metadata[Extra] `doc:"More from this server." json:"metadata,omitempty"`
}

// ToolCall is a call that an assistant's message made.
type ToolCall struct {
	ID       spool.ToolCallID `doc:"The call's id."              json:"id"`
	Type     string           `doc:"Always function."            json:"type"` // always "function"
	Function Function         `doc:"The tool and its arguments." json:"function"`
}

// Function is the tool's name, and the arguments as the model wrote them.
type Function struct {
	Name      string `doc:"The tool."                              json:"name"`
	Arguments string `doc:"The arguments as the model wrote them." json:"arguments"`
}

// Part is a part of a message with more than text.
type Part struct {
	Type   string  `doc:"text, image or document; others are refused."           json:"type"`
	Text   string  `doc:"The text of a text part."                               json:"text,omitempty"`
	Source *Source `doc:"The bytes of an image or a document, or their address." json:"source,omitempty"`
}

// Source has the bytes of an image or a document, or their address.
type Source struct {
	Type     string `doc:"url, or data for base64 in value."      json:"type"`
	Value    string `doc:"The URL, or the bytes."                 json:"value"`
	MIMEType string `doc:"The type of the image or the document." json:"mimeType,omitempty"`
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
