package anthropic

import (
	"bytes"
	"encoding/json"
)

const (
	roleUser      = "user"
	roleAssistant = "assistant"
)

// The types of the blocks that the adapter knows. All others are kept as they are.
const (
	typeText       = "text"
	typeImage      = "image"
	typeDocument   = "document"
	typeThinking   = "thinking"
	typeRedacted   = "redacted_thinking"
	typeToolUse    = "tool_use"
	typeToolResult = "tool_result"
)

// wireMessage is a message of a request. It has at least one block.
type wireMessage struct {
	Role    string       `json:"role"`
	Content []*wireBlock `json:"content"`
}

func (m *wireMessage) hasResults() bool { return m.Content[0].Type == typeToolResult }

// wireBlock is a block of a request.
//
//nolint:tagliatelle // the provider's words
type wireBlock struct {
	Type string `json:"type"`

	Text      *string           `json:"text,omitempty"`
	Citations []json.RawMessage `json:"citations,omitempty"`

	Thinking  *string `json:"thinking,omitempty"`
	Signature string  `json:"signature,omitempty"`
	Data      string  `json:"data,omitempty"`

	ID     string          `json:"id,omitempty"`
	Name   string          `json:"name,omitempty"`
	Input  json.RawMessage `json:"input,omitempty"`
	Caller json.RawMessage `json:"caller,omitempty"`

	ToolUseID string `json:"tool_use_id,omitempty"`
	// Content is a text or a list of blocks.
	Content any  `json:"content,omitempty"`
	IsError bool `json:"is_error,omitempty"`

	Source *wireSource `json:"source,omitempty"`
	Title  string      `json:"title,omitempty"`

	CacheControl *cacheControl `json:"cache_control,omitempty"`

	// raw is a whole block that goes back as it came.
	raw json.RawMessage
}

// MarshalJSON writes the block.
func (b *wireBlock) MarshalJSON() ([]byte, error) {
	if b.raw != nil {
		return b.raw, nil
	}
	type plain wireBlock
	return marshal((*plain)(b))
}

func (b *wireBlock) isThinking() bool { return b.Type == typeThinking || b.Type == typeRedacted }

func textBlock(text string) *wireBlock { return &wireBlock{Type: typeText, Text: &text} }

//nolint:tagliatelle // the provider's words
type wireSource struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type,omitempty"`
	Data      string `json:"data,omitempty"`
	URL       string `json:"url,omitempty"`
}

//nolint:tagliatelle // the provider's words
type wireTool struct {
	Name         string          `json:"name"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"input_schema"`
	Eager        bool            `json:"eager_input_streaming,omitempty"`
	CacheControl *cacheControl   `json:"cache_control,omitempty"`
}

// event is an event of an answer, or the whole answer of a server that does not stream.
//
//nolint:tagliatelle // the provider's words
type event struct {
	Type         string          `json:"type"`
	Index        int             `json:"index"`
	Message      *message        `json:"message"`
	ContentBlock json.RawMessage `json:"content_block"`
	Delta        delta           `json:"delta"`
	Usage        *usage          `json:"usage"`
	Error        json.RawMessage `json:"error"`
}

//nolint:tagliatelle // the provider's words
type message struct {
	Model      string            `json:"model"`
	Content    []json.RawMessage `json:"content"`
	StopReason string            `json:"stop_reason"`
	Usage      *usage            `json:"usage"`
}

//nolint:tagliatelle // the provider's words
type delta struct {
	Type        string          `json:"type"`
	Text        string          `json:"text"`
	Thinking    string          `json:"thinking"`
	Signature   string          `json:"signature"`
	PartialJSON string          `json:"partial_json"`
	Citation    json.RawMessage `json:"citation"`
	StopReason  string          `json:"stop_reason"`
}

// startedBlock is the block with which a block of an answer starts.
type startedBlock struct {
	Type      string            `json:"type"`
	Text      string            `json:"text"`
	Citations []json.RawMessage `json:"citations"`
	Thinking  string            `json:"thinking"`
	Signature string            `json:"signature"`
	Data      string            `json:"data"`
	ID        string            `json:"id"`
	Name      string            `json:"name"`
	Input     json.RawMessage   `json:"input"`
	Caller    json.RawMessage   `json:"caller"`
}

// marshal is json.Marshal that leaves "<", ">" and "&" as they are.
func marshal(value any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
