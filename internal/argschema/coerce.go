package argschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
)

// maxRefs bounds the references that are followed from one schema to the next.
const maxRefs = 16

// Coerce returns arguments whose values have the types of the schema, where a value of another type has only one
// reading in them:
//
//   - a text is a number, true, false, null, an object or an array, if its JSON is one of a type that the schema
//     takes, and the schema takes no text;
//   - null is an absent property, if the property is not required and does not take null.
//
// It returns nil if there is no such value. Coerce reads only a part of the schema, so the caller checks the
// result with the whole schema.
func Coerce(schema, args json.RawMessage) json.RawMessage {
	var root, object map[string]any
	if json.Unmarshal(schema, &root) != nil || decode(args, &object) != nil || object == nil {
		return nil
	}
	c := coercion{root: root}
	c.value(root, object, maxDepth)
	if !c.changed {
		return nil
	}
	coerced, err := json.Marshal(object)
	if err != nil {
		return nil
	}
	return coerced
}

// decode reads one JSON value, and keeps numbers as they are written.
func decode(text json.RawMessage, to any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(to); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the value")
	}
	return nil
}

type coercion struct {
	root    map[string]any
	changed bool
}

// value returns the coerced value. It changes objects and arrays in place.
func (c *coercion) value(schema, value any, depth int) any {
	s := c.follow(schema)
	if s == nil || depth == 0 {
		return value
	}
	if text, ok := value.(string); ok {
		value = c.text(s, text, depth)
	}
	s = c.branch(s, kindOf(value), depth)
	switch v := value.(type) {
	case map[string]any:
		c.object(s, v, depth)
	case []any:
		for i := range v {
			v[i] = c.value(s["items"], v[i], depth-1)
		}
	}
	return value
}

func (c *coercion) object(s, object map[string]any, depth int) {
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	for key, value := range object {
		below, declared := properties[key]
		if !declared {
			below = s["additionalProperties"]
		}
		if value != nil {
			object[key] = c.value(below, value, depth-1)
			continue
		}
		if kinds := c.kinds(below, depth); declared && kinds != nil && !slices.Contains(kinds, "null") &&
			!slices.Contains(required, any(key)) {
			delete(object, key)
			c.changed = true
		}
	}
}

// text returns the value of a text whose schema takes no text.
func (c *coercion) text(s map[string]any, text string, depth int) any {
	kinds := c.kinds(s, depth)
	if kinds == nil || slices.Contains(kinds, "string") {
		return text
	}
	read := strings.TrimSpace(text)
	if lower := strings.ToLower(read); lower == "true" || lower == "false" {
		read = lower
	}
	var value any
	if spool.CheckArguments("", json.RawMessage(read)) != nil || decode(json.RawMessage(read), &value) != nil {
		return text
	}
	if !allowsKind(kinds, kindOf(value)) {
		return text
	}
	c.changed = true
	return value
}

// kinds returns the types that a schema takes, or nil if it may take others.
func (c *coercion) kinds(schema any, depth int) []string {
	s := c.follow(schema)
	if s == nil || depth == 0 {
		return nil
	}
	switch t := s["type"].(type) {
	case string:
		return []string{t}
	case []any:
		kinds := make([]string, 0, len(t))
		for _, kind := range t {
			if kind, ok := kind.(string); ok {
				kinds = append(kinds, kind)
			}
		}
		return kinds
	}
	var kinds []string
	for _, branch := range branches(s) {
		some := c.kinds(branch, depth-1)
		if some == nil {
			return nil
		}
		kinds = append(kinds, some...)
	}
	return kinds
}

// branch returns the only alternative of a schema that takes values of a type, or the schema itself if it has no
// alternatives. It returns nil if several take them.
func (c *coercion) branch(s map[string]any, kind string, depth int) map[string]any {
	all := branches(s)
	if len(all) == 0 {
		return s
	}
	var only map[string]any
	for _, branch := range all {
		if kinds := c.kinds(branch, depth-1); kinds != nil && !allowsKind(kinds, kind) {
			continue
		}
		if only != nil {
			return nil
		}
		only = c.follow(branch)
	}
	return only
}

// allowsKind reports whether one of the types allows a value of the kind.
func allowsKind(kinds []string, kind string) bool {
	return slices.Contains(kinds, kind) || kind == "number" && slices.Contains(kinds, "integer")
}

func branches(s map[string]any) []any {
	if all, ok := s["anyOf"].([]any); ok {
		return all
	}
	all, _ := s["oneOf"].([]any)
	return all
}

// follow returns the schema that a value of a schema's place has, with references of the same document resolved. It
// returns nil for true, false and what it cannot find.
func (c *coercion) follow(schema any) map[string]any {
	for range maxRefs {
		s, ok := schema.(map[string]any)
		if !ok {
			return nil
		}
		ref, refers := s["$ref"].(string)
		if !refers {
			return s
		}
		path, local := strings.CutPrefix(ref, "#")
		if !local {
			return nil
		}
		var at any = c.root
		for step := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
			if step == "" {
				continue
			}
			inner, ok := at.(map[string]any)
			if !ok {
				return nil
			}
			at = inner[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]
		}
		schema = at
	}
	return nil
}

// kindOf returns the JSON Schema type of a decoded value. A whole number is a number here.
func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case map[string]any:
		return "object"
	case []any:
		return "array"
	default:
		return "number"
	}
}
