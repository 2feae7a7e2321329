package config

import (
	_ "embed" // the sample
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// sample has each mapping and each list of a configuration once. The decoder reads it to record how it
// reads a file. It also reads values that a file leaves out, as absent, but nothing below them.
//
//go:embed sample.yaml
var sample []byte

// variablePattern matches text with an environment variable in it.
const variablePattern = `\$\{`

// Schema returns the JSON Schema (draft 7) of the configuration file, for editors. It is derived from
// how the decoder reads single values. Only [Parse] checks rules between values, such as names that
// refer to each other.
func Schema() ([]byte, error) {
	root, err := parse("sample.yaml", sample)
	if err != nil {
		return nil, err
	}
	d := &decoder{file: "sample.yaml", lookup: func(string) (string, bool) { return "", false }}
	top := &shape{}
	v := value{d: d}.child("", root)
	v.shape = top
	d.config(v)
	if len(d.problems) > 0 {
		return nil, d.problems.sorted()
	}
	w := &schemaWriter{}
	out := w.of(top, "")
	if len(w.unknown) > 0 {
		return nil, errors.Join(w.unknown...)
	}
	out["$schema"] = "http://json-schema.org/draft-07/schema#"
	out["title"] = "Configuration of spool serve"
	b, err := json.MarshalIndent(out, "", "  ")
	return append(b, '\n'), err
}

// schemaWriter turns shapes into schemas.
type schemaWriter struct{ unknown []error }

// of returns the schema of a value. An optional value may be null, which counts as absent.
func (w *schemaWriter) of(s *shape, path string) map[string]any {
	out := w.kind(s, path)
	if t, ok := out["type"]; ok && !s.required && path != "" {
		out["type"] = []any{t, "null"}
	}
	if list, ok := out["anyOf"].([]any); ok && !s.required {
		out["anyOf"] = append(list, map[string]any{"type": "null"})
	}
	if text := about[path]; text != "" {
		out["description"] = text
	} else if path != "" && !unnamed(path) {
		w.unknown = append(w.unknown, fmt.Errorf("%s has no description", path))
	}
	return out
}

// unnamed reports whether a path is of an item, an entry, or a mapping that its key describes.
func unnamed(path string) bool { return path[len(path)-1] == ']' || path[len(path)-1] == '>' }

func (w *schemaWriter) kind(s *shape, path string) map[string]any {
	switch s.kind {
	case kindText:
		return text(s)
	case kindURL:
		return map[string]any{"type": "string", "pattern": "^https?://|" + variablePattern}
	case kindTime:
		return map[string]any{"type": "string"}
	case kindBoolean:
		return orVariable(map[string]any{"type": "boolean"})
	case kindInteger:
		return orVariable(map[string]any{"type": "integer", "minimum": s.least})
	case kindNumber:
		return orVariable(map[string]any{"type": "number", "minimum": s.least, "maximum": s.most})
	case kindDuration:
		return duration()
	case kindDurationOrNone:
		return map[string]any{"anyOf": []any{duration(), map[string]any{"const": 0}}}
	case kindObject:
		return map[string]any{"type": "object"}
	case kindList:
		return map[string]any{"type": "array", "items": w.item(s.each, path+"[]")}
	case kindMapping:
		out := map[string]any{"type": "object", "additionalProperties": w.item(s.each, below(path, "<name>"))}
		if s.text {
			return map[string]any{"anyOf": []any{map[string]any{"type": "string"}, out}}
		}
		return out
	case kindFields:
		return w.fields(s, path)
	default:
		w.unknown = append(w.unknown, fmt.Errorf("how %s is read is not known: the sample lacks it, or something above it", path))
		return map[string]any{}
	}
}

// item returns the schema of an item or an entry.
func (w *schemaWriter) item(s *shape, path string) map[string]any {
	each := *s
	each.required = true
	return w.of(&each, path)
}

func (w *schemaWriter) fields(s *shape, path string) map[string]any {
	properties, required, where := make(map[string]any, len(s.fields)), []string{}, []any{}
	for _, name := range slices.Sorted(maps.Keys(s.fields)) {
		properties[name] = w.of(s.fields[name], below(path, name))
		if s.fields[name].required {
			required = append(required, name)
		}
		if field := s.fields[name].whereField; field != "" {
			is := map[string]any{"properties": map[string]any{field: oneWord(s.fields[name].whereWords)}, "required": []string{field}}
			where = append(where, map[string]any{"if": is, "then": map[string]any{"properties": map[string]any{name: true}, "required": []string{name}}})
		}
	}
	out := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		out["required"] = required
	}
	if len(where) > 0 {
		out["allOf"] = where
	}
	return out
}

// oneWord returns the schema of a text that is one of the words.
func oneWord(words []string) map[string]any {
	if len(words) == 1 {
		return map[string]any{"const": words[0]}
	}
	return map[string]any{"enum": words}
}

func text(s *shape) map[string]any {
	if len(s.words) == 0 {
		return map[string]any{"type": "string"}
	}
	words := slices.Clone(s.words)
	if !s.required {
		words = append(words, "")
	}
	return orVariable(map[string]any{"enum": words})
}

func duration() map[string]any {
	return map[string]any{"type": "string", "pattern": `^\+?([0-9]*\.?[0-9]*(ns|us|µs|μs|ms|s|m|h))+$|` + variablePattern}
}

// orVariable allows text with an environment variable in place of a value.
func orVariable(s map[string]any) map[string]any {
	return map[string]any{"anyOf": []any{s, map[string]any{"type": "string", "pattern": variablePattern}}}
}
