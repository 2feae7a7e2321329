package agui

import (
	"encoding/json"
	"strings"

	"github.com/spoolhq/spool"
)

// roleReasoning is the role of a message of reasoning, which is no role of ours.
const roleReasoning spool.Role = "reasoning"

// Message is a message of a conversation.
type Message struct {
	ID   string     `doc:"Of a user's turn: the client's own name for it, if it has one." json:"id"`
	Role spool.Role `doc:"Who speaks."                                                    enum:"user,assistant,system,tool,reasoning" json:"role"`
	// Content is a string, or a list of [Part] with the images of a user. Nil only for an
	// assistant's message of nothing but calls.
	Content    any              `doc:"What it says. Left out: nothing but calls."                  json:"content,omitempty"`
	ToolCalls  []ToolCall       `doc:"The calls of an assistant."                                  json:"toolCalls,omitempty"`
	ToolCallID spool.ToolCallID `doc:"Of a message of the role tool: the call whose result it is." json:"toolCallId,omitempty"`
}

// ToolCall is a call that an assistant's message made.
type ToolCall struct {
	ID       spool.ToolCallID `doc:"The call's id."   json:"id"`
	Type     string           `doc:"Always function." json:"type"` // always "function"
	Function Function         `doc:"What is called."  json:"function"`
}

// Function is the tool's name, and the arguments as the model wrote them.
type Function struct {
	Name      string `doc:"The tool."                              json:"name"`
	Arguments string `doc:"The arguments as the model wrote them." json:"arguments"`
}

// Part is a part of a message with more than text.
type Part struct {
	Type   string  `doc:"text or image; others are refused." json:"type"`
	Text   string  `doc:"The text of a text part."           json:"text,omitempty"`
	Source *Source `doc:"Where an image is."                 json:"source,omitempty"`
}

// Source is where the bytes of an image are.
type Source struct {
	Type     string `doc:"url, or data for base64 in value." json:"type"`
	Value    string `doc:"The URL, or the bytes."            json:"value"`
	MIMEType string `doc:"The type of the image."            json:"mimeType,omitempty"`
}

// turnID returns what the client who sent a turn calls it, so that it knows it again.
func turnID(m spool.Message) string {
	if m.ClientMessageID != "" {
		return m.ClientMessageID
	}
	return string(m.ID)
}

func call(id spool.ToolCallID, name, args string) ToolCall {
	return ToolCall{ID: id, Type: "function", Function: Function{Name: name, Arguments: args}}
}

// argsText returns arguments as the model wrote them. It wrote what is a JSON string here
// as text that was no JSON, and nothing where there is null.
func argsText(args json.RawMessage) string {
	if len(args) == 0 || string(args) == "null" {
		return "{}"
	}
	return resultText(args)
}

// resultText returns the text of a JSON string, and other JSON as text.
func resultText(v json.RawMessage) string {
	var text string
	if len(v) > 0 && v[0] == '"' && json.Unmarshal(v, &text) == nil {
		return text
	}
	return string(v)
}

func userContent(c spool.Content) any {
	parts, images := make([]Part, 0, len(c)), false
	for _, p := range c {
		switch p.Type {
		case spool.PartText:
			parts = append(parts, Part{Type: partText, Text: p.Text})
		case spool.PartImage:
			images = true
			parts = append(parts, Part{Type: partImage, Source: source(p)})
		default:
		}
	}
	if !images {
		return c.Text()
	}
	return parts
}

const (
	partText  = "text"
	partImage = "image"

	sourceURL  = "url"
	sourceData = "data"

	base64Mark = ";base64,"
)

func source(p spool.Part) *Source {
	if data, ok := strings.CutPrefix(p.Image, "data:"); ok {
		if media, bytes, ok := strings.Cut(data, base64Mark); ok {
			return &Source{Type: sourceData, Value: bytes, MIMEType: media}
		}
	}
	return &Source{Type: sourceURL, Value: p.Image, MIMEType: p.MIMEType}
}

func mustJSON(v any) json.RawMessage {
	text, _ := json.Marshal(v) //nolint:errchkjson // texts, and JSON that was checked
	return text
}
