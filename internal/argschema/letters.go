package argschema

import (
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/spoolhq/spool"
)

// checkLetters refuses a key that differs from a property of the schema only in the case of its
// letters. The schema treats such a key as unknown, but package encoding/json and other readers treat
// it as the property. So a tool would read a value that was not checked.
func checkLetters(s *jsonschema.Schema, value any, w words) error {
	if s == nil {
		return nil
	}
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			below, declared := s.Properties[key]
			if !declared {
				for name := range s.Properties {
					if strings.EqualFold(name, key) {
						return spool.Errorf(spool.Invalid, "%s%s: its name is %s", w.field, Bound(key), Bound(name))
					}
				}
				below = s.AdditionalProperties
			}
			if err := checkLetters(below, v[key], w); err != nil {
				return err
			}
		}
	case []any:
		for _, item := range v {
			if err := checkLetters(s.Items, item, w); err != nil {
				return err
			}
		}
	}
	return nil
}
