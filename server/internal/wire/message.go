package wire

import (
	"encoding/json"
	"reflect"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/rest"
)

// Message is a message of a thread. Package spool encodes it.
type Message struct {
	ID              spool.MessageID `doc:"The message's id."                                              json:"id"`
	ThreadID        spool.ThreadID  `doc:"Its thread."                                                    json:"threadId"`
	AgentID         *spool.AgentID  `doc:"The agent that wrote it, if one did."                           json:"agentId"`
	Role            spool.Role      `doc:"Who speaks."                                                    enum:"user,assistant,system,tool" json:"role"`
	Content         content         `doc:"A text, a list of parts, or a summary of what was said before." json:"content"`
	CreatedAt       time.Time       `doc:"When it was saved."                                             json:"createdAt"`
	ClientMessageID string          `doc:"The client's own name for the turn."                            json:"clientMessageId,omitempty"`
	RunID           spool.RunID     `doc:"The run that it belongs to."                                    json:"runId,omitempty"`
}

// content is what a message says: one of three forms.
type content struct{}

// AnyOf implements [rest.Alternatives].
func (content) AnyOf() []reflect.Type {
	return []reflect.Type{reflect.TypeFor[string](), reflect.TypeFor[[]rest.OneOf[part]](), reflect.TypeFor[contextSummary]()}
}

// part is a piece of a message.
type part struct {
	_          struct{} `doc:"A piece of a message, by its type. Ignore a part whose type you do not know."`
	Text       *textPart
	Reasoning  *reasoningPart
	Image      *imagePart
	ToolCall   *toolCallPart
	ToolResult *toolResultPart
}

// forProvider is what any part may have.
type forProvider struct {
	Provider json.RawMessage `doc:"What the model's provider wants back with the part. It is for nobody else." json:"provider,omitempty"`
}

type textPart struct {
	Type spool.PartType `const:"text"                    json:"type"`
	Text string         `doc:"The text. Left out: none." json:"text,omitempty"`
	forProvider
}

type reasoningPart struct {
	Type spool.PartType `const:"reasoning"               json:"type"`
	Text string         `doc:"The text. Left out: none." json:"text,omitempty"`
	forProvider
}

type imagePart struct {
	Type     spool.PartType `const:"image"                json:"type"`
	Image    string         `doc:"A URL, or a data URL."  json:"image"`
	MIMEType string         `doc:"The type of the image." json:"mimeType,omitempty"`
	forProvider
}

type toolCallPart struct {
	Type       spool.PartType   `const:"tool-call"                                                             json:"type"`
	ToolCallID spool.ToolCallID `doc:"The call's id."                                                          json:"toolCallId"`
	ToolName   string           `doc:"The tool."                                                               json:"toolName"`
	Args       json.RawMessage  `doc:"The arguments as an object, or as a text where the model wrote no JSON." json:"args,omitempty"`
	forProvider
}

type toolResultPart struct {
	Type       spool.PartType   `const:"tool-result"  json:"type"`
	ToolCallID spool.ToolCallID `doc:"The call's id." json:"toolCallId"`
	ToolName   string           `doc:"The tool."      json:"toolName"`
	Result     json.RawMessage  `doc:"Any JSON."      json:"result,omitempty"`
	forProvider
}

// contextSummary is the content of a message that stands for older ones.
type contextSummary struct {
	Type             spool.PartType  `const:"CONTEXT_SUMMARY"                   json:"type"`
	Text             string          `doc:"What was said before, in short."     json:"text,omitempty"`
	ThroughMessageID spool.MessageID `doc:"The last message that it speaks of." json:"throughMessageId,omitempty"`
	forProvider
}
