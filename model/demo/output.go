package demo

import (
	"encoding/json"
	"slices"
	"strings"
)

const (
	// maxDepth bounds how deep a made-up value is nested.
	maxDepth = 16
	// maxSample bounds the length of a made-up string and the number of elements of a made-up list.
	maxSample = 1000
	// misfit is the prompt whose value does not fit.
	misfit = "misfit"
)

// schema is the part of a JSON Schema that the model follows.
type schema struct {
	Type             any               `json:"type"`
	Properties       map[string]schema `json:"properties"`
	Required         []string          `json:"required"`
	Items            *schema           `json:"items"`
	MinItems         int               `json:"minItems"`
	MinLength        int               `json:"minLength"`
	MaxLength        *int              `json:"maxLength"`
	Minimum          *float64          `json:"minimum"`
	Maximum          *float64          `json:"maximum"`
	ExclusiveMinimum *float64          `json:"exclusiveMinimum"`
	Enum             []any             `json:"enum"`
	Const            any               `json:"const"`
	Default          any               `json:"default"`
	AnyOf            []schema          `json:"anyOf"`
	OneOf            []schema          `json:"oneOf"`
	Format           string            `json:"format"`
}

// UnmarshalJSON reads a schema. The schemas true and false count as empty.
func (s *schema) UnmarshalJSON(raw []byte) error {
	type plain schema
	if raw[0] != '{' {
		return nil
	}
	return json.Unmarshal(raw, (*plain)(s))
}

// sample returns a small value that fits the schema: "demo" for a text, 1 for a number, one element for a
// list. It follows the words of [schema], and no references. The prompt "misfit" gets a value that does
// not fit.
func sample(raw json.RawMessage, prompt string) string {
	var s schema
	if strings.EqualFold(prompt, misfit) || json.Unmarshal(raw, &s) != nil {
		return `{"misfit":true}`
	}
	text, err := json.Marshal(s.value(0))
	if err != nil {
		return "{}"
	}
	return string(text)
}

func (s schema) value(depth int) any {
	switch {
	case depth > maxDepth:
		return nil
	case s.Const != nil:
		return s.Const
	case s.Default != nil:
		return s.Default
	case len(s.Enum) > 0:
		return s.Enum[0]
	case len(s.AnyOf) > 0:
		return s.AnyOf[0].value(depth + 1)
	case len(s.OneOf) > 0:
		return s.OneOf[0].value(depth + 1)
	}
	switch s.kind() {
	case "object":
		return s.object(depth)
	case "array":
		return s.list(depth)
	case "string":
		return s.text()
	case "integer", "number":
		return s.number()
	case "boolean":
		return true
	default:
		return nil
	}
}

// kind returns the first type that is not null.
func (s schema) kind() string {
	kinds, isList := s.Type.([]any)
	if !isList {
		kinds = []any{s.Type}
	}
	for _, kind := range kinds {
		if name, ok := kind.(string); ok && name != "null" {
			return name
		}
	}
	if s.Properties != nil {
		return "object"
	}
	return ""
}

func (s schema) object(depth int) any {
	out := make(map[string]any, len(s.Properties))
	for name, property := range s.Properties {
		if depth < maxDepth/2 || slices.Contains(s.Required, name) {
			out[name] = property.value(depth + 1)
		}
	}
	return out
}

func (s schema) list(depth int) any {
	out := []any{}
	for s.Items != nil && len(out) < min(max(1, s.MinItems), maxSample) {
		out = append(out, s.Items.value(depth+1))
	}
	return out
}

func (s schema) text() string {
	switch s.Format {
	case "date":
		return "2026-01-31"
	case "date-time":
		return "2026-01-31T12:00:00Z"
	case "uri":
		return "https://example.com"
	case "email":
		return "demo@example.com"
	}
	text := "demo"
	if missing := s.MinLength - len(text); missing > 0 {
		text += strings.Repeat(".", min(missing, maxSample))
	}
	if s.MaxLength != nil && *s.MaxLength >= 0 && *s.MaxLength < len(text) {
		text = text[:*s.MaxLength]
	}
	return text
}

func (s schema) number() any {
	n := 1.0
	if s.Minimum != nil {
		n = max(n, *s.Minimum)
	}
	if s.ExclusiveMinimum != nil {
		n = max(n, *s.ExclusiveMinimum+1)
	}
	if s.Maximum != nil {
		n = min(n, *s.Maximum)
	}
	return n
}
