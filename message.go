package spool

import (
	"encoding/json"
	"strings"
	"time"
)

// Role says who speaks in a message.
type Role string

// The roles.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleSystem    Role = "system"
	// RoleTool carries the results of tool calls.
	RoleTool Role = "tool"
)

// Message is a saved message of a thread. Messages consist of whole steps only: what
// a step has produced before it ends is in [RunState.Draft] and in the run stream.
type Message struct {
	ID              MessageID `doc:"The message's id."                                              json:"id"`
	ThreadID        ThreadID  `doc:"Its thread."                                                    json:"threadId"`
	AgentID         AgentID   `json:"-"`
	Role            Role      `doc:"Who speaks."                                                    enum:"user,assistant,system,tool" json:"role"`
	Content         Content   `doc:"A text, a list of parts, or a summary of what was said before." json:"content"`
	CreatedAt       time.Time `doc:"When it was saved."                                             json:"createdAt"`
	ClientMessageID string    `doc:"The client's own name for the turn."                            json:"clientMessageId,omitempty"`
	// RunID is the run that the message belongs to: the one that it started, or the
	// one that wrote it.
	RunID RunID `doc:"The run that it belongs to." json:"runId,omitempty"`
	// AfterSeq is the last seq of the record when the message was saved, by which a
	// client with a cursor can tell which turns it has missed. The store sets it.
	AfterSeq int64 `json:"-"`
}

// MarshalJSON writes the agent id as null where there is none, as clients filter by it.
func (m Message) MarshalJSON() ([]byte, error) {
	type plain Message
	out := struct {
		plain
		AgentID *AgentID `json:"agentId"`
	}{plain: plain(m)}
	if m.AgentID != "" {
		out.AgentID = &m.AgentID
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (m *Message) UnmarshalJSON(b []byte) error {
	type plain Message
	in := struct {
		*plain
		AgentID *AgentID `json:"agentId"`
	}{plain: (*plain)(m)}
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	if in.AgentID != nil {
		m.AgentID = *in.AgentID
	}
	return nil
}

// Text returns the message's text parts, joined.
func (m Message) Text() string { return m.Content.Text() }

// ToolCalls returns the message's tool calls, in order.
func (m Message) ToolCalls() []Part { return m.Content.only(PartToolCall) }

// ToolResults returns the message's tool results, in order.
func (m Message) ToolResults() []Part { return m.Content.only(PartToolResult) }

// PartType names a kind of [Part].
type PartType string

// The kinds of part.
const (
	PartText       PartType = "text"
	PartReasoning  PartType = "reasoning"
	PartImage      PartType = "image"
	PartToolCall   PartType = "tool-call"
	PartToolResult PartType = "tool-result"
	// PartSummary stands for what was said before: see [Content.Summary].
	PartSummary PartType = "CONTEXT_SUMMARY"
)

// Part is one piece of a message. Which fields are set follows from Type.
type Part struct {
	Type PartType `json:"type"`
	// Text of a text or reasoning part, or of a summary.
	Text string `doc:"The text. Left out: none." json:"text,omitempty"`
	// Image of an image part: a URL or a data URL.
	Image string `doc:"A URL, or a data URL." json:"image,omitempty"`
	// MIMEType of an image part.
	MIMEType string `doc:"The type of the image." json:"mimeType,omitempty"`
	// ToolCallID and ToolName of a tool call and of its result.
	ToolCallID ToolCallID `doc:"The call's id." json:"toolCallId,omitempty"`
	ToolName   string     `doc:"The tool."      json:"toolName,omitempty"`
	// Args of a tool call: the JSON object the model wrote, or a JSON string of what
	// it wrote when that was no JSON.
	Args json.RawMessage `doc:"The arguments as an object, or as a text where the model wrote no JSON." json:"args,omitempty"`
	// Result of a tool call: any JSON.
	Result json.RawMessage `doc:"Any JSON." json:"result,omitempty"`
	// ThroughMessageID of a summary is the last message that it speaks of.
	ThroughMessageID MessageID `doc:"The last message that it speaks of." json:"throughMessageId,omitempty"`
	// Provider is what the provider wants back with the part in the next request,
	// such as the signature of a reasoning part: an object whose one key names the
	// adapter's format, so that another adapter leaves it alone.
	Provider json.RawMessage `doc:"What the model's provider wants back with the part. It is for nobody else." json:"provider,omitempty"`
}

// Content is what a message says. A single text part without provider data is a JSON
// string on the wire, and a summary an object; everything else is an array of parts.
type Content []Part

// TextContent returns content of one text part.
func TextContent(text string) Content { return Content{{Type: PartText, Text: text}} }

// Text returns the text parts, joined.
func (c Content) Text() string {
	texts := make([]string, 0, 8)
	for _, p := range c {
		if p.Type == PartText {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "")
}

// Preview returns the first line of the text, at most 80 characters of it.
func (c Content) Preview() string {
	line, _, _ := strings.Cut(strings.TrimSpace(c.Text()), "\n")
	runes := []rune(strings.TrimSpace(line))
	if len(runes) > 80 {
		return strings.TrimSpace(string(runes[:79])) + "…"
	}
	return string(runes)
}

// Summary returns the part of a message that stands, in the prompts that follow it, for all
// messages of its agent up to the one that it names. They stay where they are. It is the
// only part of a message of the system.
func (c Content) Summary() (Part, bool) {
	if len(c) == 1 && c[0].Type == PartSummary {
		return c[0], true
	}
	return Part{}, false
}

func (c Content) only(t PartType) []Part {
	var out []Part
	for _, p := range c {
		if p.Type == t {
			out = append(out, p)
		}
	}
	return out
}

// MarshalJSON writes the wire form.
func (c Content) MarshalJSON() ([]byte, error) {
	if len(c) == 1 && c[0].Type == PartText && c[0].Provider == nil {
		return json.Marshal(c[0].Text)
	}
	if p, ok := c.Summary(); ok {
		return json.Marshal(p)
	}
	if c == nil {
		return []byte("[]"), nil
	}
	return json.Marshal([]Part(c))
}

// UnmarshalJSON reads all wire forms.
func (c *Content) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '{' {
		var p Part
		if err := json.Unmarshal(b, &p); err != nil {
			return err
		}
		if p.Type != PartSummary {
			return Errorf(Invalid, "content of the type %q is not an array of parts", p.Type)
		}
		*c = Content{p}
		return nil
	}
	if len(b) > 0 && b[0] == '"' {
		var text string
		if err := json.Unmarshal(b, &text); err != nil {
			return err
		}
		*c = TextContent(text)
		return nil
	}
	return json.Unmarshal(b, (*[]Part)(c))
}
