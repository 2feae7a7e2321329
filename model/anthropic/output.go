package anthropic

import (
	"encoding/json"
	"maps"

	"github.com/spoolhq/spool"
)

// Output is how an answer gets the form of [spool.ModelRequest.Output].
type Output string

// The ways.
const (
	// OutputNative gives the schema to the provider, as output_config.format. Keywords of the schema that
	// the provider does not take become part of the descriptions, and objects allow no further properties.
	OutputNative Output = "native"
	// OutputTool makes the model call a tool that has the schema, for servers without output_config. The call is
	// forced, unless the model thinks: the provider refuses a forced call with thinking. The instructions
	// then ask for it.
	OutputTool Output = "tool"
)

// outputFormat returns the output_config of a request: that of Extra, with the schema.
func outputFormat(schema *spool.OutputSchema, extra any) any {
	format := map[string]any{"type": "json_schema", "schema": providerSchema(schema.Schema)}
	merged := map[string]any{"format": format}
	raw, err := json.Marshal(extra)
	if err == nil && len(raw) > 0 && raw[0] == '{' {
		var fields map[string]json.RawMessage
		if json.Unmarshal(raw, &fields) == nil {
			for name, value := range fields {
				if name != "format" {
					merged[name] = value
				}
			}
		}
	}
	return merged
}

// outputTool adds the tool with the schema to a request. Alone means that the model may call no other one.
func (b *body) outputTool(schema *spool.OutputSchema, thinks, alone bool) {
	description := schema.Description
	if description == "" {
		description = "Takes the final answer."
	}
	b.tools = append(b.tools, wireTool{
		Name: outputName(schema, b.tools), Description: description, InputSchema: schema.Schema,
	})
	name := b.tools[len(b.tools)-1].Name
	b.output = name
	b.names = append(b.names, name)
	switch {
	case thinks:
		b.choice = map[string]any{"type": "auto"}
		b.system = append(b.system, textBlock("Give the final answer only as a call of the tool "+name+
			", once, without a text before it."))
	case len(b.tools) > 1 && !alone:
		b.choice = map[string]any{"type": "any"}
	default:
		b.choice = map[string]any{"type": "tool", "name": name}
	}
}

// outputName returns the name of the tool: that of the schema, unless one of the agent's tools has it.
func outputName(schema *spool.OutputSchema, tools []wireTool) string {
	name := schema.Name
	for inUse := true; inUse; {
		inUse = false
		for _, t := range tools {
			if t.Name == name {
				name, inUse = name+"_output", true
			}
		}
	}
	return name
}

// merge copies the extra fields into a body. The lists of tools are joined.
func merge(fields map[string]any, extras ...map[string]any) {
	for _, extra := range extras {
		tools := fields["tools"]
		maps.Copy(fields, extra)
		if more, ok := extra["tools"]; ok {
			fields["tools"] = joined(tools, more)
		}
	}
}

// joined returns the values of two lists as one. If the second is not a list, it is returned.
func joined(list, more any) any {
	var first, second []json.RawMessage
	a, err := marshal(list)
	if err != nil || list != nil && json.Unmarshal(a, &first) != nil {
		return more
	}
	b, err := marshal(more)
	if err != nil || json.Unmarshal(b, &second) != nil {
		return more
	}
	return append(first, second...)
}
