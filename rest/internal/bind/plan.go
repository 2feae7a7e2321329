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
	// Default is the source of exported fields without a source tag. With "query", the parameters have the
	// [SnakeCase] of the fields' names. With "", such fields are not parameters.
	//
	// Defaults to "".
	Default string

	// Format returns the format of a field that has no such tag, by the name of its parameter. Nil: such
	// fields have no format.
	Format func(f reflect.StructField, name string) string

	// Filled is the type that [Plan.Bind] fills. It has the fields of the compiled type, with other tags.
	//
	// Defaults to the compiled type.
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

// Param describes one parameter for the document of the API. The tags of Field have the limits, which were
// checked.
type Param struct {
	// Name is the parameter's name as its tag spells it.
	Name string

	// In is the source: "path", "query", "header", "cookie", "form" or "file".
	In string

	// Field is the struct field, and Index its way from the plan's type through embedded
	// structs.
	Field reflect.StructField
	Index []int

	// Owner is the struct that declares the field, or nil.
	Owner reflect.Type

	// Object is the name and the doc of the object that a deepObject parameter belongs to, or nil. Name is then
	// "filter[title]", and Key is "title".
	Object *Object
	Key    string

	// Type is the type of the field without pointer and Opt: a scalar, or a slice.
	Type reflect.Type

	// Required is true when a request without the parameter is refused.
	Required bool

	// Deprecated is the value of the tag deprecated.
	Deprecated bool

	// JSON is true for a part of a form that is a JSON document. [Plan.Bind] only checks that it is there;
	// the program reads it with [Input.Part] and [Plan.Open].
	JSON bool

	// Explode is true for a list whose items come as repeated parameters, and false for one
	// that is split at commas and for everything else.
	Explode bool

	// Nullable is true for pointers and Opt, whose absence a program can see.
	Nullable bool

	// Default is the value of Type that an absent parameter gets, or nil.
	Default any

	// Doc and Example are the values of the tags doc and example.
	Doc, Example string
}

// Object is a struct whose fields are the parameters of one deepObject.
type Object struct {
	Name, Doc string
	// Index is the way to the struct.
	Index []int
	// Field is the struct field, and Owner the struct that declares it.
	Field reflect.StructField
	Owner reflect.Type
}

// Type returns the compiled struct type. p fills it unless [Options.Filled] names another one.
func (p *Plan) Type() reflect.Type { return p.typ }

// Params describes the parameters in the order of their fields. The caller must not change
// them.
func (p *Plan) Params() []Param { return p.params }

// NeedsForm reports whether the plan has form fields or files. They are read only after [Input.ParseForm].
func (p *Plan) NeedsForm() bool { return p.form }

// Open makes the value of the i-th parameter in dst present, through its pointer or Opt, and returns a pointer
// to it. dst is as for [Plan.Bind].
func (p *Plan) Open(dst any, i int) any {
	base, _ := placeOf(dst, p.pointer)
	f := &p.fields[i]

	return f.wrap.open(base.at(f.offset)).pointer(p.params[i].Type).Interface()
}

// Bind fills dst, a pointer to a zero value of the plan's type, from in. It returns all faults, at most one
// hundred. With faults, dst has the values that were read before. Form fields and files are absent if in has
// parsed no form.
//
// The first plan with query parameters that reads the Input reports a malformed query string.
//
// Bind panics if dst is nil or of another type, which is a mistake of the program.
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
