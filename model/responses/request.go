package responses

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/openaiwire"
	"github.com/spoolhq/spool/internal/toolname"
)

// minOutputTokens is the lowest bound of an answer that OpenAI accepts.
const minOutputTokens = 16

// body returns the fields of a request. Extra wins over every field except stream, because the answer is always read
// as a stream, and the choice of no tool.
func (m *Model) body(r spool.ModelRequest) object {
	body := object{"model": m.config.Model, "input": m.input(r.Messages), "store": m.config.Store}
	if !m.config.NoEncryptedReasoning {
		body["include"] = []string{"reasoning.encrypted_content"}
	}
	if r.Instructions != "" {
		body["instructions"] = r.Instructions
	}
	if tools := encodeTools(r.Tools); len(tools) > 0 {
		body["tools"] = tools
	}
	if most := openaiwire.Lower(r.MaxOutputTokens, m.config.MaxOutputTokens); most > 0 {
		body["max_output_tokens"] = max(most, minOutputTokens)
	}
	if r.CacheKey != "" {
		body["prompt_cache_key"] = r.CacheKey
	}
	if m.config.Background {
		body["background"] = true
	}
	body.merge(object{"reasoning": m.reasoningOptions()})
	if r.Output != nil {
		body.merge(object{"text": object{"format": format(r.Output)}})
	}
	body.merge(m.config.Extra)
	body.merge(r.Extra)
	if r.NoCalls && has(body, "tools") {
		body["tool_choice"] = "none"
	}
	if body.background() && !has(m.config.Extra, "store") && !has(r.Extra, "store") {
		body["store"] = true // the server has to keep what it goes on with
	}
	body["stream"] = true
	return body
}

func has(fields map[string]any, name string) bool {
	_, ok := fields[name]
	return ok
}

func (o object) background() bool { return o["background"] == true }

// merge sets fields. It merges the objects reasoning and text and the list of tools, and moves fields that
// other interfaces have at the top level to their places.
func (o object) merge(fields map[string]any) {
	for name, value := range fields {
		switch name {
		case "reasoning_effort":
			o.within("reasoning", map[string]any{"effort": value})
		case "verbosity":
			o.within("text", map[string]any{"verbosity": value})
		case "reasoning", "text":
			o.within(name, value)
		case "tools":
			o.addTools(value)
		default:
			o[name] = value
		}
	}
}

// addTools adds the provider's own tools to those of the agent.
func (o object) addTools(value any) {
	more, ok := value.([]any)
	if !ok {
		o["tools"] = value
		return
	}
	tools, _ := o["tools"].([]any)
	o["tools"] = slices.Concat(tools, more)
}

func (o object) within(name string, value any) {
	var fields map[string]any
	switch value := value.(type) {
	case object:
		fields = value
	case map[string]any:
		fields = value
	default:
		o[name] = value
		return
	}
	if len(fields) == 0 {
		return
	}
	inner, ok := o[name].(object)
	if !ok {
		inner = make(object, len(fields))
		o[name] = inner
	}
	maps.Copy(inner, fields)
}

func (m *Model) reasoningOptions() object {
	options := make(object, 2)
	if m.config.ReasoningEffort != "" {
		options["effort"] = m.config.ReasoningEffort
	}
	if m.config.ReasoningSummary != "" {
		options["summary"] = m.config.ReasoningSummary
	}
	return options
}

// encodeTools returns the tools of a request. They are not strict, because a strict tool may have no optional
// arguments.
func encodeTools(specs []spool.ToolSpec) []any {
	out := make([]any, 0, len(specs))
	for _, t := range specs {
		parameters := t.Parameters
		if len(parameters) == 0 {
			parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		out = append(out, object{
			"type": "function", "name": toolname.Fit(t.Name), "description": t.Description, "parameters": parameters,
			"strict": false,
		})
	}
	return out
}

// format returns the format of an answer that is a JSON value.
func format(s *spool.OutputSchema) object {
	out := object{"type": "json_schema", "name": s.Name, "schema": s.Schema, "strict": strict(s.Schema)}
	if s.Description != "" {
		out["description"] = s.Description
	}
	return out
}
