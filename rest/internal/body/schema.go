package body

import (
	"encoding/json"

	"github.com/spoolhq/spool/rest/internal/fault"
)

// Schema says which documents are valid: the part of JSON Schema that is checked. Nil pointers and zero
// values are no rules. Schemas may refer to each other in circles. A schema must not change after a plan was
// compiled from it.
type Schema struct {
	// Name is the name of such objects in faults.
	Name string

	// Ref is the schema of the value, if this schema only says how a property uses it. Of the other fields,
	// then only Nullable, ReadOnly and Default count.
	Ref *Schema

	// Type is one of "boolean", "integer", "number", "string", "array" and "object". Empty: the types of the
	// Go type.
	Type string

	// Nullable allows null as a value. A property that is not required accepts null without it; null then
	// means absent.
	Nullable bool

	// ReadOnly properties are never required, and their sent values are ignored.
	ReadOnly bool

	// Default is written to the Go value when the property is absent.
	Default json.RawMessage

	// Enum are the allowed values: strings, float64 or bool.
	Enum []any

	// Of strings. Lengths are counted in characters.
	Format    string
	Pattern   string
	MinLength *int
	MaxLength *int

	// Of numbers. Limits are compared as float64.
	Minimum          *float64
	ExclusiveMinimum *float64
	Maximum          *float64
	ExclusiveMaximum *float64
	MultipleOf       *float64

	// Of lists. Items are equal if they are equal as JSON: 1 equals 1.0, and the order of an object's keys
	// does not matter. Integers are compared exactly, at any size.
	Items       *Schema
	MinItems    *int
	MaxItems    *int
	UniqueItems bool

	// Of objects. Values is the schema of keys that Properties does not name. Without it, such keys are
	// refused if Closed, and ignored otherwise.
	Properties        map[string]*Schema
	Required          []string
	DependentRequired map[string][]string
	Values            *Schema
	Closed            bool
	MinProperties     *int
	MaxProperties     *int

	// Validate makes checks that the fields above cannot express. It gets the text of a value without other
	// faults, and returns faults whose paths begin at that value. Their In is overwritten.
	Validate func(raw []byte) []fault.Fault
}

// resolve follows Ref to the schema of the value.
func (s *Schema) resolve() *Schema {
	for s != nil && s.Ref != nil {
		s = s.Ref
	}

	return s
}
