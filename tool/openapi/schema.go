package openapi

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spoolhq/spool/internal/argschema"
)

const (
	// maxSchemaNodes and maxSchemaBytes bound the arguments of one tool, which a model reads in each request.
	maxSchemaNodes = 3000
	maxSchemaBytes = 48 << 10
	// maxSchemaDepth bounds how deep a schema is without its references.
	maxSchemaDepth = 256
	// maxRecursion is how often a schema may be within itself.
	maxRecursion   = 2
	maxDescription = 1000
)

// The keywords of a schema, by what they have.
var (
	plainWords = []string{
		"type", "enum", "const", "required", "format", "title", "default", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
		"minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "minContains", "maxContains", "minProperties", "maxProperties",
		"dependentRequired", "contentEncoding", "contentMediaType",
	}
	schemaWords  = []string{"items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else", "unevaluatedProperties", "unevaluatedItems"}
	listWords    = []string{"allOf", "anyOf", "oneOf", "prefixItems"}
	mapWords     = []string{"properties", "patternProperties", "dependentSchemas"}
	refusedWords = []string{"$dynamicRef", "$recursiveRef", "$id"}
)

// writer writes schemas of the document as schemas without references, which every provider takes and whose
// checks take a bounded time.
type writer struct {
	doc *document
	// within has the references that lead to the present schema.
	within []string
	// most is how many there may be. Deeper schemas accept everything.
	most     int
	nodes    int
	patterns argschema.Patterns
}

// schema returns a schema without references.
func (w *writer) schema(value any, place string, depth int) (any, error) {
	if _, ok := value.(bool); ok && !w.doc.old {
		return value, nil
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, wrong(place, "must be a schema")
	}
	if w.nodes++; depth > maxSchemaDepth {
		return nil, wrong(place, "is too deep")
	}
	if ref, ok := object["$ref"].(string); ok {
		return w.reference(object, ref, place, depth)
	}
	for _, word := range refusedWords {
		if object[word] != nil {
			return nil, wrong(place, word+" is not supported")
		}
	}
	if w.nodes > maxSchemaNodes { // the result is too large, and nobody reads it
		return map[string]any{}, nil
	}
	out := make(map[string]any)
	for _, word := range plainWords {
		if v, ok := object[word]; ok {
			out[word] = v
		}
	}
	if about := text(object, "description"); about != "" {
		out["description"] = cut(about, maxDescription)
	}
	if err := w.below(object, out, place, depth+1); err != nil {
		return nil, err
	}
	dropReadOnly(object, out)
	w.setPattern(object, out)
	if w.doc.old {
		modernize(object, out)
	}
	return out, nil
}

// below writes the schemas within a schema.
func (w *writer) below(object, out map[string]any, place string, depth int) error {
	for _, word := range schemaWords {
		value, ok := object[word]
		if !ok {
			continue
		}
		if b, ok := value.(bool); ok && word == "additionalProperties" {
			out[word] = b
			continue
		}
		s, err := w.schema(value, place+"."+word, depth)
		if err != nil {
			return err
		}
		out[word] = s
	}
	for _, word := range listWords {
		values, err := list(object, word, place)
		if err != nil {
			return err
		}
		var written []any
		for i, value := range values {
			s, err := w.schema(value, place+"."+word+"["+strconv.Itoa(i)+"]", depth)
			if err != nil {
				return err
			}
			written = append(written, s)
		}
		if written != nil {
			out[word] = written
		}
	}
	for _, word := range mapWords {
		values, ok := object[word].(map[string]any)
		if !ok {
			continue
		}
		written := make(map[string]any, len(values))
		for _, name := range slices.Sorted(maps.Keys(values)) {
			s, err := w.schema(values[name], place+"."+word+"."+name, depth)
			if err != nil {
				return err
			}
			written[name] = s
		}
		out[word] = written
	}
	return nil
}

// reference writes the schema to which a reference leads.
func (w *writer) reference(object map[string]any, ref, place string, depth int) (any, error) {
	target, err := w.doc.find(ref, place)
	if err != nil {
		return nil, err
	}
	same := 0
	for _, above := range w.within {
		if above == ref {
			same++
		}
	}
	var out any
	if name := ref[strings.LastIndexByte(ref, '/')+1:]; same > maxRecursion || len(w.within) >= w.most {
		out = map[string]any{"description": "A value of the kind " + cut(name, 100) + ", whose fields are not listed here."}
	} else {
		w.within = append(w.within, ref)
		out, err = w.schema(target, strings.ReplaceAll(strings.TrimPrefix(ref, "#/"), "/", "."), depth+1)
		w.within = w.within[:len(w.within)-1]
		if err != nil {
			return nil, err
		}
	}
	if w.doc.old || len(object) == 1 { // in 3.0, nothing counts beside a reference
		return out, nil
	}
	beside := maps.Clone(object)
	delete(beside, "$ref")
	more, err := w.schema(beside, place, depth+1)
	if err != nil {
		return nil, err
	}
	extra, _ := more.(map[string]any)
	main, ok := out.(map[string]any)
	about := extra["description"]
	delete(extra, "description")
	if len(extra) > 0 || !ok {
		main = map[string]any{"allOf": []any{out, extra}}
	}
	if about != nil {
		main["description"] = about
	}
	return main, nil
}

// dropReadOnly removes properties that only answers have.
func dropReadOnly(object, out map[string]any) {
	properties, _ := object["properties"].(map[string]any)
	written, _ := out["properties"].(map[string]any)
	for name, value := range properties {
		if p, ok := value.(map[string]any); ok && p["readOnly"] == true {
			delete(written, name)
			if required, ok := out["required"].([]any); ok {
				out["required"] = slices.DeleteFunc(slices.Clone(required), func(v any) bool { return v == name })
			}
		}
	}
}

// setPattern copies a pattern that Go can check at a bounded cost. Another one becomes a part of the description.
func (w *writer) setPattern(object, out map[string]any) {
	if pattern, ok := object["pattern"].(string); ok {
		if w.patterns.Take(pattern) == nil {
			out["pattern"] = pattern
		} else {
			about, _ := out["description"].(string)
			out["description"] = strings.TrimSpace(about + "\nPattern: " + cut(pattern, maxDescription))
		}
	}
	patterns, _ := out["patternProperties"].(map[string]any)
	for _, pattern := range slices.Sorted(maps.Keys(patterns)) {
		if w.patterns.Take(pattern) != nil {
			delete(out, "patternProperties")
			delete(out, "additionalProperties")
			delete(out, "unevaluatedProperties")
			return
		}
	}
}

// modernize turns the keywords of OpenAPI 3.0 into those of JSON Schema.
func modernize(object, out map[string]any) {
	for limit, exclusive := range map[string]string{"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"} {
		switch object[exclusive] {
		case true:
			if out[exclusive] = out[limit]; out[limit] == nil {
				delete(out, exclusive)
			}
			delete(out, limit)
		case false:
			delete(out, exclusive)
		}
	}
	kind, ok := out["type"].(string)
	if object["nullable"] != true || !ok {
		return
	}
	out["type"] = []any{kind, "null"}
	if values, ok := out["enum"].([]any); ok && !slices.Contains(values, nil) {
		out["enum"] = append(slices.Clone(values), nil)
	}
}

// written returns the arguments' schema of an operation as JSON. It lists fewer levels of large schemas.
func written(doc *document, place string, write func(w *writer) (map[string]any, error)) (json.RawMessage, error) {
	for _, most := range []int{32, 8, 4, 2, 1} {
		w := &writer{doc: doc, most: most}
		schema, err := write(w)
		if err != nil {
			return nil, err
		}
		if w.nodes > maxSchemaNodes {
			continue
		}
		text, err := json.Marshal(schema)
		if err != nil {
			return nil, wrong(place, "its arguments cannot be written as JSON")
		}
		if len(text) <= maxSchemaBytes {
			return text, nil
		}
	}
	return nil, wrong(place, "its arguments are too large for a model: more than "+strconv.Itoa(maxSchemaBytes>>10)+" KiB")
}
