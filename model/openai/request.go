package openai

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"

	"github.com/spoolhq/spool"
)

// body returns the JSON of a request. Extra wins over every field except stream: the answer is always
// read as a stream.
func (m *Model) body(r spool.ModelRequest) ([]byte, error) {
	body := map[string]any{
		"model":    m.config.Model,
		"messages": m.messages(r),
	}
	if m.config.PromptCache == CacheKey && r.CacheKey != "" {
		body["prompt_cache_key"] = r.CacheKey
	}
	if len(r.Tools) > 0 {
		body["tools"] = encodeTools(r.Tools)
	}
	if most := m.maxOutputTokens(r); most > 0 {
		body[m.config.MaxTokensField] = most
	}
	if !m.config.NoStreamUsage {
		body["stream_options"] = map[string]any{"include_usage": true}
	}
	maps.Copy(body, m.config.Extra)
	maps.Copy(body, r.Extra)
	body["stream"] = true
	return json.Marshal(body)
}

// maxOutputTokens returns the lower of the two bounds of an answer, or zero if it has none.
func (m *Model) maxOutputTokens(r spool.ModelRequest) int {
	if r.MaxOutputTokens > 0 && m.config.MaxOutputTokens > 0 {
		return min(r.MaxOutputTokens, m.config.MaxOutputTokens)
	}
	return max(r.MaxOutputTokens, m.config.MaxOutputTokens)
}

func (m *Model) messages(r spool.ModelRequest) []wireMessage {
	out := make([]wireMessage, 0, len(r.Messages)+1)
	if r.Instructions != "" {
		out = append(out, wireMessage{"role": "system", "content": r.Instructions})
	}
	ends := []int{len(out)} // see mark
	for _, message := range r.Messages {
		switch message.Role {
		case spool.RoleTool:
			out = append(out, encodeResults(message)...)
		case spool.RoleAssistant:
			if encoded := m.encodeAssistant(message); encoded != nil {
				out = append(out, encoded)
			}
		case spool.RoleSystem:
			out = append(out, wireMessage{"role": "system", "content": message.Text()})
		case spool.RoleUser:
			out = append(out, wireMessage{"role": "user", "content": encodeUser(message.Content)})
		}
		ends = append(ends, len(out))
	}
	if m.config.PromptCache == CacheMarks {
		mark(out, ends, r.CacheMarks)
	}
	return out
}

// encodeUser returns a string, which every server accepts, or a list of parts if the content has an
// image.
func encodeUser(content spool.Content) any {
	parts := make([]map[string]any, 0, len(content))
	images := false
	for _, p := range content {
		switch p.Type {
		case spool.PartText:
			parts = append(parts, map[string]any{"type": "text", "text": p.Text})
		case spool.PartImage:
			images = true
			parts = append(parts, map[string]any{"type": "image_url", "image_url": map[string]any{"url": p.Image}})
		case spool.PartReasoning, spool.PartToolCall, spool.PartToolResult:
		}
	}
	if !images {
		return content.Text()
	}
	return parts
}

// encodeAssistant returns the wire form of an assistant message. It returns nil for an empty message,
// which servers refuse.
func (m *Model) encodeAssistant(message spool.Message) wireMessage {
	out := wireMessage{"role": "assistant", "content": nil}
	if text := message.Text(); text != "" {
		out["content"] = text
	}
	calls := make([]wireMessage, 0, len(message.Content))
	var details []json.RawMessage
	var reasoning strings.Builder
	for _, p := range message.Content {
		switch p.Type {
		case spool.PartToolCall:
			calls = append(calls, encodeCall(p))
		case spool.PartReasoning:
			reasoning.WriteString(p.Text)
			details = append(details, savedDetails(p.Provider)...)
		case spool.PartText, spool.PartImage, spool.PartToolResult:
		}
	}
	if len(calls) > 0 {
		out["tool_calls"] = calls
	}
	if out["content"] == nil && len(calls) == 0 {
		return nil
	}
	if len(details) > 0 {
		out["reasoning_details"] = details
	}
	if m.config.ReasoningField != "" && reasoning.Len() > 0 {
		out[m.config.ReasoningField] = reasoning.String()
	}
	return out
}

func encodeCall(p spool.Part) wireMessage {
	out := wireMessage{
		"id":       p.ToolCallID,
		"type":     "function",
		"function": map[string]any{"name": p.ToolName, "arguments": encodeArgs(p.Args)},
	}
	if extra := savedExtra(p.Provider); extra != nil {
		out["extra_content"] = extra
	}
	return out
}

// encodeArgs returns the text of a JSON object, whatever the model wrote. Servers parse the arguments
// for their chat templates, and refuse a history whose arguments are not an object.
func encodeArgs(args json.RawMessage) string {
	args = bytes.TrimSpace(args)
	switch {
	case len(args) == 0, string(args) == "null":
		return "{}"
	case args[0] == '{' && json.Valid(args):
		return string(args)
	}
	var value any = string(args)
	if json.Valid(args) {
		value = args
	}
	wrapped, err := json.Marshal(map[string]any{"invalid_arguments": value})
	if err != nil {
		return "{}"
	}
	return string(wrapped)
}

func encodeResults(message spool.Message) []wireMessage {
	results := message.ToolResults()
	out := make([]wireMessage, len(results))
	for i, p := range results {
		out[i] = wireMessage{"role": "tool", "tool_call_id": p.ToolCallID, "content": resultText(p.Result)}
	}
	return out
}

// resultText returns the text of a JSON string, and any other JSON unchanged.
func resultText(result json.RawMessage) string {
	var text string
	switch {
	case len(result) == 0:
		return "null"
	case json.Unmarshal(result, &text) == nil && result[0] == '"':
		return text
	default:
		return string(result)
	}
}

func encodeTools(tools []spool.ToolSpec) []map[string]any {
	out := make([]map[string]any, len(tools))
	for i, t := range tools {
		parameters := t.Parameters
		if len(parameters) == 0 {
			parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		out[i] = map[string]any{"type": "function", "function": map[string]any{
			"name": t.Name, "description": t.Description, "parameters": parameters,
		}}
	}
	return out
}
