package bind

import (
	"fmt"
	"reflect"

	"github.com/spoolhq/spool/rest/internal/fault"
)

// maxFaults is how many faults one call of [Plan.Bind] lists before it stops.
const maxFaults = 100

// Options say how a type is compiled.
type Options struct {
	// Default is the source of exported fields without a source tag: "query", whose names
	// are then [SnakeCase] of the fields' names, or "", when such fields are no parameters.
	//
	// Defaults to "".
	Default string

	// Format, when it is set, is asked for the format of a field that has no such tag, with the
	// name of its parameter.
	Format func(f reflect.StructField, name string) string

	// Filled is the type that [Plan.Bind] fills: one with the fields of the type that is
	// compiled, but other tags.
	//
	// Defaults to the type that is compiled.
	Filled reflect.Type

	// Place starts the messages of mistakes, such as "GET /books: Books.list".
	//
	// Defaults to nothing.
	Place string
}

// Plan fills values of one struct type from requests. It does not change after [Compile]
// and is safe for concurrent use.
type Plan struct {
	typ     reflect.Type
	pointer reflect.Type
	fields  []field
	params  []Param
	query   bool
	form    bool
}

// Param describes one parameter for the document of the API. What the tags of limits say
// is in the tags of Field, and was checked.
type Param struct {
	// Name is the parameter's name; of a header in its canonical form.
	Name string

	// In is the source: "path", "query", "header", "cookie", "form" or "file".
	In string

	// Field is the struct field, and Index its way from the plan's type through embedded
	// structs.
	Field reflect.StructField
	Index []int

	// Type is the type of the field without pointer and Opt: a scalar, or a slice.
	Type reflect.Type

	// Required is true when a request without the parameter is refused.
	Required bool

	// Deprecated is what the tag of that name says.
	Deprecated bool

	// Explode is true for a list whose items come as repeated parameters, and false for one
	// that is split at commas and for everything else.
	Explode bool

	// Nullable is true for pointers and Opt, whose absence a program can see.
	Nullable bool

	// Default is the value of Type that an absent parameter gets, or nil.
	Default any

	// Doc and Example are what the tags of these names say.
	Doc, Example string
}

// Type is the struct type that was compiled, and that p fills unless the options said another.
func (p *Plan) Type() reflect.Type { return p.typ }

// Params describes the parameters in the order of their fields. The caller must not change
// them.
func (p *Plan) Params() []Param { return p.params }

// NeedsForm reports whether there are form fields or files, which are read only after
// [Input.ParseForm].
func (p *Plan) NeedsForm() bool { return p.form }

// Bind fills dst, a pointer to a zero value of the type to fill, from in, and returns all
// that is wrong, at most a hundred faults. With faults dst holds whatever was read until
// then. Form fields and files are absent when in has parsed no form.
//
// A malformed query string is reported by the first plan with query parameters that reads
// the Input.
//
// Bind panics when dst is not of that type or is nil, which is a mistake of the
// program.
func (p *Plan) Bind(in *Input, dst any) []fault.Fault {
	base, ok := placeOf(dst, p.pointer)
	if !ok {
		panic(fmt.Sprintf("bind: got %T to fill, want a pointer of type %s", dst, p.pointer))
	}

	var faults []fault.Fault
	if p.query {
		faults = in.QueryFaults()
	}

	for i := range p.fields {
		f := &p.fields[i]
		faults = f.bind(in, base.at(f.offset), faults)

		if len(faults) >= maxFaults {
			return append(faults[:maxFaults], fault.TooManyFaults(f.in, maxFaults))
		}
	}

	return faults
}
