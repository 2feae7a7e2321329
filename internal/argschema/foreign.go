package argschema

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// Foreign compiles a schema whose author is not trusted. If the schema has no references, the cost of a
// check is bounded by the length of the schema and the arguments. The result accepts every object in
// these cases: the schema has references, which may be circular; its draft is unknown; it is too deep, or
// its patterns are too large; or it has a pattern that only JavaScript can read.
func Foreign(source json.RawMessage) (*Schema, error) {
	var parsed any
	if err := json.Unmarshal(source, &parsed); err != nil {
		return nil, err
	}
	if _, ok := parsed.(map[string]any); !ok {
		return nil, errors.New("a schema of arguments is a JSON object")
	}
	if bounded(parsed) != nil {
		return resolve(anyObject)
	}
	s, err := resolve(source)
	if err != nil && strings.Contains(err.Error(), "error parsing regexp: ") { // the package does not wrap this error
		return resolve(anyObject)
	}
	if err != nil {
		return nil, err
	}
	if refers(parsed) || s.probe() != nil {
		return resolve(anyObject)
	}
	s.size = sizeOf(parsed)
	return s, nil
}

// Bounded compiles a schema whose author is not trusted, as Foreign does. It returns an error where Foreign's
// result would accept every object.
func Bounded(source json.RawMessage) (*Schema, error) {
	var parsed any
	if err := json.Unmarshal(source, &parsed); err != nil {
		return nil, err
	}
	if refers(parsed) {
		return nil, errors.New("references are not supported")
	}
	if err := bounded(parsed); err != nil {
		return nil, err
	}
	s, err := Compile(source)
	if err != nil {
		return nil, err
	}
	s.size = sizeOf(parsed)
	return s, nil
}

var anyObject = json.RawMessage(`{"type":"object"}`)

// refers reports whether the value has a key that is used for references. The key may also be the name
// of a property.
func refers(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if slices.Contains([]string{"$ref", "$dynamicRef", "$recursiveRef"}, key) || refers(value) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, refers)
	}
	return false
}
