package anthropic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var (
	idExpr   = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	nameExpr = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
)

// read fills in the request from its body, and returns why the service refuses it, or nothing.
func (s *Server) read(r *Request) string {
	var in wireRequest
	if err := json.Unmarshal(r.Raw, &in); err != nil {
		return "The request body is not valid JSON: " + err.Error()
	}
	for _, check := range []func(*Request, *wireRequest) string{
		readScalars, readSystem, readMessages, readTools, readThinking, readOutput, checkCache, checkCalls, s.checkSigned,
		checkTurn, s.checkThoughts,
	} {
		if problem := check(r, &in); problem != "" {
			return problem
		}
	}
	return ""
}

func readScalars(r *Request, in *wireRequest) string {
	switch {
	case in.Model == nil || *in.Model == "":
		return "model: Field required"
	case in.MaxTokens == nil:
		return "max_tokens: Field required"
	case *in.MaxTokens < 1:
		return "max_tokens: must be greater than or equal to 1"
	case len(in.Messages) == 0:
		return "messages: at least one message is required"
	}
	r.Model, r.MaxTokens, r.Stream = *in.Model, *in.MaxTokens, in.Stream
	return ""
}

func readSystem(r *Request, in *wireRequest) string {
	var ok bool
	if r.System, ok = blocks(in.System); !ok {
		return "system: Input should be a valid list"
	}
	for i := range r.System {
		if problem := checkText(&r.System[i], "system"); problem != "" {
			return problem
		}
	}
	return ""
}

func readMessages(r *Request, in *wireRequest) string {
	for i, m := range in.Messages {
		content, ok := blocks(m.Content)
		last := i == len(in.Messages)-1
		switch {
		case !ok:
			return fmt.Sprintf("messages.%d.content: Input should be a valid list", i)
		case m.Role != "user" && m.Role != "assistant":
			return fmt.Sprintf("messages.%d.role: Input should be 'user' or 'assistant'", i)
		case i == 0 && m.Role != "user":
			return `messages: first message must use the "user" role`
		case i > 0 && in.Messages[i-1].Role == m.Role:
			return fmt.Sprintf(
				`messages: roles must alternate between "user" and "assistant", but found multiple %q roles in a row`, m.Role,
			)
		case len(content) == 0:
			return "messages: all messages must have non-empty content except for the optional final assistant message"
		}
		for j := range content {
			if problem := checkBlock(&content[j], m.Role, fmt.Sprintf("messages.%d.content.%d", i, j)); problem != "" {
				return problem
			}
		}
		if end := content[len(content)-1]; last && m.Role == "assistant" && end.Type == "text" &&
			strings.TrimRight(*end.Text, " \r\n\t") != *end.Text {
			return "messages: final assistant content cannot end with trailing whitespace"
		}
		r.Messages = append(r.Messages, RequestMessage{Role: m.Role, Content: content})
	}
	return ""
}

// assistantTypes are the blocks that an assistant's message may have.
var assistantTypes = map[string]bool{
	"text": true, "thinking": true, "redacted_thinking": true, "tool_use": true, "server_tool_use": true,
	"web_search_tool_result": true,
}

var userTypes = map[string]bool{"text": true, "image": true, "document": true, "tool_result": true}

func checkBlock(b *RequestBlock, role, at string) string {
	if role == "user" && !userTypes[b.Type] || role == "assistant" && !assistantTypes[b.Type] {
		return fmt.Sprintf("%s: Input tag '%s' found using 'type' does not match any of the expected tags", at, b.Type)
	}
	switch b.Type {
	case "text":
		return checkText(b, "messages")
	case "tool_use":
		switch {
		case !idExpr.MatchString(b.ID):
			return at + ".tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
		case !nameExpr.MatchString(b.Name):
			return at + ".tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"
		case !isObject(b.Input):
			return at + ".tool_use.input: Input should be a valid dictionary"
		}
	case "tool_result":
		return checkResult(b, at)
	case "image", "document":
		if !isObject(b.Source) {
			return at + "." + b.Type + ".source: Field required"
		}
	case "thinking":
		switch {
		case b.Thinking == nil:
			return at + ".thinking.thinking: Field required"
		case b.Signature == "":
			return at + ".thinking.signature: Field required"
		}
	}
	if b.isThinking() && len(b.CacheControl) > 0 {
		return at + "." + b.Type + ".cache_control: Extra inputs are not permitted"
	}
	return ""
}

func checkText(b *RequestBlock, where string) string {
	switch {
	case b.Text == nil:
		return where + ": text: Field required"
	case *b.Text == "":
		return where + ": text content blocks must be non-empty"
	case strings.TrimSpace(*b.Text) == "":
		return where + ": text content blocks must contain non-whitespace text"
	}
	return ""
}

func checkResult(b *RequestBlock, at string) string {
	inner, ok := blocks(b.Content)
	if !ok {
		return at + ".tool_result.content: Input should be a valid list"
	}
	for i := range inner {
		switch inner[i].Type {
		case "text":
			if inner[i].Text == nil || *inner[i].Text == "" && b.Content[0] == '[' {
				return "messages: text content blocks must be non-empty"
			}
		case "image", "document":
		default:
			return fmt.Sprintf("%s.tool_result.content.%d: Input tag '%s' does not match any of the expected tags", at, i,
				inner[i].Type)
		}
	}
	return ""
}

func readTools(r *Request, in *wireRequest) string {
	names := make(map[string]bool, len(in.Tools))
	for i, t := range in.Tools {
		own := t.Type == "" || t.Type == "custom"
		switch {
		case !nameExpr.MatchString(t.Name):
			return fmt.Sprintf("tools.%d.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'", i)
		case names[t.Name]:
			return "tools: Tool names must be unique."
		case own && schemaType(t.InputSchema) != "object":
			return fmt.Sprintf("tools.%d.custom.input_schema.type: Input should be 'object'", i)
		}
		names[t.Name] = true
	}
	r.Tools = in.Tools
	if in.ToolChoice == nil {
		return ""
	}
	r.ToolChoice, r.Forced = in.ToolChoice.Type, in.ToolChoice.Name
	switch {
	case len(in.Tools) == 0:
		return "tool_choice may only be specified while providing tools."
	case r.ToolChoice == "tool" && !names[r.Forced]:
		return fmt.Sprintf("Tool '%s' not found in provided tools", r.Forced)
	}
	return ""
}

func readOutput(r *Request, in *wireRequest) string {
	if in.OutputConfig == nil || in.OutputConfig.Format == nil {
		return ""
	}
	if in.OutputConfig.Format.Type != "json_schema" {
		return "output_config.format.type: Input should be 'json_schema'"
	}
	r.Schema = in.OutputConfig.Format.Schema
	var schema any
	if json.Unmarshal(r.Schema, &schema) != nil || !closedObjects(schema) {
		return "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false"
	}
	return ""
}

// closedObjects reports whether all objects of a schema forbid further properties.
func closedObjects(schema any) bool {
	switch schema := schema.(type) {
	case map[string]any:
		if _, has := schema["properties"]; has && schema["type"] == "object" && schema["additionalProperties"] != false {
			return false
		}
		for _, inner := range schema {
			if !closedObjects(inner) {
				return false
			}
		}
	case []any:
		for _, inner := range schema {
			if !closedObjects(inner) {
				return false
			}
		}
	}
	return true
}

func checkCache(r *Request, _ *wireRequest) string {
	marks := 0
	count := func(raw json.RawMessage) {
		if len(raw) > 0 {
			marks++
		}
	}
	for i := range r.Tools {
		count(r.Tools[i].CacheControl)
	}
	for i := range r.System {
		count(r.System[i].CacheControl)
	}
	for _, m := range r.Messages {
		for i := range m.Content {
			count(m.Content[i].CacheControl)
		}
	}
	if marks > 4 {
		return fmt.Sprintf("A maximum of 4 blocks with cache_control may be provided. Found %d.", marks)
	}
	return ""
}

// checkCalls checks that the results of calls stand directly behind them.
func checkCalls(r *Request, _ *wireRequest) string {
	seen := make(map[string]bool)
	var open []string
	for i, m := range r.Messages {
		answered := make(map[string]bool)
		for j := range m.Content {
			b := &m.Content[j]
			if b.Type != "tool_result" {
				if m.Role == "user" && len(open) > len(answered) {
					return unanswered(i, open, answered)
				}
				continue
			}
			if !slices.Contains(open, b.ToolUseID) {
				return fmt.Sprintf("messages.%d.content.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s. "+
					"Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", i, j, b.ToolUseID)
			}
			if answered[b.ToolUseID] {
				return fmt.Sprintf(
					"messages.%d.content.%d: each tool_use must have a single result. Found multiple `tool_result` blocks with id: %s",
					i, j, b.ToolUseID,
				)
			}
			answered[b.ToolUseID] = true
		}
		if len(open) > len(answered) {
			return unanswered(i, open, answered)
		}
		open = open[:0]
		if m.Role == "user" {
			continue
		}
		for j := range m.Content {
			if b := &m.Content[j]; b.Type == "tool_use" {
				if seen[b.ID] {
					return "messages: `tool_use` ids must be unique"
				}
				seen[b.ID] = true
				open = append(open, b.ID)
			}
		}
	}
	if len(open) > 0 {
		return unanswered(len(r.Messages), open, nil)
	}
	return ""
}

func unanswered(i int, open []string, answered map[string]bool) string {
	var missing []string
	for _, id := range open {
		if !answered[id] {
			missing = append(missing, id)
		}
	}
	return fmt.Sprintf("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. "+
		"Each `tool_use` block must have a corresponding `tool_result` block in the next message.", i-1,
		strings.Join(missing, ", "))
}

func isObject(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) > 0 && raw[0] == '{'
}

func schemaType(raw json.RawMessage) string {
	var schema struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(raw, &schema) != nil {
		return ""
	}
	return schema.Type
}
