// Package body reads JSON bodies into Go values. A [Plan] is compiled once for a type and
// its [Schema]; reading goes over the text once, checks everything (syntax, types, limits,
// required and unknown and repeated keys) and stores the values on the way. A [Codec] is
// asked for the values that are not of a plain kind. So every fault of a document is
// reported, each at its own place, and what encoding/json would make of a doubtful document
// never matters.
//
// What is refused on purpose although encoding/json takes it: a key given twice in one
// object, and a key that differs from a known one only in upper and lower case. Both let
// a value past a check that looked at its sibling.
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
	// Codec decodes what a plan cannot store by itself: values of interfaces, and of types
	// with an Unmarshal method. It is used concurrently.
	//
	// Defaults to [Std].
	Codec Codec

	// Loose reads values as encoding/json does: null leaves what it stands for as it is, save
	// the document itself; U+FFFD stands for what is no Unicode, and NUL is a character; an
	// integer has neither fraction nor exponent; and what a type decodes by itself may have
	// repeated keys.
	Loose bool

	// Absent does not ask for required keys.
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

// Compile makes the plan that reads documents of the schema into values of type t. A nil
// schema checks what follows from t alone.
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

// Decode reads data into dst, which points to a zero value of the plan's type. It returns
// which keys the document had, and what is wrong with it. With faults dst is to be thrown
// away, and Presence is empty.
//
// A document that is not JSON has one fault, of kind "json_invalid"; an empty one has one
// of kind "missing". Defaults are written where a key was absent, or null where null is
// not a value; values of read-only keys are checked and then ignored. Memory of data is not
// kept.
//
// Decode panics when dst is no pointer to the plan's type, or nil.
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

// Presence is the set of keys that the object at the top of a document had. The keys of
// read-only fields are not in it, since what they said was ignored.
type Presence struct {
	object *object
	first  uint64
	rest   []uint64
}

// Has reports whether the key was sent, be it as null.
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
