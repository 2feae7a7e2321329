package argschema

import (
	"encoding/json"
	"slices"
)

// Foreign compiles a schema that somebody else has written, who is not trusted. Within a schema
// without references, a check costs no more than the schema and the arguments are long. Where
// there are references, which may lead in a circle, the result accepts every object.
func Foreign(source json.RawMessage) (*Schema, error) {
	var parsed any
	if err := json.Unmarshal(source, &parsed); err != nil {
		return nil, err
	}
	if refers(parsed) {
		if _, err := resolve(source); err != nil {
			return nil, err
		}
		return resolve(json.RawMessage(`{"type":"object"}`))
	}
	return Compile(source)
}

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
