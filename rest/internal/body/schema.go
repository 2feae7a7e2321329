package body

import (
	"encoding/json"

	"github.com/spoolhq/spool/rest/internal/fault"
)

// Schema says which documents are good: the part of JSON Schema that is checked. Nil
// pointers and zero values ask for nothing. Schemas may refer to each other in circles.
// A schema must not be changed once a plan was compiled from it.
type Schema struct {
	// Name is how faults call an object that this schema describes.
	Name string

	// Ref is the schema of the value, when this one only says how a property uses it:
	// of the other fields, Nullable, ReadOnly and Default count then.
	Ref *Schema

	// Type is one of "boolean", "integer", "number", "string", "array" and "object".
	// Empty is whatever the Go type can hold.
	Type string

	// Nullable says that null is a value. Null for a property that is not required is
	// taken without it too, and then means absent.
	Nullable bool

	// ReadOnly properties are never required, and what is sent for them is ignored.
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

	// Of lists. Items are the same when they are as JSON: 1 and 1.0 are, and objects are in
	// any order of their keys. Integers are compared exactly, whatever their size.
	Items       *Schema
	MinItems    *int
	MaxItems    *int
	UniqueItems bool

	// Of objects. Values describes the keys that Properties does not name; without it
	// they are refused when Closed, and ignored when not.
	Properties        map[string]*Schema
	Required          []string
	DependentRequired map[string][]string
	Values            *Schema
	Closed            bool
	MinProperties     *int
	MaxProperties     *int

	// Validate checks what the fields above cannot say. It gets the text of a value in
	// which nothing else is wrong, and returns faults whose paths begin at that value.
	// Their In is overwritten.
	Validate func(raw []byte) []fault.Fault
}

// resolve follows Ref to the schema of the value.
func (s *Schema) resolve() *Schema {
	for s != nil && s.Ref != nil {
		s = s.Ref
	}

	return s
}
