package anthropic

import (
	"encoding/json"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/toolname"
)

// body is the body of a request before the extra fields are merged into it.
type body struct {
	model    string
	names    []string // of the tools, as the agent has them
	system   []*wireBlock
	tools    []wireTool
	messages []wireMessage
	choice   any
	thinking *wireThinking
	// output is the name of the tool that stands for the output. Empty: there is none.
	output string
}

// body returns a request. Extra wins over every field except stream, because the answer is always read as a stream, and
// the choice of no tool.
func (m *Model) body(r spool.ModelRequest) (raw []byte, b *body, err error) {
	b = &body{model: m.modelName(r), tools: m.tools(r.Tools)}
	for _, t := range r.Tools {
		b.names = append(b.names, t.Name)
	}
	if r.Instructions != "" {
		b.system = append(b.system, textBlock(r.Instructions))
	}
	talk, ends := newConversation(b.model, r.Messages)
	b.messages = talk.messages
	maxTokens := m.maxTokens(r)
	b.thinking = m.config.Thinking.thinking(maxTokens, b.messages)
	for _, extra := range []map[string]any{m.config.Extra, r.Extra} {
		if value, ok := extra["thinking"]; ok {
			b.thinking = extraThinking(value, b.thinking)
		}
	}
	asTool := r.Output != nil && m.config.Output == OutputTool
	if asTool {
		b.outputTool(r.Output, b.thinking.on(), r.NoCalls)
	}
	b.mark(ends, r.CacheMarks, m.config.Cache.control())

	fields := map[string]any{"model": b.model, "messages": b.messages, "max_tokens": maxTokens}
	if len(b.system) > 0 {
		fields["system"] = b.system
	}
	if len(b.tools) > 0 {
		fields["tools"] = b.tools
	}
	if b.choice != nil {
		fields["tool_choice"] = b.choice
	}
	if b.thinking != nil {
		fields["thinking"] = b.thinking
	}
	merge(fields, m.config.Extra, r.Extra)
	if r.NoCalls && fields["tools"] != nil && !asTool {
		fields["tool_choice"] = map[string]any{"type": "none"}
	}
	if r.Output != nil && !asTool {
		fields["output_config"] = outputFormat(r.Output, fields["output_config"])
	}
	fields["stream"] = true
	raw, err = marshal(fields)
	return raw, b, err
}

// modelName returns the provider's name of the model that a request is for.
func (m *Model) modelName(r spool.ModelRequest) string {
	name := m.config.Model
	for _, extra := range []map[string]any{m.config.Extra, r.Extra} {
		if other, ok := extra["model"].(string); ok && other != "" {
			name = other
		}
	}
	return name
}

// maxTokens returns the bound of an answer.
func (m *Model) maxTokens(r spool.ModelRequest) int {
	switch {
	case r.MaxOutputTokens > 0 && m.config.MaxOutputTokens > 0:
		return min(r.MaxOutputTokens, m.config.MaxOutputTokens)
	case r.MaxOutputTokens > 0 || m.config.MaxOutputTokens > 0:
		return max(r.MaxOutputTokens, m.config.MaxOutputTokens)
	default:
		return knownOutput(m.modelName(r)) + m.config.Thinking.Budget
	}
}

func (m *Model) tools(tools []spool.ToolSpec) []wireTool {
	out := make([]wireTool, len(tools))
	for i, t := range tools {
		schema := t.Parameters
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		out[i] = wireTool{
			Name: toolname.Fit(t.Name), Description: t.Description, InputSchema: schema, Eager: !m.config.BufferedInput,
		}
	}
	return out
}
