// Package body reads JSON bodies into Go values. A [Plan] is compiled once for a type and its [Schema]. It
// reads a text in one pass, in which it checks everything (syntax, types, limits, required, unknown and
// repeated keys) and stores the values. A [Codec] decodes only values that are not of a plain kind. So the
// plan reports every fault of a document at its own place, and does not depend on how encoding/json treats a
// doubtful document.
//
// It refuses two things that encoding/json accepts: a key that an object has twice, and a key that differs
// from a known one only in case. Both could smuggle a value past a check that looked at the other key.
package body

import (
	"encoding/json"
	"fmt"
	"reflect"
	"sync"

	"github.com/spoolhq/spool/rest/internal/fault"
)

// Codec decodes JSON text that was already checked.
type Codec interface {
	// Unmarshal decodes data into the pointer dst. It must not keep data.
	Unmarshal(data []byte, dst any) error
}

// Std is the codec of encoding/json.
type Std struct{}

// Unmarshal is [json.Unmarshal].
func (Std) Unmarshal(data []byte, dst any) error { return json.Unmarshal(data, dst) }

// Options are the choices of a plan that its schema does not make.
type Options struct {
	// Codec decodes the values that a plan cannot store by itself: values of interfaces, and of types with an
	// Unmarshal method. It is used concurrently.
	//
	// Defaults to [Std].
	Codec Codec

	// Loose reads values as encoding/json does. Null leaves the value as it is, except for the document
	// itself. U+FFFD replaces invalid Unicode, and NUL is a character. An integer has neither a fraction nor
	// an exponent. The text for a type's own Unmarshal method may have repeated keys.
	Loose bool

	// Absent accepts documents without required keys.
	Absent bool

	// MaxDepth is how many objects and lists may be open at once.
	//
	// Defaults to 64.
	MaxDepth int
}

func (o Options) withDefaults() Options {
	if o.Codec == nil {
		o.Codec = Std{}
	}
	if o.MaxDepth <= 0 {
		o.MaxDepth = 64
	}

	return o
}

// Plan reads documents into one Go type. It is safe for concurrent use.
type Plan struct {
	root     *node
	typ      reflect.Type
	pointer  reflect.Type
	opts     Options
	scanners sync.Pool
}

// Compile returns the plan that reads documents of the schema into values of type t. Without a schema, the
// plan checks only what follows from t.
//
// The error names the type and field that cannot be read: it is a mistake of the program.
func Compile(t reflect.Type, schema *Schema, opts Options) (*Plan, error) {
	return compileField(t, "", schema, opts)
}

// compileField is [Compile] for a field with a tag format.
func compileField(t reflect.Type, format string, schema *Schema, opts Options) (*Plan, error) {
	c := compiler{done: map[nodeKey]*node{}, loose: opts.Loose, absent: opts.Absent}

	root, err := c.node(t, schema, format)
	if err != nil {
		return nil, fmt.Errorf("body of %s: %w", t, err)
	}

	p := &Plan{root: root, typ: t, pointer: reflect.PointerTo(t), opts: opts.withDefaults()}
	p.scanners.New = func() any { return &scanner{plan: p} }

	return p, nil
}

// Type is the type that the plan was compiled for.
func (p *Plan) Type() reflect.Type { return p.typ }

// Decode reads data into dst, a pointer to a zero value of the plan's type. It returns the keys of the
// document and its faults. With faults, the caller must not use dst, and Presence is empty.
//
// A document that is not JSON has one fault, of the kind "json_invalid"; an empty document has one of the
// kind "missing". An absent key gets its default, and so does null where null is not a value. Values of
// read-only keys are checked and then ignored. Decode does not keep memory of data.
//
// Decode panics if dst is nil or not a pointer to the plan's type.
func (p *Plan) Decode(data []byte, dst any) (Presence, []fault.Fault) {
	if reflect.TypeOf(dst) != p.pointer {
		panic(fmt.Sprintf("body: got %T to fill, want a %s", dst, p.pointer))
	}
	to := reflect.ValueOf(dst)
	if to.IsNil() {
		panic("body: got a nil pointer to fill")
	}

	s := p.scanner(data)
	if !s.document(to.UnsafePointer()) {
		return Presence{}, s.release()
	}
	presence := s.presence
	s.release()

	return presence, nil
}

// Presence is the set of keys that the top-level object of a document had. It has no keys of read-only
// fields, because their values were ignored.
type Presence struct {
	object *object
	first  uint64
	rest   []uint64
}

// Has reports whether the key was sent, with null or with another value.
func (p Presence) Has(name string) bool {
	if p.object == nil {
		return false
	}
	i, ok := p.object.index[name]

	return ok && p.bit(i)
}

// Names are the keys that were sent, in the order in which the type declares them.
func (p Presence) Names() []string {
	if p.object == nil {
		return nil
	}

	var names []string
	for i := range p.object.props {
		if p.bit(i) {
			names = append(names, p.object.props[i].name)
		}
	}

	return names
}

func (p Presence) bit(i int) bool {
	word := p.first
	if i >= 64 {
		word = p.rest[i/64-1]
	}

	return word>>(i%64)&1 != 0
}
