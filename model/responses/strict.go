package responses

import (
	"encoding/json"
	"slices"
)

// strictWords are the keywords that OpenAI accepts in a strict schema. Schemas with others are sent without
// strict, and the engine checks the value in any case.
var strictWords = []string{
	"$defs", "$ref", "additionalProperties", "anyOf", "const", "description", "enum", "exclusiveMaximum",
	"exclusiveMinimum", "items", "maxItems", "maximum", "minItems", "minimum", "multipleOf", "properties", "required",
	"title", "type",
}

// maxStrictDepth is how deeply OpenAI lets the objects of a strict schema be nested.
const maxStrictDepth = 10

// strict reports whether a schema is one that OpenAI accepts as strict: an object, each of whose objects has
// only required properties and no others.
func strict(schema json.RawMessage) bool {
	var root map[string]any
	if json.Unmarshal(schema, &root) != nil || root["type"] != "object" || root["anyOf"] != nil {
		return false
	}
	return strictSchema(root, 0)
}

func strictSchema(schema map[string]any, depth int) bool {
	if depth > maxStrictDepth {
		return false
	}
	for word := range schema {
		if !slices.Contains(strictWords, word) {
			return false
		}
	}
	if isObject(schema) && !closed(schema) {
		return false
	}
	for _, name := range []string{"properties", "$defs"} {
		children, ok := schema[name].(map[string]any)
		if !ok && schema[name] != nil {
			return false
		}
		for _, child := range children {
			if !strictChild(child, depth) {
				return false
			}
		}
	}
	choices, ok := schema["anyOf"].([]any)
	if !ok && schema["anyOf"] != nil {
		return false
	}
	for _, choice := range choices {
		if !strictChild(choice, depth) {
			return false
		}
	}
	return schema["items"] == nil || strictChild(schema["items"], depth)
}

func strictChild(child any, depth int) bool {
	schema, ok := child.(map[string]any)
	return ok && strictSchema(schema, depth+1)
}

// isObject reports whether the values of a schema may be objects.
func isObject(schema map[string]any) bool {
	types, ok := schema["type"].([]any)
	return schema["type"] == "object" || schema["properties"] != nil || ok && slices.Contains(types, any("object"))
}

// closed reports whether an object has only required properties and no others.
func closed(schema map[string]any) bool {
	properties, ok := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	if !ok || schema["additionalProperties"] != false || len(required) != len(properties) {
		return false
	}
	for name := range properties {
		if !slices.Contains(required, any(name)) {
			return false
		}
	}
	return true
}
