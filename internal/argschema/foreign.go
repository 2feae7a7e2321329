package argschema

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// Foreign compiles a schema that somebody else has written, who is not trusted. Within a schema
// without references, a check costs no more than the schema and the arguments are long. Where
// there are references, which may lead in a circle, the result accepts every object; so it does
// for a draft that is not known, and for a pattern that only JavaScript can read.
func Foreign(source json.RawMessage) (*Schema, error) {
	var parsed any
	if err := json.Unmarshal(source, &parsed); err != nil {
		return nil, err
	}
	if _, ok := parsed.(map[string]any); !ok {
		return nil, errors.New("a schema of arguments is a JSON object")
	}
	s, err := resolve(source)
	if err != nil && strings.Contains(err.Error(), "error parsing regexp: ") { // it is not wrapped
		return resolve(anyObject)
	}
	if err != nil {
		return nil, err
	}
	if refers(parsed) || s.probe() != nil {
		return resolve(anyObject)
	}
	return s, nil
}

var anyObject = json.RawMessage(`{"type":"object"}`)

// refers reports whether there is a key of a reference anywhere, which may also be the name of a
// property.
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
