package spool

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"
)

// Role says who speaks in a message.
type Role string

// The roles.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleSystem    Role = "system"
	// RoleTool is for the results of tool calls.
	RoleTool Role = "tool"
)

// Message is a saved message of a thread. Messages have the content of whole steps only. The
// content of an unfinished step is in [store.RunState.Draft] and in the run stream.
type Message struct {
	ID       MessageID `json:"id"`       // The message's id.
	ThreadID ThreadID  `json:"threadId"` // Its thread.
	AgentID  AgentID   `json:"-"`
	Role     Role      `enum:"user,assistant,system,tool" json:"role"` // Who speaks.
	// Content is a text, a list of parts, or a summary of what was said before.
	Content         Content   `json:"content"`
	CreatedAt       time.Time `json:"createdAt"`                 // When it was saved.
	ClientMessageID string    `json:"clientMessageId,omitempty"` // The client's own id for the turn.
	// RunID is the run that it belongs to.
	//
	// That is the run that it started, or the run that wrote it. For a summary, it is the run whose turn prompts
	// keep with it.
	RunID RunID `json:"runId,omitempty"`
	// AfterSeq is the last seq of the record when the message was saved. Readers compare it with
	// a cursor to find the turns that a client has missed. The store sets it.
	AfterSeq int64 `json:"-"`
}

// MarshalJSON writes the wire form. It writes null for an empty agent id, because clients filter by agentId.
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

// UnmarshalJSON reads the wire form.
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
	// PartFile is a file that is not an image, such as a PDF.
	PartFile PartType = "file"
	// PartSource is a page or a document that supports what the message says, or that a tool's result names: see
	// [Source]. Sources stand behind what they belong to: at the end of an answer, and after the result of a call. A
	// model does not get them.
	PartSource PartType = "source"
	// PartProvider is a part that only the model's provider understands. It has only Provider, and no client
	// sees it.
	PartProvider PartType = "provider"
	// PartSummary replaces older messages in the prompt: see [Content.Summary].
	PartSummary PartType = "CONTEXT_SUMMARY"
)

// Part is one piece of a message. Type decides which fields are set.
type Part struct {
	Type PartType `json:"type"`
	// Text is the text. Left out: none.
	//
	// Of a text or reasoning part, or of a summary.
	Text string `json:"text,omitempty"`
	// Image is a URL, a data URL, or the URI of an artifact.
	//
	// See [ArtifactID.URI].
	Image string `json:"image,omitempty"`
	// MIMEType is the type of the image or the file.
	MIMEType string `json:"mimeType,omitempty"`
	// File is a URL, a data URL, or the URI of an artifact.
	//
	// File and FileName are those of a file part: a URL as in Image, and the name that its user gave it.
	File     string `json:"file,omitempty"`
	FileName string `json:"fileName,omitempty"` // The name of the file. Left out: it has none.
	// ToolCallID is the call's id.
	//
	// With ToolName: of a tool call and of its result. A source has the ToolCallID of the call whose result has
	// named it, or none if the model has.
	ToolCallID ToolCallID `json:"toolCallId,omitempty"`
	ToolName   string     `json:"toolName,omitempty"` // The tool.
	// Args are the arguments as an object, or the model's text as a string if it was not JSON.
	Args json.RawMessage `json:"args,omitempty"`
	// SentArgs are the arguments as the model wrote them, if they were repaired. Left out: they are args.
	//
	// In the form of Args: see [Agent.RepairArguments].
	SentArgs json.RawMessage `json:"sentArgs,omitempty"`
	// Result is any JSON.
	//
	// Of a tool call.
	Result json.RawMessage `json:"result,omitempty"`
	// ThroughMessageID is the last message that the summary covers.
	ThroughMessageID MessageID `json:"throughMessageId,omitempty"`
	// URL is the address of the page, with http or https. Left out: it is a document, or has no address to open.
	//
	// See [Source].
	URL string `json:"url,omitempty"`
	// Title is the title, or the name of the file. Left out: none, and there is a url.
	Title string `json:"title,omitempty"`
	// Spans are the pieces of the message's text that it supports, in order. Left out: it is not known which.
	Spans []Span `json:"spans,omitempty"`
	// Provider is data that the provider wants back with the part in the next request, such as the
	// signature of a reasoning part. It is an object with one key, the name of the adapter's format, and its
	// value names the provider's model. The engine keeps it byte for byte and never changes the part that it
	// belongs to. An adapter sends it back only to the model that made it: see [Model]. It is in the stored
	// form of [Content.MarshalStored] only, so no client sees it.
	Provider json.RawMessage `json:"-"`
}

// Content is the content of a message. On the wire, a single text part is a JSON string, a summary is an
// object, and everything else is an array of parts. Provider data is not on the wire: see [Content.Shown].
type Content []Part

// TextContent returns content with one text part.
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

// Summary returns the summary that a message consists of, if it is one. In later prompts, the
// summary replaces all messages of its agent up to ThroughMessageID. These messages stay in the
// thread. A message with [RoleSystem] has a summary and no other part.
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
	c = c.Shown()
	if len(c) == 1 && c[0].Type == PartText {
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

// UnmarshalJSON reads all wire forms, and the stored form.
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
		text, plain := unescaped(b)
		if !plain {
			if err := json.Unmarshal(b, &text); err != nil {
				return err
			}
		}
		*c = TextContent(text)
		return nil
	}
	if MayHaveProviderData(b) {
		stored, err := unmarshalStored(b)
		if err == nil {
			*c = stored
		}
		return err
	}
	return json.Unmarshal(b, (*[]Part)(c))
}

// unescaped returns the text of a JSON string, if nothing in it is escaped. Most messages are like that,
// and a segment begins with reading all of them.
func unescaped(b []byte) (text string, plain bool) {
	inner, closed := bytes.CutSuffix(b[1:], []byte(`"`))
	if !closed || !utf8.Valid(inner) {
		return "", false
	}
	for _, c := range inner {
		if c < ' ' || c == '"' || c == '\\' {
			return "", false
		}
	}
	return string(inner), true
}
