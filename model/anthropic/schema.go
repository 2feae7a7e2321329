package anthropic

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// supportedKeywords are the keywords of a schema that the provider supports.
var supportedKeywords = []string{
	"$ref", "$defs", "type", "title", "description", "enum", "const", "anyOf", "oneOf", "allOf",
	"properties", "additionalProperties", "required", "items", "minItems", "format", "pattern",
}

// supportedFormats are the formats of texts that the provider supports.
var supportedFormats = []string{
	"date-time", "date", "time", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid",
}

// schema is a JSON Schema with the keywords of draft 2020-12. Schemas within a description are written in the order of
// the fields.
type schema struct {
	// literal is the schema true or false. Nil: it has keywords.
	literal *bool

	Schema     string             `json:"$schema,omitempty"`
	ID         string             `json:"$id,omitempty"`
	Anchor     string             `json:"$anchor,omitempty"`
	Ref        string             `json:"$ref,omitempty"`
	DynamicRef string             `json:"$dynamicRef,omitempty"`
	Defs       map[string]*schema `json:"$defs,omitempty"`
	Comment    string             `json:"$comment,omitempty"`

	AllOf            []*schema          `json:"allOf,omitempty"`
	AnyOf            []*schema          `json:"anyOf,omitempty"`
	OneOf            []*schema          `json:"oneOf,omitempty"`
	Not              *schema            `json:"not,omitempty"`
	If               *schema            `json:"if,omitempty"`
	Then             *schema            `json:"then,omitempty"`
	Else             *schema            `json:"else,omitempty"`
	DependentSchemas map[string]*schema `json:"dependentSchemas,omitempty"`

	PrefixItems          []*schema          `json:"prefixItems,omitempty"`
	Items                *schema            `json:"items,omitempty"`
	Contains             *schema            `json:"contains,omitempty"`
	Properties           map[string]*schema `json:"properties,omitzero"`
	PatternProperties    map[string]*schema `json:"patternProperties,omitempty"`
	AdditionalProperties *schema            `json:"additionalProperties,omitempty"`
	PropertyNames        *schema            `json:"propertyNames,omitempty"`

	Type              string              `json:"type,omitempty"`
	Enum              []any               `json:"enum,omitempty"`
	Const             any                 `json:"const,omitempty"`
	MultipleOf        json.Number         `json:"multipleOf,omitempty"`
	Maximum           json.Number         `json:"maximum,omitempty"`
	ExclusiveMaximum  json.Number         `json:"exclusiveMaximum,omitempty"`
	Minimum           json.Number         `json:"minimum,omitempty"`
	ExclusiveMinimum  json.Number         `json:"exclusiveMinimum,omitempty"`
	MaxLength         *uint64             `json:"maxLength,omitempty"`
	MinLength         *uint64             `json:"minLength,omitempty"`
	Pattern           string              `json:"pattern,omitempty"`
	MaxItems          *uint64             `json:"maxItems,omitempty"`
	MinItems          *uint64             `json:"minItems,omitempty"`
	UniqueItems       bool                `json:"uniqueItems,omitempty"`
	MaxContains       *uint64             `json:"maxContains,omitempty"`
	MinContains       *uint64             `json:"minContains,omitempty"`
	MaxProperties     *uint64             `json:"maxProperties,omitempty"`
	MinProperties     *uint64             `json:"minProperties,omitempty"`
	Required          []string            `json:"required,omitempty"`
	DependentRequired map[string][]string `json:"dependentRequired,omitempty"`

	Format           string  `json:"format,omitempty"`
	ContentEncoding  string  `json:"contentEncoding,omitempty"`
	ContentMediaType string  `json:"contentMediaType,omitempty"`
	ContentSchema    *schema `json:"contentSchema,omitempty"`
	Title            string  `json:"title,omitempty"`
	Description      string  `json:"description,omitempty"`
	Default          any     `json:"default,omitempty"`
	Deprecated       bool    `json:"deprecated,omitempty"`
	ReadOnly         bool    `json:"readOnly,omitempty"`
	WriteOnly        bool    `json:"writeOnly,omitempty"`
	Examples         []any   `json:"examples,omitempty"`
}

// providerSchema returns a schema in the form that the provider takes. A schema that the rules of [schema.fit] cannot
// be applied to, such as one with two types, is returned as it is.
func providerSchema(raw json.RawMessage) any {
	s := new(schema)
	if json.Unmarshal(raw, s) != nil {
		return raw
	}
	s.fit()
	fitted, err := json.Marshal(s)
	var out map[string]any
	if err != nil || json.Unmarshal(fitted, &out) != nil || len(out) == 0 {
		return raw
	}
	return out
}

// UnmarshalJSON reads the schema. Keywords that it does not have are left out.
func (s *schema) UnmarshalJSON(data []byte) error {
	if text := string(data); text == "true" || text == "false" {
		s.literal = new(text == "true")
		return nil
	}
	type plain schema
	return json.Unmarshal(data, (*plain)(s))
}

// MarshalJSON writes the schema. One without keywords is true.
func (s *schema) MarshalJSON() ([]byte, error) {
	if s.empty() {
		return []byte("true"), nil
	}
	if s.literal != nil {
		return json.Marshal(*s.literal)
	}
	type plain schema
	return json.Marshal((*plain)(s))
}

func (s *schema) empty() bool { return reflect.ValueOf(s).Elem().IsZero() }

// fit makes a schema one that the provider takes:
//
//   - A reference has nothing beside it.
//   - oneOf becomes anyOf, unless there is one.
//   - A schema that says nothing of the shape of its values allows all of them, and is no alternative.
//   - An object allows no properties but its own. If it has none, and additionalProperties says what they are, it is a
//     map, and stays one.
//   - Keywords that the provider does not take become a part of the description.
func (s *schema) fit() {
	if s == nil || s.literal != nil {
		return
	}
	if s.Ref != "" {
		*s = schema{Ref: s.Ref}
		return
	}
	moved := s.removeUnsupported()
	if len(s.AnyOf) == 0 {
		s.AnyOf = s.OneOf
	}
	s.OneOf = nil
	for _, inner := range slices.Concat(s.AnyOf, s.AllOf, slices.Collect(maps.Values(s.Defs))) {
		inner.fit()
	}
	s.AnyOf = slices.DeleteFunc(s.AnyOf, func(variant *schema) bool { return variant == nil || variant.empty() })
	if s.Type == "" && len(s.AnyOf)+len(s.AllOf)+len(s.Enum) == 0 && s.Const == nil {
		*s = schema{}
		return
	}
	switch s.Type {
	case "object":
		s.fitObject()
	case "array":
		s.Items.fit()
		if s.MinItems != nil && *s.MinItems > 1 {
			moved["minItems"] = keywordText(s.MinItems)
			s.MinItems = nil
		}
	case "string":
		if s.Format != "" && !slices.Contains(supportedFormats, s.Format) {
			moved["format"] = s.Format
			s.Format = ""
		}
	}
	s.describe(moved)
}

func (s *schema) fitObject() {
	if s.Properties == nil && s.AdditionalProperties != nil {
		s.AdditionalProperties.fit()
		return
	}
	if s.Properties == nil {
		s.Properties = make(map[string]*schema)
	}
	for _, property := range s.Properties {
		property.fit()
	}
	s.AdditionalProperties = &schema{literal: new(false)}
}

// removeUnsupported removes the keywords that the provider does not support, and returns their values as texts.
func (s *schema) removeUnsupported() map[string]string {
	moved := make(map[string]string)
	for field, value := range reflect.ValueOf(s).Elem().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" || slices.Contains(supportedKeywords, name) || value.IsZero() {
			continue
		}
		moved[name] = keywordText(value.Interface())
		value.SetZero()
	}
	return moved
}

// describe adds keywords to the description, for the model to read.
func (s *schema) describe(moved map[string]string) {
	if len(moved) == 0 {
		return
	}
	list := make([]string, 0, len(moved))
	for _, name := range slices.Sorted(maps.Keys(moved)) {
		list = append(list, name+": "+moved[name])
	}
	text := "{" + strings.Join(list, ", ") + "}"
	if s.Description != "" {
		text = s.Description + "\n\n" + text
	}
	s.Description = text
}

// keywordText returns the value of a keyword as a model reads it: a text without quotes, and anything else as JSON.
func keywordText(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case float64:
		return fmt.Sprint(value)
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(raw)
}
