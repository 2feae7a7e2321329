package anthropic

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
)

// Request is a request that passed all checks.
type Request struct {
	Header http.Header
	Raw    []byte

	Model      string
	MaxTokens  int
	Stream     bool
	System     []RequestBlock
	Messages   []RequestMessage
	Tools      []RequestTool
	ToolChoice string
	// Forced is the name of the tool that has to be called. Empty: none.
	Forced string
	// Thinking is the type of the configuration of thinking, Display what is to be shown of it.
	Thinking, Display string
	Budget            int
	// Schema is that of the output. Nil: none.
	Schema json.RawMessage
}

// RequestMessage is a message of a request.
type RequestMessage struct {
	Role    string
	Content []RequestBlock
}

// RequestTool is a tool of a request.
//
//nolint:tagliatelle // the provider's words
type RequestTool struct {
	Type         string          `json:"type"`
	Name         string          `json:"name"`
	InputSchema  json.RawMessage `json:"input_schema"`
	Eager        *bool           `json:"eager_input_streaming"`
	CacheControl json.RawMessage `json:"cache_control"`
}

// RequestBlock is a block of a request.
//
//nolint:tagliatelle // the provider's words
type RequestBlock struct {
	Type      string          `json:"type"`
	Text      *string         `json:"text"`
	Thinking  *string         `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	IsError   bool            `json:"is_error"`
	Content   json.RawMessage `json:"content"`
	Source    json.RawMessage `json:"source"`
	Citations []struct {
		EncryptedIndex string `json:"encrypted_index"`
	} `json:"citations"`
	CacheControl json.RawMessage `json:"cache_control"`
}

func (b *RequestBlock) isThinking() bool {
	return b.Type == "thinking" || b.Type == "redacted_thinking"
}

// Said returns the texts of the last message, joined by blanks.
func (r *Request) Said() string {
	if len(r.Messages) == 0 {
		return ""
	}
	var texts []string
	for _, b := range r.Messages[len(r.Messages)-1].Content {
		if b.Type == "text" && b.Text != nil {
			texts = append(texts, *b.Text)
		}
	}
	return strings.Join(texts, " ")
}

// Results returns the results of tools in the last message.
func (r *Request) Results() []RequestBlock {
	if len(r.Messages) == 0 {
		return nil
	}
	var out []RequestBlock
	for _, b := range r.Messages[len(r.Messages)-1].Content {
		if b.Type == "tool_result" {
			out = append(out, b)
		}
	}
	return out
}

// place returns where the answer stands.
func (r *Request) place() place {
	at := place{model: r.Model, display: r.Display}
	last := r.Messages[len(r.Messages)-1]
	if last.Role != "assistant" {
		return at
	}
	at.first = len(last.Content)
	for i := range last.Content {
		if last.Content[i].isThinking() {
			at.thought++
		}
	}
	return at
}

// wireRequest is the body of a request.
//
//nolint:tagliatelle // the provider's words
type wireRequest struct {
	Model     *string         `json:"model"`
	MaxTokens *int            `json:"max_tokens"`
	Stream    bool            `json:"stream"`
	System    json.RawMessage `json:"system"`
	Messages  []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Tools      []RequestTool `json:"tools"`
	ToolChoice *struct {
		Type string `json:"type"`
		Name string `json:"name"`
	} `json:"tool_choice"`
	Thinking *struct {
		Type         string `json:"type"`
		BudgetTokens *int   `json:"budget_tokens"`
		Display      string `json:"display"`
	} `json:"thinking"`
	Temperature  *float64 `json:"temperature"`
	OutputConfig *struct {
		Format *struct {
			Type   string          `json:"type"`
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
	} `json:"output_config"`
}

// blocks reads a content: a text or a list of blocks.
func blocks(raw json.RawMessage) ([]RequestBlock, bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return nil, true
	}
	if raw[0] == '"' {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			return nil, false
		}
		return []RequestBlock{{Type: "text", Text: &text}}, true
	}
	var list []RequestBlock
	return list, json.Unmarshal(raw, &list) == nil
}
