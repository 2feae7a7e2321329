package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// variablePattern matches text with an environment variable in it.
const variablePattern = `\$\{`

// Schema returns the JSON Schema (draft 7) of the configuration file, for editors. It has what the tables of the
// options say of single values. Only [Parse] checks rules between values, such as names that refer to each other.
func Schema() ([]byte, error) { return schema(new(Config).sections()) }

func schema(sections table) ([]byte, error) {
	w := &schemaWriter{}
	out := w.fields(sections, "")
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

// of returns the schema of an option. An optional value may be null, which counts as absent.
func (w *schemaWriter) of(o option, path string) map[string]any {
	out := w.kind(o.shape, path)
	if t, ok := out["type"]; ok && !o.required {
		out["type"] = []any{t, "null"}
	}
	if list, ok := out["anyOf"].([]any); ok && !o.required {
		out["anyOf"] = append(list, map[string]any{"type": "null"})
	}
	if out["description"] = o.doc; o.doc == "" {
		w.unknown = append(w.unknown, fmt.Errorf("%s has no description", path))
	}
	return out
}

func (w *schemaWriter) kind(s shape, path string) map[string]any {
	switch s.kind {
	case kindText:
		return textSchema(s)
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
		return durationSchema()
	case kindDurationOrNone:
		return map[string]any{"anyOf": []any{durationSchema(), map[string]any{"const": 0}}}
	case kindObject:
		return map[string]any{"type": "object"}
	case kindList:
		return map[string]any{"type": "array", "items": w.item(*s.each, path+"[]")}
	case kindMapping:
		out := map[string]any{"type": "object", "additionalProperties": w.item(*s.each, below(path, "<name>"))}
		if s.text {
			return map[string]any{"anyOf": []any{map[string]any{"type": "string"}, out}}
		}
		return out
	case kindFields:
		return w.fields(s.options, path)
	default:
		panic("config: " + path + " has no kind")
	}
}

// item returns the schema of an item or an entry, which must not be null.
func (w *schemaWriter) item(s shape, path string) map[string]any {
	s.required = true
	return w.kind(s, path)
}

func (w *schemaWriter) fields(t table, path string) map[string]any {
	properties, required, where := make(map[string]any, len(t)), []string{}, []any{}
	for _, o := range slices.SortedFunc(slices.Values(t), func(a, b option) int { return strings.Compare(a.key, b.key) }) {
		properties[o.key] = w.of(o, below(path, o.key))
		if o.required {
			required = append(required, o.key)
		}
		if o.whereField != "" {
			is := map[string]any{
				"properties": map[string]any{o.whereField: oneWord(o.whereWords)}, "required": []string{o.whereField},
			}
			then := map[string]any{"properties": map[string]any{o.key: true}, "required": []string{o.key}}
			where = append(where, map[string]any{"if": is, "then": then})
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

func textSchema(s shape) map[string]any {
	if len(s.words) == 0 {
		return map[string]any{"type": "string"}
	}
	words := slices.Clone(s.words)
	if !s.required {
		words = append(words, "")
	}
	return orVariable(map[string]any{"enum": words})
}

func durationSchema() map[string]any {
	return map[string]any{
		"type": "string", "pattern": `^\+?([0-9]*\.?[0-9]*(ns|us|µs|μs|ms|s|m|h))+$|` + variablePattern,
	}
}

// orVariable allows text with an environment variable in place of a value.
func orVariable(s map[string]any) map[string]any {
	return map[string]any{"anyOf": []any{s, map[string]any{"type": "string", "pattern": variablePattern}}}
}
