package argschema_test

import (
	"encoding/json"
	"testing"

	"github.com/spoolhq/spool/internal/argschema"
)

// A schema of somebody else's is checked where that is safe, and else takes every object. It never
// ends the process.
func TestForeign(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		schema  string
		refused bool // the schema
		wrong   bool // whether {"a":7} is
	}{
		"Checked": {`{"type":"object","properties":{"a":{"type":"string"}}}`, false, true},
		"Fits":    {`{"type":"object","properties":{"a":{"type":"number"}}}`, false, false},
		"Itself":  {`{"$ref":"#"}`, false, false},
		"Circle":  {`{"properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"$ref":"#/$defs/x"}}}`, false, false},
		"Many": {
			`{"$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"},{"$ref":"#/$defs/b"}]},"b":{"type":"string"}},"properties":{"a":{"$ref":"#/$defs/a"}}}`,
			false, false,
		},
		"Missing":   {`{"$ref":"#/$defs/none"}`, true, false},
		"Elsewhere": {`{"$ref":"https://example.com/s.json"}`, true, false},
		"Lookahead": {`{"properties":{"a":{"type":"string","pattern":"^(?!x)"}}}`, false, false},
		"OtherDraft": {
			`{"$schema":"http://json-schema.org/draft-04/schema#","type":"object","properties":{"a":{"type":"string"}}}`, false,
			false,
		},
		"Draft7": {
			`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"type":"string"}}}`, false,
			true,
		},
		"String": {`{"type":"string"}`, true, false},
		"List":   {`[]`, true, false},
		"True":   {`true`, true, false},
		"Text":   {`"{}"`, true, false},
		"NoJSON": {`{`, true, false},
	} {
		s, err := argschema.Foreign(json.RawMessage(c.schema))
		if (err != nil) != c.refused {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		if err := s.Check(json.RawMessage(`{"a":7}`)); (err != nil) != c.wrong {
			t.Errorf("%s: the check says %v", name, err)
		}
	}
}

// What is wrong with a schema is told without the names of Go types.
func TestForeignWords(t *testing.T) {
	t.Parallel()

	for schema, want := range map[string]string{
		`"{}"`:               "a schema of arguments is a JSON object",
		`{"properties":"x"}`: `parse schema: "properties" cannot be a JSON string`,
		`{"properties":{"a":{"properties":"x"}}}`: `parse schema: "properties" cannot be a JSON string`,
		`{"properties":{"a":7}}`:                  `parse schema: "properties" cannot be a JSON number`,
	} {
		if _, err := argschema.Foreign(json.RawMessage(schema)); err == nil || err.Error() != want {
			t.Errorf("%s: %v", schema, err)
		}
	}
}
