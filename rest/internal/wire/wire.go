// Package wire changes an answer to what the document promises, where encoding/json would write something
// else. Nil lists and maps become [] and {}, and a value whose tag format decides its text gets that text
// (see [textform]).
//
// The plan of a type is compiled once. A value without anything to change costs one look at its lists and
// maps. The package never writes to the program's memory: it copies the values that lead to a nil list. It
// writes a value with such a text field by field, and the API's codec writes everything else.
package wire

import (
	"encoding"
	"encoding/json"
	"reflect"
	"sync"

	"github.com/spoolhq/spool/rest/internal/body"
	"github.com/spoolhq/spool/rest/internal/opt"
	"github.com/spoolhq/spool/rest/internal/textform"
)

// Encode encodes a value with the codec of an API. The text is valid until the next call.
type Encode func(v any) ([]byte, error)

// Plan is the plan of a type that answers mostly have, as a whole or as the items of a page. The zero Plan is
// for any type.
type Plan struct{ node *node }

// PlanOf compiles the plan of a type.
func PlanOf(t reflect.Type) Plan { return Plan{nodeOf(t)} }

// Prepare is [Plan.Prepare] for a value of any type.
func Prepare(v any, encode Encode) (value any, text []byte, err error) {
	return Plan{}.Prepare(v, encode)
}

// Prepare returns the value for a codec to encode instead of v, or the whole text of v if a codec could not
// write it. One of both is nil, unless v itself is. The value may have another type than the plan's.
func (p Plan) Prepare(v any, encode Encode) (value any, text []byte, err error) {
	t := reflect.TypeOf(v)
	if t == nil {
		return v, nil, nil
	}
	n := p.nodeOf(t)
	if n.texts {
		w := writer{encode: encode}
		from := reflect.New(t).Elem()
		from.Set(reflect.ValueOf(v))
		err := w.value(n, from)

		return nil, w.to, err
	}
	if !n.lists {
		return v, nil, nil
	}
	f := filler{plan: p, encode: encode}
	filled, changed := f.value(n, reflect.ValueOf(v))
	if f.err != nil {
		return nil, nil, f.err
	}
	if f.endless || !changed {
		return v, nil, nil
	}

	return filled.Interface(), nil, nil
}

// nodeOf is nodeOf of any type, without a search for the plan's own.
func (p Plan) nodeOf(t reflect.Type) *node {
	if p.node != nil && p.node.typ == t {
		return p.node
	}

	return nodeOf(t)
}

// HasTexts reports whether values of a type have texts that encoding/json does not write, and so cannot read.
func HasTexts(t reflect.Type) bool { return nodeOf(t).texts }

type kind uint8

const (
	plain kind = iota
	text
	object
	list
	array
	dictionary
	pointer
	optional
	dynamic
)

// node has what is known about a type. Nodes of recursive types are circular.
type node struct {
	typ    reflect.Type
	kind   kind
	form   textform.Form
	elem   *node
	fields []field       // of a struct, with those that are embedded as one
	named  []named       // of a struct, as they are written
	flat   []int         // of a struct in which only lists and maps of its own can be nil, and of a pointer to one: those
	empty  reflect.Value // the list or map without items
	// lists is set if a list or map may be nil, here or below.
	lists bool
	// texts is set if a value has a text form, here or below.
	texts bool
	// direct is set if [Plan.Append] writes the type and all below it.
	direct bool
	// strict is set for a list or map of pointers to objects. The document promises objects there, so a nil pointer
	// is an error.
	strict bool
}

// field is a field of a struct in memory.
type field struct {
	index int
	node  *node
	// keepsNil says that a nil list stays nil: the field is left out then, or the document allows null.
	keepsNil bool
	// omitsZero is set if the field is left out while its value is zero.
	omitsZero bool
}

// fillable reports whether something nil in the field may have to be replaced.
func (f *field) fillable() bool {
	if f.keepsNil && (f.node.kind == list || f.node.kind == dictionary) {
		return f.node.strict || f.node.elem != nil && f.node.elem.lists
	}

	return f.node.lists
}

// named is a field of a struct in JSON.
type named struct {
	body.Field

	key      []byte // with quotes and colon
	node     *node
	nullable bool
}

var (
	jsonMarshaler = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
	numberType    = reflect.TypeFor[json.Number]()
)

var nodes sync.Map // reflect.Type -> *node

func nodeOf(t reflect.Type) *node {
	if n, ok := nodes.Load(t); ok {
		return n.(*node) //nolint:errcheck // nothing else is stored
	}
	c := compiler{done: map[key]*node{}}
	n := c.node(t, "")
	c.spread()
	kept, _ := nodes.LoadOrStore(t, n)

	return kept.(*node) //nolint:errcheck // nothing else is stored
}

type key struct {
	typ    reflect.Type
	format string
}

// compiler remembers the nodes that it has begun, as types may contain themselves.
type compiler struct {
	done map[key]*node
	all  []*node
}

// node compiles a type, for the tag format of its field.
func (c *compiler) node(t reflect.Type, format string) *node {
	at := key{typ: t, format: format}
	if n, ok := c.done[at]; ok {
		return n
	}
	n := &node{typ: t, direct: true}
	c.done[at] = n
	c.all = append(c.all, n)

	if n.form = textform.Of(t, format); n.form != textform.None {
		n.kind, n.texts = text, true
		return n
	}
	if elem, ok := opt.ElemOf(t); ok {
		n.kind, n.elem = optional, c.node(elem, format)
		return n
	}
	if t.Kind() == reflect.Pointer {
		n.kind, n.elem = pointer, c.node(t.Elem(), format)
		return n
	}
	if marshals(t) {
		return n
	}

	switch t.Kind() {
	case reflect.Slice:
		n.kind, n.lists, n.empty = list, true, reflect.MakeSlice(t, 0, 0)
		if t.Elem().Kind() != reflect.Uint8 { // a []byte is a text and not a list
			n.elem = c.node(t.Elem(), format)
		}
	case reflect.Array:
		n.kind, n.elem = array, c.node(t.Elem(), format)
	case reflect.Map:
		n.kind, n.lists, n.elem, n.empty = dictionary, true, c.node(t.Elem(), ""), reflect.MakeMap(t)
	case reflect.Interface:
		// A written text does not have the methods of an interface, so this package always writes such a
		// value.
		n.kind, n.lists, n.texts = dynamic, true, t.NumMethod() > 0
	case reflect.Struct:
		n.kind = object
		c.object(n)
	}

	return n
}

// marshals reports whether a type writes itself.
func marshals(t reflect.Type) bool {
	if t.Kind() == reflect.Interface {
		return false
	}
	p := reflect.PointerTo(t)

	return p.Implements(jsonMarshaler) || p.Implements(textMarshaler) || t == numberType
}

// holdsFields reports whether a field is an embedded struct. Its fields are written even if its type is not
// exported.
func holdsFields(f reflect.StructField) bool {
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}

	return f.Anonymous && t.Kind() == reflect.Struct
}

func (c *compiler) object(n *node) {
	for i := range n.typ.NumField() {
		f := n.typ.Field(i)
		if f.Tag.Get("json") == "-" || !f.IsExported() && !holdsFields(f) {
			continue
		}
		options := body.OptionsOf(f)
		n.fields = append(n.fields, field{
			index: i, node: c.node(f.Type, f.Tag.Get("format")),
			keepsNil:  options.OmitEmpty || options.OmitZero || f.Tag.Get("nullable") == "true",
			omitsZero: options.OmitZero,
		})
	}
	for _, f := range body.Fields(n.typ) {
		name, err := json.Marshal(f.Name)
		if err != nil {
			continue
		}
		n.named = append(n.named, named{
			Field: f, key: append(name, ':'),
			node: c.node(f.Field.Type, f.Field.Tag.Get("format")), nullable: f.Field.Tag.Get("nullable") == "true",
		})
	}
}

// spread passes to each node what is known about the nodes below it.
func (c *compiler) spread() {
	for _, n := range c.all {
		n.strict = (n.kind == list || n.kind == dictionary) && n.elem != nil && n.elem.kind == pointer &&
			n.elem.elem.kind == object
	}
	for again := true; again; {
		again = false
		for _, n := range c.all {
			lists, texts := n.below()
			direct := n.direct && n.knows()
			if lists && !n.lists || texts && !n.texts || direct != n.direct {
				n.lists, n.texts, n.direct, again = n.lists || lists, n.texts || texts, direct, true
			}
		}
	}
	for _, n := range c.all {
		kept := n.fields[:0]
		for _, f := range n.fields {
			if f.fillable() {
				kept = append(kept, f)
			}
		}
		n.fields = kept
		n.flat = flatFields(kept)
	}
	for _, n := range c.all {
		if n.kind == pointer && n.elem.kind == object {
			n.flat = n.elem.flat
		}
	}
}

// flatFields returns the fields that are lists or maps without others in them, and nil if there are fields of
// another kind.
func flatFields(fields []field) []int {
	var flat []int
	for _, f := range fields {
		if f.node.kind != list && f.node.kind != dictionary || f.node.strict || f.node.elem != nil && f.node.elem.lists {
			return nil
		}
		flat = append(flat, f.index)
	}

	return flat
}

func (n *node) below() (lists, texts bool) {
	switch {
	case n.elem != nil && n.kind == optional:
		// An Opt whose list is null stays null, because the program has said so.
		return n.elem.lists && n.elem.kind != list && n.elem.kind != dictionary || n.elem.strict ||
			n.elem.elem != nil && n.elem.elem.lists, n.elem.texts
	case n.elem != nil:
		return n.elem.lists, n.elem.texts
	}
	for i := range n.fields {
		lists = lists || n.fields[i].fillable()
	}
	for i := range n.named {
		texts = texts || n.named[i].node.texts
	}

	return lists, texts
}
