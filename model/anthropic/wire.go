package anthropic

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/spoolhq/spool/internal/lenient"
	"github.com/spoolhq/spool/internal/plainjson"
	"github.com/spoolhq/spool/internal/surrogate"
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

const (
	eventDelta        = "content_block_delta"
	eventMessageDelta = "message_delta"
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
	Type string `json:"type"`
	// Index is the place of a block. Without a number, it is the last block.
	Index        lenient.Count   `json:"index"`
	Message      *message        `json:"message"`
	ContentBlock json.RawMessage `json:"content_block"`
	Delta        json.RawMessage `json:"delta"`
	Usage        *usage          `json:"usage"`
	Error        json.RawMessage `json:"error"`

	// delta is what Delta has, and index what Index points to if plain has read it.
	delta delta
	index int64
}

// parse reads an event. The error is one of the syntax, or says that the text of the event cannot be found.
func (e *event) parse(data string) error {
	*e = event{}
	if e.plain(data) {
		return nil
	}
	*e = event{}
	err := lenient.Object([]byte(data), e)
	if err == nil && len(e.Delta) > 0 && (e.Type == eventDelta || e.Type == eventMessageDelta) {
		err = lenient.Object(e.Delta, &e.delta)
	}
	return err
}

// plain reads an event that has only a piece of a text, as nearly every event of an answer does. It returns false for
// any other event.
func (e *event) plain(data string) bool {
	r := plainjson.New(data)
	var seen plainjson.Fields
	for r.Open('{'); r.More('}'); {
		switch r.Key(&seen) {
		case "type":
			e.Type = r.Str()
		case "index":
			var err error
			if e.index, err = strconv.ParseInt(r.Number(), 10, 64); err != nil {
				return false
			}
			e.Index.N = &e.index
		case "delta":
			e.delta.plain(r)
		default:
			return false
		}
	}
	return r.End() && e.Type == eventDelta
}

func (d *delta) plain(r *plainjson.Reader) {
	var seen plainjson.Fields
	for r.Open('{'); r.More('}'); {
		switch r.Key(&seen) {
		case "type":
			d.Type = r.Str()
		case "text":
			d.Text = surrogate.Text(r.Str())
		case "thinking":
			d.Thinking = surrogate.Text(r.Str())
		case "partial_json":
			d.PartialJSON = surrogate.Text(r.Str())
		default:
			r.Fail()
		}
	}
}

//nolint:tagliatelle // the provider's words
type message struct {
	Model string `json:"model"`
	// Content is a list of blocks. Some servers send a text.
	Content    json.RawMessage `json:"content"`
	StopReason string          `json:"stop_reason"`
	Usage      *usage          `json:"usage"`
}

// blocks returns the blocks of a whole answer.
func (m *message) blocks() ([]json.RawMessage, error) {
	var list []json.RawMessage
	switch {
	case len(m.Content) == 0:
		return nil, nil
	case m.Content[0] == '"':
		block, err := marshal(map[string]any{"type": typeText, "text": m.Content})
		return []json.RawMessage{block}, err
	}
	err := json.Unmarshal(m.Content, &list)
	return list, err
}

//nolint:tagliatelle // the provider's words
type delta struct {
	Type        string          `json:"type"`
	Text        surrogate.Text  `json:"text"`
	Thinking    surrogate.Text  `json:"thinking"`
	Signature   string          `json:"signature"`
	PartialJSON surrogate.Text  `json:"partial_json"`
	Citation    json.RawMessage `json:"citation"`
	StopReason  string          `json:"stop_reason"`
	// Content and Encrypted are those of a compaction. Null: it has failed.
	Content   json.RawMessage `json:"content"`
	Encrypted json.RawMessage `json:"encrypted_content"`
}

// startedBlock is the block with which a block of an answer starts.
type startedBlock struct {
	Type      string            `json:"type"`
	Text      surrogate.Text    `json:"text"`
	Citations []json.RawMessage `json:"citations"`
	Thinking  surrogate.Text    `json:"thinking"`
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
