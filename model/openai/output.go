package openai

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/toolname"
)

// Structured is the way in which requests ask for a JSON value.
type Structured string

// The ways to ask for a JSON value.
const (
	// StructuredNative sends the schema as response_format.
	StructuredNative Structured = "native"
	// StructuredTool makes up a tool with the schema, and makes the model call it. It is for servers that
	// do not have response_format, or that refuse it beside tools.
	StructuredTool Structured = "tool"
)

// output is the JSON value that one request asks for.
type output struct {
	schema *spool.OutputSchema
	// tool is the name of the tool that stands for the value. Empty: the server has response_format.
	tool string
	// strict allows the strict mode.
	strict bool
}

func (m *Model) output(r spool.ModelRequest, f form) output {
	o := output{schema: r.Output, strict: f.strict && r.Output != nil && strict(r.Output.Schema)}
	if r.Output == nil || m.config.Structured != StructuredTool {
		return o
	}
	o.tool = r.Output.Name
	for slices.ContainsFunc(r.Tools, func(t spool.ToolSpec) bool { return t.Name == o.tool }) {
		o.tool = "answer_" + o.tool
	}
	return o
}

// ask adds the schema to the body of a request.
func (o output) ask(body map[string]any, r spool.ModelRequest) {
	switch {
	case o.schema == nil:
	case o.tool == "":
		format := map[string]any{"name": o.schema.Name, "schema": o.schema.Schema}
		if o.schema.Description != "" {
			format["description"] = o.schema.Description
		}
		if o.strict {
			format["strict"] = true
		}
		body["response_format"] = map[string]any{"type": "json_schema", "json_schema": format}
	default:
		description := strings.TrimSpace("Call this tool with the final answer. " + o.schema.Description)
		own := spool.ToolSpec{Name: o.tool, Description: description, Parameters: o.schema.Schema}
		body["tools"] = encodeTools(append(slices.Clip(r.Tools), own))
		body["tool_choice"] = "required"
		if len(r.Tools) == 0 || r.NoCalls {
			body["tool_choice"] = map[string]any{"type": "function", "function": map[string]any{"name": toolname.Fit(o.tool)}}
		}
	}
}

// strictWords are the words of a schema that OpenAI takes in its strict mode, in which an answer always
// fits the schema.
var strictWords = map[string]bool{
	"type": true, "properties": true, "required": true, "additionalProperties": true, "items": true, "enum": true,
	"const": true, "anyOf": true, "description": true, "title": true, "pattern": true, "format": true,
	"minimum": true, "maximum": true, "exclusiveMinimum": true, "exclusiveMaximum": true, "multipleOf": true,
	"minItems": true, "maxItems": true,
}

// strict reports whether OpenAI's strict mode takes a schema: each object lists all its properties as
// required, and allows no others.
func strict(raw json.RawMessage) bool {
	var words map[string]json.RawMessage
	if json.Unmarshal(raw, &words) != nil || words == nil {
		return false
	}
	for word := range words {
		if !strictWords[word] {
			return false
		}
	}
	var s struct {
		Properties           map[string]json.RawMessage
		Required             []string
		AdditionalProperties *bool
		Items                json.RawMessage
		AnyOf                []json.RawMessage
	}
	if json.Unmarshal(raw, &s) != nil {
		return false
	}
	_, isObject := words["properties"]
	if isObject || strings.Contains(string(words["type"]), `"object"`) {
		if s.AdditionalProperties == nil || *s.AdditionalProperties || len(s.Required) != len(s.Properties) {
			return false
		}
	}
	inner := s.AnyOf
	if s.Items != nil {
		inner = append(inner, s.Items)
	}
	for _, name := range s.Required {
		inner = append(inner, s.Properties[name]) // nil, which is not strict, if there is no such property
	}
	return !slices.ContainsFunc(inner, func(part json.RawMessage) bool { return !strict(part) })
}
