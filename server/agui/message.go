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
	ID   string     `json:"id"`
	Role spool.Role `json:"role"`
	// Content is a string, or a list of [Part] with the images of a user. Nil only for an
	// assistant's message of nothing but calls.
	Content    any              `json:"content,omitempty"`
	ToolCalls  []ToolCall       `json:"toolCalls,omitempty"`
	ToolCallID spool.ToolCallID `json:"toolCallId,omitempty"`
}

// ToolCall is a call that an assistant's message made.
type ToolCall struct {
	ID       spool.ToolCallID `json:"id"`
	Type     string           `json:"type"` // always "function"
	Function Function         `json:"function"`
}

// Function is the tool's name, and the arguments as the model wrote them.
type Function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
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

// saved returns the messages of the run's own agent as the protocol has them, under the
// ids that they had while they were written. Summaries are for models alone.
func saved(all []spool.Message) []Message {
	c := conversation{messages: []Message{}}
	for _, m := range all {
		if _, summary := m.Content.Summary(); summary || m.AgentID != "" {
			continue // what a summary speaks of is there itself
		}
		if m.RunID != c.run {
			c.run, c.step = m.RunID, 0
		}
		switch m.Role {
		case spool.RoleAssistant:
			c.step++ // each step has one message, but for a last one that says nothing
			c.assistant(m)
		case spool.RoleTool:
			for _, p := range m.ToolResults() {
				c.add(Message{ID: resultID(c.run, c.step, p.ToolCallID), Role: spool.RoleTool, Content: resultText(p.Result), ToolCallID: p.ToolCallID})
			}
		case spool.RoleUser:
			c.add(Message{ID: turnID(m), Role: spool.RoleUser, Content: userContent(m.Content)})
		default:
			c.add(Message{ID: string(m.ID), Role: m.Role, Content: m.Text()})
		}
	}
	return c.messages
}

// turnID returns what the client who sent a turn calls it, so that it knows it again.
func turnID(m spool.Message) string {
	if m.ClientMessageID != "" {
		return m.ClientMessageID
	}
	return string(m.ID)
}

// conversation gathers messages.
type conversation struct {
	messages []Message
	run      spool.RunID
	step     int
}

func (c *conversation) add(m Message) { c.messages = append(c.messages, m) }

// assistant adds what a step has said, each block of reasoning as a message, in the order
// in which a client has seen it begin.
func (c *conversation) assistant(m spool.Message) {
	id, reasonings, at := messageID(c.run, c.step), 0, -1
	own := Message{ID: id, Role: spool.RoleAssistant}
	for _, p := range m.Content {
		if p.Type == spool.PartReasoning && p.Text != "" {
			reasonings++
			c.add(Message{ID: reasoningID(c.run, c.step, reasonings), Role: roleReasoning, Content: p.Text})
		}
		if p.Type != spool.PartText && p.Type != spool.PartToolCall {
			continue
		}
		if at < 0 {
			at = len(c.messages)
			c.add(own)
		}
		if p.Type == spool.PartToolCall {
			own.ToolCalls = append(own.ToolCalls, call(p.ToolCallID, p.ToolName, argsText(p.Args)))
		}
	}
	if at < 0 {
		return
	}
	if text := m.Text(); text != "" {
		own.Content = text
	}
	c.messages[at] = own
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
